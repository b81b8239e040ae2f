// Reads the load balancer of a golden case: short to write, and strict, for a misspelt field would test nothing.
import type {
  Condition,
  HostRoute,
  Listener,
  LoadBalancer,
  Operator,
  Pool,
  Route,
  Subject,
  WeightedPool,
} from '@fairlead/core';
import { isRecord } from './application.ts';

type Fields = Record<string, unknown>;

/**
 * A document of `in.yaml` as a load balancer. What may be left out: the origin, the scope (it is in the key), `routes`,
 * `persistence` (none), a pool's fields but its name `<service>_<port>_pool` (a monitor of the first listener's
 * protocol, round-robin), and all pools that have nothing of their own. Weights are a map; a condition is
 * `on: [subject, key]` with `tests: [operator value, …]`.
 */
export function readCase(document: unknown): LoadBalancer {
  const given = fields(document, ['key', 'listeners', 'pools', 'native']);
  const key = String(given['key']);
  const listeners = list(given['listeners']).map(readListener);
  const used = listeners.flatMap(({ pools, routes, hosts }) => [
    ...pools,
    ...routes.flatMap((route) => route.pools),
    ...(hosts ?? []).flatMap(({ to }) => ('pool' in to ? [{ pool: to.pool }] : [])),
  ]);
  const named = list(given['pools']).map((pool) => readPool(pool, listeners[0]));
  const others = new Set(used.map(({ pool }) => pool).filter((name) => !named.some((pool) => pool.name === name)));
  return {
    key,
    scope: key.split('/')[0] ?? '',
    origin: { cluster: 'c', kind: 'Lbticket', namespace: 'n', name: 't', uid: 'u', created: 0, revision: '1' },
    listeners,
    pools: [...named, ...[...others].map((name) => readPool({ name }, listeners[0]))],
    ...(given['native'] !== undefined && { native: given['native'] as Fields }),
  };
}

function readListener(document: unknown): Listener {
  const words = [
    'name',
    'address',
    'port',
    'protocol',
    'persistence',
    'routes',
    'pools',
    'tls',
    'pickBy',
    'stickiness',
    'deviceRules',
    'hosts',
    'profiles',
  ];
  const given = fields(document, words);
  return {
    persistence: 'none',
    ...(given as unknown as Pick<
      Listener,
      'name' | 'address' | 'port' | 'protocol' | 'tls' | 'pickBy' | 'stickiness' | 'profiles' | 'deviceRules'
    >),
    ...(given['hosts'] !== undefined && { hosts: list(given['hosts']).map(readHostRoute) }),
    routes: list(given['routes']).map(readRoute),
    pools: readWeights(given['pools']),
  };
}

function readRoute(document: unknown): Route {
  const given = fields(document, ['name', 'match', 'conditions', 'pools']);
  return {
    name: String(given['name']),
    match: given['match'] === 'all' ? 'all' : 'any',
    conditions: list(given['conditions']).map(readCondition),
    pools: readWeights(given['pools']),
  };
}

/** `at: p:a.domain.com/path`, the key of the route, beside its other fields. */
function readHostRoute(document: unknown): HostRoute {
  const { at, ...given } = fields(document, ['at', 'to', 'clients']);
  const [, kind, host = '', path = ''] = /^([ep]):([^/]*)(.*)$/.exec(String(at)) ?? [];
  return { host, match: kind === 'e' ? 'exact' : 'prefix', path, ...(given as unknown as Pick<HostRoute, 'to'>) };
}

function readCondition(document: unknown): Condition {
  const given = fields(document, ['on', 'tests']);
  const [subject, key] = list(given['on']).map(String);
  const tests = list(given['tests']).map((text) => {
    const [, operator, value] = /^(\w+) ([\s\S]*)$/.exec(String(text)) ?? [];
    return { operator: operator as Operator, value: value ?? '' };
  });
  return { subject: subject as Subject, ...(key !== undefined && { key }), tests };
}

function readPool(document: unknown, listener: Listener | undefined): Pool {
  const given = fields(document, ['name', 'service', 'monitor', 'balance']);
  const [, name = '', port = ''] = /^(.*)_(\d+)_pool$/.exec(String(given['name'])) ?? [];
  const monitor = { type: listener?.protocol === 'https' ? 'http' : (listener?.protocol ?? 'tcp') };
  const service = { namespace: 'n', name, port: Number(port) };
  return { service, monitor, balance: 'round-robin', ...given } as unknown as Pool;
}

const readWeights = (value: unknown): WeightedPool[] =>
  Object.entries(isRecord(value) ? value : {}).map(([pool, weight]) => ({ pool, weight: Number(weight) }));

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function fields(document: unknown, words: string[]): Fields {
  if (!isRecord(document)) throw new Error(`a case needs an object here, not ${JSON.stringify(document)}`);
  const strange = Object.keys(document).filter((word) => !words.includes(word));
  if (strange.length > 0) throw new Error(`a case has no field ${strange.join(', ')} here`);
  return document;
}
