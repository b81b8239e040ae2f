// Which host and path of a listener a request falls to: Kubernetes' rules of Ingress, settled here for rule and evaluator alike.
import { parseAddress, parseAddressRange, contains } from './addresses.ts';
import { clientAddress, compared, type TestRequest } from './condition.ts';
import type { HostRoute, Listener } from './load-balancer.ts';
import { fail, ok, type Result } from './problem.ts';

/** What a listener with `hosts` does with a request; the HTTP status where it answers itself. */
export type HostAnswer =
  | { pool: string; host?: string | undefined; path: string; why: string }
  | { status: 302; location: string; why: string }
  | { status: 400 | 403 | 404 | 503; why: string };

/** More than that many segments of a request's path are not looked at: no route is deeper. */
const deepest = 64;
const longestHost = 253;
const longestPath = 1024;

/** The key of a route: `e:` exact, `p:` prefix, then host and path. Two routes with one key ask for the same requests. */
export const hostRouteKey = ({ host, match, path }: Pick<HostRoute, 'host' | 'match' | 'path'>): string =>
  `${match === 'exact' ? 'e' : 'p'}:${host}${path}`;

/** Characters of a URL's path that mean nothing to anyone who quotes it; `'`, `;`, `$` have to be percent-encoded. */
const pathText = /^(?:\/[A-Za-z0-9\-._~!&()*+,=:@%/]*)?$/;
const hostText = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

export const isHostText = (host: string): boolean => host.length <= longestHost && hostText.test(host);
export const isPathText = (path: string): boolean => path.length <= longestPath && pathText.test(path);

/** Refuses (`invalid`, with the field's path) what could not be told to the device safely, or twice the same. */
export function checkHostRoutes(routes: readonly HostRoute[], path: string): Result<void> {
  const seen = new Set<string>();
  for (const [i, route] of routes.entries()) {
    const wrong =
      fault(route) ?? (seen.has(hostRouteKey(route)) ? 'another route has the same host and path' : undefined);
    if (wrong !== undefined) return fail('invalid', wrong, `${path}[${i}]`);
    for (const client of route.clients ?? []) {
      const range = parseAddressRange(client, `${path}[${i}].clients`);
      if (!range.ok) return range;
    }
    seen.add(hostRouteKey(route));
  }
  return ok(undefined);
}

function fault({ host, match, path, to }: HostRoute): string | undefined {
  if (host !== '' && !isHostText(host)) return `"${host}" is no host`;
  if (!isPathText(path) || (match === 'exact' && path === '')) return `"${path}" is no path`;
  if (match === 'prefix' && path.endsWith('/')) return `prefix "${path}" is written without a slash at its end`;
  if (path.split('/').length > deepest) return `path "${path}" has more than ${deepest - 1} segments`;
  if ('redirect' in to && (to.redirect === '' || !isPathText(to.redirect))) return `"${to.redirect}" is no path`;
  if (!('pool' in to) || !to.rewrite) return undefined;
  const { host: newHost, path: newPath } = to.rewrite;
  if (newHost !== undefined && (!isHostText(newHost) || newHost.startsWith('*'))) return `"${newHost}" is no host`;
  return newPath !== undefined && !isPathText(newPath) ? `"${newPath}" is no path` : undefined;
}

/**
 * The first of these that is there:
 *
 *   host of the request    | then path
 *   -----------------------+------------------------------------------------------------
 *   itself                 | exact; then the longest prefix of whole segments
 *   `*` for its first label| the same
 *   any                    | the same
 *
 * none: 404. A client that the route does not let in: 403. A pool without a live member: 503.
 */
export function answerByHost(
  listener: Pick<Listener, 'hosts'>,
  request: TestRequest,
  alive: (pool: string) => boolean,
): HostAnswer {
  const { host, path, query, uri } = placeOf(request);
  const route = routeOf(listener.hosts ?? [], host, path);
  if (!route) return { status: 404, why: `no route takes ${host}${path}` };
  const why = `route ${hostRouteKey(route)} takes ${host}${path}`;
  if (route.clients && !isIn(route.clients, request)) return { status: 403, why: `${why}, and not from this client` };
  const { to } = route;
  if ('redirect' in to) return { status: 302, location: to.redirect, why };
  if ('https' in to) {
    if (host === '') return { status: 400, why: `${why}, and without a host there is nowhere to send it` };
    const shown = host.includes(':') ? `[${host}]` : host;
    return { status: 302, location: `https://${shown}${to.https === 443 ? '' : `:${to.https}`}${uri}`, why };
  }
  if (!alive(to.pool)) return { status: 503, why: `${why}; ${to.pool} has no live member` };
  const { rewrite } = to;
  const newPath = rewrite?.path === undefined ? path : rewrite.path.replace(/\/+$/, '') + path.slice(route.path.length);
  return { pool: to.pool, host: rewrite?.host, path: (newPath === '' ? '/' : newPath) + query, why };
}

/** The route that takes the request; undefined when none does. */
export function hostRouteOf(listener: Pick<Listener, 'hosts'>, request: TestRequest): HostRoute | undefined {
  const { host, path } = placeOf(request);
  return routeOf(listener.hosts ?? [], host, path);
}

function placeOf(request: TestRequest): { host: string; path: string; query: string; uri: string } {
  const uri = request.uri ?? '/';
  const path = uri.split('?', 1)[0] ?? '';
  const given = compared({ subject: 'host', key: '', checks: [] }, request) ?? '';
  // With a slash in it, a host would say a path of its own.
  return { host: given.includes('/') ? '' : given, path, query: uri.slice(path.length), uri };
}

function routeOf(routes: readonly HostRoute[], host: string, path: string): HostRoute | undefined {
  const byKey = new Map(routes.map((route) => [hostRouteKey(route), route]));
  const dot = host.indexOf('.');
  for (const name of [host, `*${host.slice(Math.max(dot, 0))}`, '']) {
    const exact = byKey.get(`e:${name}${path}`);
    if (exact) return exact;
    for (let at = path.split('/').slice(0, deepest).join('/'); ; at = at.slice(0, at.lastIndexOf('/'))) {
      const found = byKey.get(`p:${name}${at}`);
      if (found) return found;
      if (!at.includes('/')) break;
    }
  }
  return undefined;
}

function isIn(clients: readonly string[], request: TestRequest): boolean {
  const client = parseAddress(clientAddress(request));
  return (
    client.ok &&
    clients.some((text) => {
      const range = parseAddressRange(text);
      return range.ok && contains(range.value, client.value);
    })
  );
}
