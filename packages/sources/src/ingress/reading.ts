// One Ingress → the routes and pools it asks for, by listener. Pure, and all or nothing: with one thing wrong, none of it counts.
import {
  fail,
  hostRouteKey,
  isHostText,
  isPathText,
  ok,
  type HostRoute,
  type HostTarget,
  type ListenerProfiles,
  type Pool,
  type Result,
} from '@fairlead/core';
import type { Ingress, IngressBackend } from '@fairlead/kube';
import { placeText, readOptions, type IngressOptions } from './options.ts';

export interface IngressReading {
  /** Absent where TLS is all that is wanted. */
  http?: { port: number; routes: HostRoute[] } | undefined;
  https?: { port: number; routes: HostRoute[]; secrets: string[] } | undefined;
  profiles: ListenerProfiles;
  pools: IngressPool[];
  /** By the key of a route, the field of the Ingress that it comes from. */
  fields: ReadonlyMap<string, string>;
}

export interface IngressPool {
  pool: Pool;
  /** The port of the Service by name; the number in `pool` is then of no meaning. */
  portName?: string | undefined;
}

/** A place in the Ingress that requests come to, before it is known what becomes of them. */
interface Entry {
  route: Omit<HostRoute, 'to' | 'clients'>;
  backend: IngressBackend;
  /** The field, for messages. */
  path: string;
}

/**
 *   tls or clientssl | ssl-redirect | allow-http | http listener    | https listener
 *   -----------------+--------------+------------+------------------+---------------
 *   no               | –            | –          | routes           | –
 *   yes              | true         | –          | to https         | routes
 *   yes              | false        | true       | routes           | routes
 *   yes              | false        | false      | –                | routes
 */
export function readIngress(ingress: Ingress): Result<IngressReading> {
  const options = readOptions(ingress.metadata.annotations ?? {});
  if (!options.ok) return options;
  const entries = entriesOf(ingress);
  if (!entries.ok) return entries;
  const pools = new Map<string, IngressPool>();
  const routes: HostRoute[] = [];
  for (const entry of entries.value) {
    const pool = poolOf(ingress, entry, options.value);
    if (!pool.ok) return pool;
    const same = pools.get(pool.value.pool.name);
    if (same && JSON.stringify(same) !== JSON.stringify(pool.value))
      return fail(
        'invalid',
        `the health annotation gives ${pool.value.pool.name} two checks; make them equal`,
        entry.path,
      );
    pools.set(pool.value.pool.name, pool.value);
    routes.push(routed(entry.route, options.value, pool.value.pool.name));
  }
  const wrong = unused(options.value, entries.value);
  if (!wrong.ok) return wrong;
  const roots = rootRoutes(options.value, routes);
  routes.push(...roots);
  const secrets = secretsOf(ingress);
  if (!secrets.ok) return secrets;
  const { clientTls, httpPort, httpsPort } = options.value;
  if (httpPort === httpsPort && (clientTls || secrets.value.length > 0))
    return fail(
      'invalid',
      `http and https both ask for port ${httpPort}`,
      'metadata.annotations[virtual-server.f5.com/https-port]',
    );
  return ok({
    ...listenersOf(options.value, routes, secrets.value),
    profiles: profilesOf(options.value),
    pools: [...pools.values()],
    fields: new Map([
      ...roots.map(
        (route) => [hostRouteKey(route), 'metadata.annotations[virtual-server.f5.com/rewrite-app-root]'] as const,
      ),
      ...entries.value.map(({ route, path }) => [hostRouteKey(route), path] as const),
    ]),
  });
}

function listenersOf(
  { clientTls, sslRedirect, allowHttp, httpPort, httpsPort }: IngressOptions,
  routes: HostRoute[],
  secrets: string[],
): Pick<IngressReading, 'http' | 'https'> {
  const plain = { port: httpPort, routes };
  if (secrets.length === 0 && !clientTls) return { http: plain };
  const https = { port: httpsPort, routes, secrets: clientTls ? [] : secrets };
  if (sslRedirect) {
    // To https goes whoever comes, and there it is seen what becomes of them; one redirect for a host's root is enough.
    const redirects = routes.map(({ host, match, path }) => ({ host, match, path, to: { https: httpsPort } }));
    return { http: { port: httpPort, routes: redirects }, https };
  }
  return allowHttp ? { http: plain, https } : { https };
}

const profilesOf = ({ clientTls, serverTls, firewall, translateAddress }: IngressOptions): ListenerProfiles => ({
  ...(clientTls && { clientTls }),
  ...(serverTls !== undefined && { serverTls }),
  ...(firewall !== undefined && { firewall }),
  ...(translateAddress !== undefined && { translateAddress }),
});

