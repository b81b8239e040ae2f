// One AS3 ConfigMap → the load balancers it asks for, where their pools get members from, and what is wrong. Pure.
import {
  crc32,
  fail,
  isEqual,
  ok,
  type Key,
  type LoadBalancer,
  type Origin,
  type PoolRef,
  type Problem,
  type Result,
  type Scope,
} from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import type { Refusal } from './source.ts';

/** What `decode` of @fairlead/as3 makes of a template: applications by tenant, and the pools that wait for members. */
export interface Template {
  tenants: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  pools: readonly { tenant: string; application: string; pool: string; servicePort: number }[];
  /** Secrets that certificates stand open for. */
  secrets?: readonly { tenant: string; application: string; secret: string }[] | undefined;
}

export type Decode = (text: string) => Result<Template>;

export interface ReadOptions {
  decode: Decode;
  /** Would the place take it? What it would not take is refused, and keeps what it had. */
  accepts?: ((lb: LoadBalancer) => Result<unknown>) | undefined;
}

export const annotations = {
  loadbalancer: 'fairlead.io/loadbalancer',
  revision: 'fairlead.io/revision',
  pools: 'fairlead.io/pools',
  status: 'fairlead.io/status',
} as const;

/** Where a pool gets its members: a Service by name, or the one that carries `tenant/application/pool` in its labels. */
export interface PoolUse {
  ref: PoolRef;
  asker: string;
  namespace: string;
  service?: string | undefined;
  labels: string;
  port: number;
}

/** The parts of a ConfigMap that count. Equal for two edits: nothing changed for us. */
export interface Reading {
  origin: Origin;
  /** The tenants it names, those without an application too: what it had in them is to go. */
  tenants: Scope[];
  balancers: LoadBalancer[];
  uses: ReadonlyMap<string, PoolUse>;
  /** By load balancer, the Secrets that its certificates come from. */
  secrets: ReadonlyMap<Key, readonly string[]>;
  refusals: Refusal[];
}

export const useId = (pool: Pick<PoolRef, 'key' | 'pool'>): string => `${pool.key} ${pool.pool}`;

/** Is it an AS3 ConfigMap that is live? `as3: "false"` is staging: what it asked for goes. Spec: f5.md §3.1. */
export const isActive = ({ metadata }: ConfigMap): boolean =>
  metadata.labels?.['f5type'] === 'virtual-server' &&
  metadata.labels['as3'] !== undefined &&
  metadata.labels['as3'] !== 'false';

/** What of `configmap` is read here. Our own status annotation is not, or writing it would be an edit. */
export const fingerprint = ({ metadata, data }: ConfigMap): string =>
  JSON.stringify([
    metadata.uid,
    metadata.labels?.['f5type'],
    metadata.labels?.['as3'],
    metadata.annotations?.[annotations.loadbalancer],
    metadata.annotations?.[annotations.revision],
    metadata.annotations?.[annotations.pools],
    data?.['template'],
  ]);

export function originOf(cluster: string, { metadata, data }: ConfigMap): Origin {
  const { namespace = '', name, uid = '', creationTimestamp } = metadata;
  const created = creationTimestamp === undefined ? 0 : Date.parse(creationTimestamp);
  const revision = metadata.annotations?.[annotations.revision] ?? crc32(data?.['template'] ?? '').toString(16);
  return { cluster, kind: 'ConfigMap', namespace, name, uid, created, revision };
}

/**
 * Reads `configmap`; `last` is what it said before. An application that cannot be read keeps the pools it had, so that
 * pods may come and go while its author mends it; the same for the whole when the template does not parse.
 */
