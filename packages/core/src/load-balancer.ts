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

/** One name for what a Secret held at one time. */
export const keyPairId = (secret: string, digest: string): string => `${secret}#${digest}`;

/** One load balancer: what a source wants and a provider compiles. Everything in it is sorted and free of time, so equal wishes compare equal. */
export interface LoadBalancer {
  key: Key;
  scope: Scope;
  origin: Origin;
  listeners: Listener[];
  pools: Pool[];
  /** Given already in a place's own words (an AS3 ConfigMap): the provider takes it as it is; `listeners` and `pools` are then empty. */
  native?: Readonly<Record<string, unknown>> | undefined;
  /**
   * By name of a Secret that a certificate comes from, a digest of what it holds now: so a renewed one is a change.
   * One that cannot be used now is absent.
   */
  secrets?: Readonly<Record<string, string>> | undefined;
}

export type Protocol = 'http' | 'https' | 'tcp' | 'udp';
export type Persistence = 'cookie' | 'source-address' | 'none';
/** `pick.ts` says what each does. */
export type Stickiness = 'source' | 'cookie' | 'random';
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
  /** For https. */
  tls?: ListenerTls | undefined;
  /** Rules that are on the device already, such as `/Common/audit`. They run before our own, in this order. */
  deviceRules?: string[] | undefined;
  /** What the pick among weighted pools is made from, with stickiness `source`. Default: the client's address. */
  pickBy?: 'client-address' | 'x-forwarded-for' | undefined;
  /** What keeps a client at the pool that was picked; `cookie` is for http and https. Default: `source`. */
  stickiness?: Stickiness | undefined;
  /** For http and https: requests by host and path, as an Ingress has it. `routes` and `pools` are then empty. */
  hosts?: HostRoute[] | undefined;
  /** Things of the place itself, by their name there, such as `/Common/clientssl`. */
  profiles?: ListenerProfiles | undefined;
}

export interface ListenerProfiles {
  /** TLS towards clients, in the place of certificates. */
  clientTls?: string[] | undefined;
  /** TLS towards members. */
  serverTls?: string | undefined;
  /** Web application firewall. */
  firewall?: string | undefined;
  /** False: members see the listener's address as the destination. */
  translateAddress?: boolean | undefined;
}

/** One host and path, and what becomes of its requests. `host-routes.ts` says which one counts; the order does not matter. */
export interface HostRoute {
  /** In lower case; `*.domain.com` stands for one label in the place of the star; empty: all hosts. */
  host: string;
  /** `exact`: this path alone. `prefix`: it and all below, by whole segments; then without a slash at the end, and empty for all. */
  match: 'exact' | 'prefix';
  path: string;
  /** Clients that may come, as CIDRs; absent: all. Others get 403. */
  clients?: string[] | undefined;
  to: HostTarget;
}

export type HostTarget =
  /** `rewrite`: what members see in the place of the host, and of the route's path at the start of the path. */
  | { pool: string; rewrite?: { host?: string | undefined; path?: string | undefined } | undefined }
  /** The same address, host, path and query by https at that port. */
  | { https: number }
  /** Another path on the same host. */
  | { redirect: string };

/** Certificates of a listener, as names of `kubernetes.io/tls` Secrets. */
export interface ListenerTls {
  /** For clients that name no server, or one that no other certificate is for. */
  secretName: string;
  /** Without `host`, for the names in the certificate. A host may begin with `*.`. */
  sni?: { secretName: string; host?: string | undefined }[] | undefined;
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
  /** Text that a healthy member's answer has in it, for http and https; absent: a status of 2xx or 3xx. */
  receive?: string | undefined;
}

/** Members that share requests: the ready pods behind one port of one Service. */
export interface Pool {
  /** Name in the place, such as `svc01_8080_pool`. */
  name: string;
  service: { namespace: string; name: string; port: number };
  monitor: Monitor;
  balance: Balance;
}
