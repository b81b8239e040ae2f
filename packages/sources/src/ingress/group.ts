// The Ingresses of one ticket → the listeners on its address. Of two that want one thing the older has it. Pure.
import { hostRouteKey, isEqual, type HostRoute, type Listener, type Pool } from '@fairlead/core';
import type { IngressPool, IngressReading } from './reading.ts';

export interface Member {
  /** Of the Ingress. */
  name: string;
  /** Milliseconds since the epoch. */
  created: number;
  reading: IngressReading;
}

export interface Merged {
  listeners: Listener[];
  pools: IngressPool[];
  /** By Ingress, what of it another one has. */
  notes: Map<string, string[]>;
  /** By pool, the Ingresses that use it. */
  users: Map<string, string[]>;
  /** Where the route with that key comes from. */
  originOf(port: number, key: string): RouteOrigin | undefined;
}

export interface RouteOrigin {
  /** Name of the Ingress. */
  ingress: string;
  /** Such as `spec.rules[0].http.paths[1]`. */
  field: string;
}

export interface MergeQuestion {
  /** Of the ticket, for names. */
  name: string;
  address: string;
  members: readonly Member[];
}

interface Draft {
  protocol: 'http' | 'https';
  by: string;
  routes: Map<string, { route: HostRoute; by: string; field: string }>;
  secrets: string[];
  profiles: { value: Listener['profiles']; by: string };
}

export function merge({ name, address, members }: MergeQuestion): Merged {
  const drafts = new Map<number, Draft>();
  const pools = new Map<string, { of: IngressPool; by: string }>();
  const notes = new Map<string, string[]>();
  const users = new Map<string, string[]>();
  const note = (who: string, what: string): void => void notes.set(who, [...(notes.get(who) ?? []), what]);
  for (const one of members.toSorted((a, b) => a.created - b.created || (a.name < b.name ? -1 : 1))) {
    for (const pool of one.reading.pools) addPool(pools, pool, one.name, note);
    for (const protocol of ['http', 'https'] as const) addListener(drafts, one, protocol, note);
  }
  const used = new Map<string, string[]>();
  for (const { routes } of drafts.values())
    for (const { route, by } of routes.values())
      if ('pool' in route.to) used.set(route.to.pool, [...new Set([...(used.get(route.to.pool) ?? []), by])]);
  for (const [pool, by] of used) users.set(pool, by);
  return {
    listeners: [...drafts].sort(([a], [b]) => a - b).map(([port, draft]) => listenerOf({ name, address, port }, draft)),
    pools: [...pools]
      .filter(([pool]) => used.has(pool))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { of }]) => of),
    notes,
    users,
    originOf(port, key) {
      const found = drafts.get(port)?.routes.get(key);
      return found && { ingress: found.by, field: found.field };
    },
  };
}

type Note = (who: string, what: string) => void;

function addPool(pools: Map<string, { of: IngressPool; by: string }>, pool: IngressPool, by: string, note: Note): void {
  const present = pools.get(pool.pool.name);
  if (!present) pools.set(pool.pool.name, { of: pool, by });
  else if (!isSamePool(present.of.pool, pool.pool))
    note(
      by,
      `Service ${pool.pool.service.name} has the health check and balance of Ingress ${present.by}, which is older`,
    );
}

const isSamePool = (a: Pool, b: Pool): boolean => isEqual(a.monitor, b.monitor) && a.balance === b.balance;

function addListener(
  drafts: Map<number, Draft>,
  { name, reading }: Member,
  protocol: 'http' | 'https',
  note: Note,
): void {
  const asked = reading[protocol];
  if (!asked) return;
  const { clientTls, ...others } = reading.profiles;
  const profiles = protocol === 'https' ? reading.profiles : others;
  const secrets = protocol === 'https' ? (reading.https?.secrets ?? []) : [];
  const draft = drafts.get(asked.port) ?? emptyDraft(protocol, name, profiles);
  if (draft.protocol !== protocol)
    return note(name, `port ${asked.port} speaks ${draft.protocol} for Ingress ${draft.by}, which is older`);
  drafts.set(asked.port, draft);
  if (!isEqual(draft.profiles.value, profiles))
    note(name, `port ${asked.port} has the profiles of Ingress ${draft.profiles.by}, which is older`);
  // Profiles of the device have certificates of their own, and take the place of Secrets.
  if (!clientTls && !draft.profiles.value?.clientTls)
    draft.secrets.push(...secrets.filter((secret) => !draft.secrets.includes(secret)));
  for (const route of asked.routes) {
    const key = hostRouteKey(route);
    const present = draft.routes.get(key);
    if (!present) draft.routes.set(key, { route, by: name, field: reading.fields.get(key) ?? 'spec' });
    else
      note(
        name,
        `${route.match} path "${route.host}${route.path || '/'}" of port ${asked.port} goes to Ingress ${present.by}, which is older`,
      );
  }
}

const emptyDraft = (protocol: Draft['protocol'], by: string, profiles: Listener['profiles']): Draft => ({
  protocol,
  by,
  routes: new Map(),
  secrets: [],
  profiles: { value: profiles, by },
});

function listenerOf(at: { name: string; address: string; port: number }, draft: Draft): Listener {
  const { routes, protocol, secrets, profiles } = draft;
  const [first, ...others] = secrets;
  const given = Object.keys(profiles.value ?? {}).length > 0;
  return {
    name: `${/^[0-9]/.test(at.name) ? 'n' : ''}${at.name}_${at.port}_vs`,
    address: at.address,
    port: at.port,
    protocol,
    persistence: 'none',
    routes: [],
    pools: [],
    hosts: [...routes.values()].map(({ route }) => route).sort((a, b) => (hostRouteKey(a) < hostRouteKey(b) ? -1 : 1)),
    ...(first !== undefined && {
      tls: { secretName: first, ...(others.length > 0 && { sni: others.map((secretName) => ({ secretName })) }) },
    }),
    ...(given && { profiles: profiles.value }),
  };
}