export function readConfigMap(configmap: ConfigMap, origin: Origin, options: ReadOptions, last?: Reading): Reading {
  const template = templateOf(configmap, options.decode);
  if (!template.ok) {
    const refusals = [{ origin, problem: template.problem }];
    const { tenants = [], uses = new Map(), secrets = new Map() } = last ?? {};
    return { origin, tenants, balancers: [], uses, secrets, refusals };
  }
  const { map, tenants, pools } = template.value;
  const refusals: Refusal[] = [];
  const balancers: LoadBalancer[] = [];
  for (const [tenant, applications] of Object.entries(tenants)) {
    for (const [name, native] of Object.entries(applications)) {
      const lb = { key: `${tenant}/${name}`, scope: tenant, origin, listeners: [], pools: [], native };
      const problem = forbidden(tenant) ?? refusalOf(lb, options.accepts);
      if (problem) refusals.push({ origin, key: lb.key, problem });
      else balancers.push(lb);
    }
  }
  const held = new Set(refusals.map(({ key }) => key));
  const uses = new Map([...(last?.uses ?? [])].filter(([, use]) => held.has(use.ref.key)));
  for (const { tenant, application, pool, servicePort } of pools) {
    const key = `${tenant}/${application}`;
    const use = useOf({ scope: tenant, key, pool }, origin, map.get(`${application}/${pool}`), servicePort);
    if (!held.has(key)) uses.set(useId(use.ref), use);
  }
  const secrets = secretsByKey(template.value.secrets ?? []);
  return { origin, tenants: Object.keys(tenants), balancers, uses, secrets, refusals };
}

function secretsByKey(named: NonNullable<Template['secrets']>): Map<Key, string[]> {
  const secrets = new Map<Key, string[]>();
  for (const { tenant, application, secret } of named) {
    const key = `${tenant}/${application}`;
    secrets.set(key, [...(secrets.get(key) ?? []), secret]);
  }
  return secrets;
}

/**
 * `reading` with what its Secrets hold now; load balancers for which nothing changed are the same objects as before.
 * `digestOf`: undefined for a Secret that cannot be used.
 */
export function withDigests(reading: Reading, digestOf: (secret: string) => string | undefined): Reading {
  const balancers = reading.balancers.map((lb) => {
    const names = reading.secrets.get(lb.key);
    if (!names) return lb;
    const pairs = names.flatMap((name) => {
      const digest = digestOf(name);
      return digest === undefined ? [] : [[name, digest] as const];
    });
    const secrets = Object.fromEntries(pairs);
    return isEqual(lb.secrets, secrets) ? lb : { ...lb, secrets };
  });
  return { ...reading, balancers };
}

function refusalOf(lb: LoadBalancer, accepts: ReadOptions['accepts']): Problem | undefined {
  const form = accepts?.(lb);
  return form && !form.ok ? form.problem : undefined;
}

const forbidden = (tenant: string): Problem | undefined =>
  tenant === 'Common'
    ? fail(
        'invalid',
        'tenant Common is shared by the whole device: use a tenant of your own',
        `data.template: ${tenant}`,
      ).problem
    : undefined;

interface Target {
  service: string;
  port?: number | undefined;
}

function useOf(ref: PoolRef, origin: Origin, target: Target | undefined, port: number): PoolUse {
  const { cluster, namespace, name } = origin;
  return {
    ref,
    asker: `${cluster}/${namespace}/${name}`,
    namespace,
    service: target?.service,
    labels: `${namespace}/${ref.key}/${ref.pool}`,
    port: target?.port ?? port,
  };
}

function templateOf(configmap: ConfigMap, decode: Decode): Result<Template & { map: Map<string, Target> }> {
  const text = configmap.data?.['template'];
  if (text === undefined) return fail('invalid', 'the ConfigMap has no key `template`', 'data.template');
  const map = poolMapOf(configmap.metadata.annotations?.[annotations.pools]);
  if (!map.ok) return map;
  const template = decode(text);
  if (!template.ok)
    return fail(template.problem.code, template.problem.message, template.problem.path ?? 'data.template');
  return ok({ ...template.value, map: map.value });
}

/** The annotation `{"<application>/<pool>": {"service": …, "port": …}}`, checked entry by entry. */
function poolMapOf(text: string | undefined): Result<Map<string, Target>> {
  const path = `metadata.annotations[${annotations.pools}]`;
  if (text === undefined) return ok(new Map());
  const parsed = parse(text);
  if (!parsed.ok || !isRecord(parsed.value)) return fail('invalid', 'not a JSON object', path);
  const map = new Map<string, Target>();
  for (const [pool, target] of Object.entries(parsed.value)) {
    const { service, port } = isRecord(target) ? target : {};
    if (typeof service !== 'string' || service === '')
      return fail('invalid', 'needs the name of a Service', `${path}["${pool}"].service`);
    if (port !== undefined && !isPort(port))
      return fail('invalid', 'needs a port from 1 to 65535', `${path}["${pool}"].port`);
    map.set(pool, { service, port });
  }
  return ok(map);
}

const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    return fail('invalid', String(error));
  }
}
