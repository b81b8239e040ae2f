// The words of the product as plain data: load balancer, listener, route, pool.

/** Identity of one load balancer within a place, such as `acp-region01/default_http_app`. */
export type Key = string;

/** The part of a place that is written in one step: a BIG-IP tenant, one cloud load balancer. */
export type Scope = string;

/** The Kubernetes object that asked. `created`: milliseconds since the epoch, for seniority among claims. */
export interface Origin {
  cluster: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  created: number;
  /** Which edit of the object this was read from; reports carry it back, so that a reader knows what they speak of. */
  revision: string;
}

/** One name for the object that asked, kept by places beside what it got: `acp-region01/shop/fairlead-demo`. */
export const askerOf = (origin: Pick<Origin, 'cluster' | 'namespace' | 'name'>): string =>
  `${origin.cluster}/${origin.namespace}/${origin.name}`;

/** One load balancer: what a source wants and a provider compiles. Everything in it is sorted and free of time, so equal wishes compare equal. */
export interface LoadBalancer {
  key: Key;
  scope: Scope;
  origin: Origin;
  listeners: Listener[];
  pools: Pool[];
  /** Given already in a place's own words (an AS3 ConfigMap): the provider takes it as it is; `listeners` and `pools` are then empty. */
  native?: Readonly<Record<string, unknown>> | undefined;
}

export type Protocol = 'http' | 'https' | 'tcp' | 'udp';
export type Persistence = 'cookie' | 'source-address' | 'none';
export type Balance = 'round-robin' | 'least-connections-member' | 'ratio-member';

/** A virtual server: one address, port and protocol. */
export interface Listener {
  /** Name in the place, such as `test_80_vs`. */
  name: string;
  address: string;
  /** 1 to 65535. */
  port: number;
  protocol: Protocol;
  persistence: Persistence;
  /** First match wins. */
  routes: Route[];
  /** Where requests go that no route matches. Weights are whole numbers, 0 to 100, with a positive sum. */
  pools: WeightedPool[];
  /** The `kubernetes.io/tls` Secret, for https. */
  tls?: { secretName: string } | undefined;
  /** What the pick among weighted pools is made from. Default: the client's address. */
  pickBy?: 'client-address' | 'x-forwarded-for' | undefined;
}

export interface WeightedPool {
  pool: string;
  weight: number;
}

/** A rule of a listener: when its conditions hold, its pools are used. */
export interface Route {
  name: string;
  /** How the conditions combine. Tests inside one condition always combine by OR. */
  match: 'any' | 'all';
  conditions: Condition[];
  pools: WeightedPool[];
}

export type Subject = 'host' | 'path' | 'address' | 'header' | 'cookie' | 'query';
export type Operator = 'equal' | 'range' | 'prefix' | 'regexp';

export interface Condition {
  subject: Subject;
  /** Name of the header, cookie or query parameter. */
  key?: string | undefined;
  tests: { operator: Operator; value: string }[];
}

export interface Monitor {
  type: 'http' | 'https' | 'tcp' | 'udp' | 'icmp';
  path?: string | undefined;
  /** Seconds. */
  interval?: number | undefined;
  /** Seconds. */
  timeout?: number | undefined;
}

/** Members that share requests: the ready pods behind one port of one Service. */
export interface Pool {
  /** Name in the place, such as `svc01_8080_pool`. */
  name: string;
  service: { namespace: string; name: string; port: number };
  monitor: Monitor;
  balance: Balance;
}
