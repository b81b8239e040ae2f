// Whether a Loadbalancer may be written or removed (spec/tickets.md §7).
import { type Problem, type Result, covers, isEqual, overlaps, parseAddressRange, parseCidr } from '@fairlead/core';
import { type Loadbalancer, loadbalancer as definition } from '../loadbalancer.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, liveTicketsOf, nameOf } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLoadbalancer(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Problem[] {
  if (isUntouched(object, old)) return [];
  const wrong = [...checkStructure(definition, object, old)];
  if (wrong.length > 0) return wrong;
  const addresses = checkAddresses(object);
  if (addresses.length > 0) return addresses;
  const others = [...world.loadbalancers()].filter((other) => !isSame(other, object));
  return [
    ...checkTwins(object, old, others),
    ...checkOverlaps(object, old, others),
    ...checkFrozen(object, old, world),
  ];
}

/** What will go wrong only when tickets come, for the user to know. */
export function loadbalancerWarnings(object: Loadbalancer, old: Loadbalancer | undefined, world: World): string[] {
  if (old && isEqual(agentOf(old), agentOf(object))) return [];
  return [...world.loadbalancers()]
    .filter((other) => !isSame(other, object) && isEqual(agentOf(other), agentOf(object)))
    .map(
      (other) =>
        `spec.cis.tenant: Loadbalancer ${nameOf(other)} has the same device, cluster and tenant, so in one namespace tickets of only one of them can be programmed: give one a tenant of its own, such as {cluster}_${object.metadata.name}`,
    );
}

/** What tells the applications of two load balancers apart on a device. */
const agentOf = ({ spec }: Loadbalancer) => [deviceOf(spec.ve.addr), spec.cluster, spec.cis.tenant];

/** Problems of removing it. */
export function checkLoadbalancerRemoval(object: Loadbalancer, world: World): Problem[] {
  const users = liveTicketsOf(world, object.metadata.name);
  if (users.length === 0) return [];
  return [
    { code: 'denied', message: `tickets use it: ${list(users)}; delete them first (state disabled, then deleted)` },
  ];
}

const layers = ['ltm', 've'] as const;

function checkAddresses({ spec }: Loadbalancer): Problem[] {
  const problems = layers.flatMap((layer) => {
    const cidr = parseCidr(spec[layer].cidr, `spec.${layer}.cidr`);
    if (!cidr.ok) return [cidr.problem];
    return (spec[layer].exclude ?? []).flatMap((text, i) => {
      const path = `spec.${layer}.exclude[${i}]`;
      const range = parseAddressRange(text, path);
      if (!range.ok) return [range.problem];
      if (overlaps(cidr.value, range.value)) return [];
      return [problem(path, `"${text}" has no address of ${spec[layer].cidr}: correct it, or take it out`)];
    });
  });
  for (const key of Object.keys(spec.nsselector)) {
    if (!labelKey.test(key))
      problems.push(
        problem(
          `spec.nsselector[${key}]`,
          'is not the key of a Kubernetes label: letters, digits, -, _ and . after an optional prefix/',
        ),
      );
  }
  return problems;
}

const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function checkTwins(object: Loadbalancer, old: Loadbalancer | undefined, others: Loadbalancer[]): Problem[] {
  const identity = ({ spec }: Loadbalancer) => [
    deviceOf(spec.ltm.url),
    deviceOf(spec.ve.addr),
    spec.cluster,
    spec.nsselector,
  ];
  if (old && isEqual(identity(old), identity(object))) return [];
  const twin = others.find((other) => isEqual(identity(other), identity(object)));
  if (!twin) return [];
  const message = `Loadbalancer ${nameOf(twin)} has the same ltm.url, ve.addr, cluster and nsselector: use that one, or choose another nsselector`;
  return [{ code: 'taken', message, path: 'spec' }];
}

/** Two load balancers on one device must not give out the same addresses. */
function checkOverlaps(object: Loadbalancer, old: Loadbalancer | undefined, others: Loadbalancer[]): Problem[] {
  return layers.flatMap((layer) => {
    const isKept =
      old && device(old, layer) === device(object, layer) && old.spec[layer].cidr === object.spec[layer].cidr;
    if (isKept) return [];
    return others
      .filter((other) => device(other, layer) === device(object, layer) && isOverlapping(other, object, layer))
      .map((other): Problem => ({
        code: 'taken',
        message: `${object.spec[layer].cidr} overlaps ${other.spec[layer].cidr} of Loadbalancer ${nameOf(other)} on the same device: choose a network of its own`,
        path: `spec.${layer}.cidr`,
      }));
  });
}

type Layer = (typeof layers)[number];

const device = ({ spec }: Loadbalancer, layer: Layer): string =>
  deviceOf(layer === 'ltm' ? spec.ltm.url : spec.ve.addr);

/** Addresses that differ in case or a final slash alone are one device. */
const deviceOf = (address: string): string => address.toLowerCase().replace(/\/+$/, '');

function isOverlapping(a: Loadbalancer, b: Loadbalancer, layer: Layer): boolean {
  return both(parseCidr(a.spec[layer].cidr), parseCidr(b.spec[layer].cidr), overlaps);
}

/** One stored before these checks were here may not parse: it then stands in nobody's way. */
const both = <T>(a: Result<T>, b: Result<T>, test: (a: T, b: T) => boolean): boolean =>
  a.ok && b.ok && test(a.value, b.value);

/*
 *   field              | may change while a live ticket uses it
 *   -------------------+---------------------------------------
 *   cluster, nsselector| no
 *   ltm.cidr, ve.cidr  | to a network that holds the old one
 *   all others         | yes
 */
function checkFrozen(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Problem[] {
  if (!old) return [];
  const frozen: Problem[] = [];
  const users = liveTicketsOf(world, object.metadata.name);
  if (users.length === 0) return [];
  const why = `while tickets use it (${list(users)})`;
  for (const field of ['cluster', 'nsselector'] as const) {
    if (isEqual(object.spec[field], old.spec[field])) continue;
    frozen.push({ code: 'denied', message: `cannot change ${why}: make another Loadbalancer`, path: `spec.${field}` });
  }
  for (const layer of layers) {
    const [now, before] = [object.spec[layer].cidr, old.spec[layer].cidr];
    if (now === before || both(parseCidr(now), parseCidr(before), covers)) continue;
    const message = `can only grow ${why}: ${now} does not hold all of ${before}`;
    frozen.push({ code: 'denied', message, path: `spec.${layer}.cidr` });
  }
  return frozen;
}

const problem = (path: string, message: string): Problem => ({ code: 'invalid', message, path });

/** Names for a message: enough to go on, never thousands. */
function list(tickets: { metadata: { name: string; namespace?: string } }[]): string {
  const names = tickets.map(nameOf).sort();
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
}