function entriesOf({ spec = {} }: Ingress): Result<Entry[]> {
  const entries: Entry[] = [];
  const keys = new Map<string, string>();
  const add = (entry: Entry): Result<void> => {
    const other = keys.get(hostRouteKey(entry.route));
    if (other !== undefined) return fail('invalid', `asks for the same requests as ${other}`, entry.path);
    keys.set(hostRouteKey(entry.route), entry.path);
    entries.push(entry);
    return ok(undefined);
  };
  for (const [i, { host = '', http }] of (spec.rules ?? []).entries()) {
    const at = `spec.rules[${i}]`;
    if (host !== '' && !isHostText(host)) return fail('invalid', `"${host}" is no host`, `${at}.host`);
    for (const [j, { path = '', pathType, backend }] of (http?.paths ?? []).entries()) {
      const field = `${at}.http.paths[${j}]`;
      const match = pathType === 'Exact' ? 'exact' : 'prefix';
      if (!isPathText(path) || (match === 'exact' && path === ''))
        return fail(
          'invalid',
          `${JSON.stringify(path)} is no path of a URL: letters, digits and -._~!&()*+,=:@%/, all else percent-encoded, at most 1,024`,
          `${field}.path`,
        );
      const route = { host, match, path: match === 'exact' ? path : path.replace(/\/+$/, '') } as const;
      const added = add({ route, backend, path: field });
      if (!added.ok) return added;
    }
  }
  const rest = { host: '', match: 'prefix', path: '' } as const;
  // A rule for every host and path is the nearer one.
  if (spec.defaultBackend && !keys.has(hostRouteKey(rest)))
    entries.push({ route: rest, backend: spec.defaultBackend, path: 'spec.defaultBackend' });
  if (entries.length === 0) return fail('invalid', 'has neither a rule with paths nor a default backend', 'spec.rules');
  return ok(entries);
}

const placeOf = ({ host, path }: Entry['route']): string => placeText(host + path);

function poolOf(ingress: Ingress, { route, backend, path }: Entry, options: IngressOptions): Result<IngressPool> {
  const { service } = backend;
  if (!service) return fail('invalid', 'names no Service; other backends are not served', `${path}.backend`);
  const { number, name: portName } = service.port ?? {};
  const port = portName ?? number;
  if (port === undefined)
    return fail('invalid', `Service ${service.name} is named without a port`, `${path}.backend.service.port`);
  const check = options.health.find(({ place }) => place === placeOf(route));
  const pool: Pool = {
    name: `${/^[0-9]/.test(service.name) ? 'n' : ''}${service.name}_${port}_pool`,
    service: { namespace: ingress.metadata.namespace ?? '', name: service.name, port: number ?? 80 },
    monitor: { type: options.serverTls === undefined ? 'http' : 'https', ...check?.monitor },
    balance: options.balance,
  };
  return ok({ pool, ...(portName !== undefined && { portName }) });
}

function routed(route: Entry['route'], { clients, rewrites }: IngressOptions, pool: string): HostRoute {
  const rewrite = rewrites.get(placeOf(route));
  const to: HostTarget = rewrite ? { pool, rewrite } : { pool };
  return { ...route, ...(clients && { clients }), to };
}

/** Requests for `/` of a host, sent to its application's path. */
function rootRoutes({ appRoots, clients }: IngressOptions, routes: readonly HostRoute[]): HostRoute[] {
  const taken = new Set(routes.map(hostRouteKey));
  return [...appRoots]
    .map(([host, redirect]): HostRoute => ({
      host,
      match: 'exact',
      path: '/',
      ...(clients && { clients }),
      to: { redirect },
    }))
    .filter((route) => !taken.has(hostRouteKey(route)));
}

/** What an annotation says of a host or path that no rule has would be done nowhere. */
function unused({ health, rewrites, appRoots }: IngressOptions, entries: readonly Entry[]): Result<void> {
  const places = new Set(entries.map(({ route }) => placeOf(route)));
  const hosts = new Set(entries.map(({ route }) => route.host));
  const refuse = (word: string, what: string) =>
    fail('invalid', `no rule has "${what}"`, `metadata.annotations[virtual-server.f5.com/${word}]`);
  for (const { place } of health) if (!places.has(place)) return refuse('health', place);
  for (const place of rewrites.keys()) if (!places.has(place)) return refuse('rewrite-target-url', place);
  for (const host of appRoots.keys()) if (!hosts.has(host)) return refuse('rewrite-app-root', host);
  return ok(undefined);
}

function secretsOf({ spec = {} }: Ingress): Result<string[]> {
  const names = (spec.tls ?? []).map(({ secretName }) => secretName ?? '');
  const at = names.indexOf('');
  // Without a Secret, another Ingress is meant to bring the certificate (Kubernetes, IngressTLS): there is none to find here.
  if (at >= 0) return fail('invalid', 'names no Secret with the certificate', `spec.tls[${at}].secretName`);
  return ok([...new Set(names)]);
}
