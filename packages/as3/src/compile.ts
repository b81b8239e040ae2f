// From a load balancer to its AS3 application. Pure, and equal in gives equal out, byte for byte.
import { fail, ok, type Listener, type LoadBalancer, type Result } from '@fairlead/core';
import { byText, canonicalAddress, isApplication, type Application, type Classed } from './application.ts';
import { listenerObjects } from './listener.ts';
import { pinned } from './certificates.ts';
import { checkMonitor } from './monitor.ts';
import { checkName, checkObject } from './names.ts';
import { nativeApplication } from './native.ts';
import { poolObjects } from './pool.ts';

/**
 * `lb` in AS3's words, with pools and certificates as templates: fill() puts members and texts in. Problems are `invalid`, with the field's
 * path in the load balancer. What is native already is taken as it is once its frame is sound.
 */
export function compile(lb: LoadBalancer): Result<Application> {
  const application = template(lb);
  return application.ok && lb.secrets ? ok(pinned(application.value, lb.secrets)) : application;
}

function template(lb: LoadBalancer): Result<Application> {
  const place = placeOf(lb);
  if (!place.ok) return place;
  if (lb.native) return nativeApplication(lb.native, place.value);
  const wrong = checkPools(lb) ?? checkDestinations(lb.listeners);
  if (wrong) return wrong;
  const objects = new Map<string, Classed>();
  for (const { path, make } of partsOf(lb, place.value)) {
    const made = make(path);
    const added = made.ok ? add(objects, made.value, { place: place.value, path }) : made;
    if (!added.ok) return added;
  }
  const sorted = Object.fromEntries([...objects].toSorted(([a], [b]) => byText(a, b)));
  const application = { class: 'Application', template: 'generic', ...sorted };
  if (!isApplication(application)) throw new Error('bug: an object took the place of the class');
  return ok(application);
}

/** `/tenant/application`, from the key. */
function placeOf({ key, scope }: LoadBalancer): Result<string> {
  const [tenant = '', application = '', ...rest] = key.split('/');
  if (rest.length > 0 || tenant !== scope)
    return fail('invalid', `key "${key}" has to be tenant/application, with scope "${scope}" as the tenant`, 'key');
  for (const name of [tenant, application]) {
    const checked = checkName(name, 'key');
    if (!checked.ok) return checked;
  }
  return ok(`/${key}`);
}

interface Part {
  /** The field of the load balancer it is made from. */
  path: string;
  make: (path: string) => Result<Record<string, Classed>>;
}

const partsOf = ({ listeners, pools }: LoadBalancer, place: string): Part[] => [
  ...listeners.map((listener, i) => ({
    path: `listeners[${i}]`,
    make: (path: string) => listenerObjects(listener, place, path),
  })),
  ...pools.map((pool, i) => ({ path: `pools[${i}]`, make: (path: string) => poolObjects(pool, path) })),
];

function add(
  objects: Map<string, Classed>,
  made: Record<string, Classed>,
  { place, path }: { place: string; path: string },
): Result<void> {
  for (const [name, object] of Object.entries(made)) {
    const checked = checkObject(place, name, `${path}.name`);
    if (!checked.ok) return checked;
    if (objects.has(name)) return fail('invalid', `two objects of ${place} would be named ${name}`, `${path}.name`);
    objects.set(name, object);
  }
  return ok(undefined);
}

/** Each pool a listener or route sends to must be there, and have a monitor of the listener's transport. */
function checkPools({ listeners, pools }: LoadBalancer): ReturnType<typeof fail> | undefined {
  const known = new Map(pools.map((pool) => [pool.name, pool]));
  for (const [i, listener] of listeners.entries()) {
    const uses = [
      { at: '', pools: listener.pools },
      ...listener.routes.map((route, n) => ({ at: `.routes[${n}]`, pools: route.pools })),
      ...(listener.hosts ?? []).map(({ to }, n) => ({
        at: `.hosts[${n}]`,
        pools: 'pool' in to ? [{ pool: to.pool, weight: 1 }] : [],
      })),
    ];
    for (const { at, pool: name, n } of uses.flatMap((use) =>
      use.pools.map(({ pool }, n) => ({ at: use.at, pool, n })),
    )) {
      const path = `listeners[${i}]${at}.pools[${n}]`;
      const pool = known.get(name);
      if (!pool) return fail('invalid', `there is no pool ${name}`, `${path}.pool`);
      const fits = checkMonitor(pool, listener, `pools[${pools.indexOf(pool)}].monitor.type`);
      if (!fits.ok) return fits;
    }
  }
  return undefined;
}

/** AS3 takes two services on one destination; the device then refuses the whole tenant. */
function checkDestinations(listeners: Listener[]): ReturnType<typeof fail> | undefined {
  const seen = new Map<string, string>();
  for (const [i, { name, address: text, port, protocol }] of listeners.entries()) {
    const address = canonicalAddress(text);
    const destination = `${address} port ${port} ${protocol === 'udp' ? 'udp' : 'tcp'}`;
    const other = seen.get(destination);
    if (other)
      return fail('taken', `listeners ${other} and ${name} both ask for ${destination}`, `listeners[${i}].port`);
    seen.set(destination, name);
  }
  return undefined;
}
