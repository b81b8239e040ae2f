// Tickets as what they want of the LTM: a source for the engine of that device.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import type { LoadBalancer, Origin, PoolRef } from '@fairlead/core';
import type { Change, Store } from '@fairlead/kube';
import type { Edit, Source, Supply, Touch } from '@fairlead/sources';
import { ltmCluster, ltmWish, ticketName, type LtmWish } from '@fairlead/tickets';

interface Entry {
  origin: Origin;
  wish: LtmWish;
}

/**
 * What the tickets of `loadbalancer` want. A ticket that wants nothing is an edit too, so that the engine says when
 * nothing of it is left.
 */
export function ltmSource(loadbalancer: Loadbalancer, tickets: Store<Lbticket>): Source {
  const { name } = loadbalancer.metadata;
  const cluster = ltmCluster(name);
  const entries = new Map<string, Entry>();
  const listeners = new Set<(touch: Touch) => void>();
  const closing = new AbortController();

  const take = (named: Lbticket, now: Lbticket | undefined): void => {
    const asker = `${cluster}/${ticketName(named)}`;
    const before = entries.get(asker);
    const wish = now?.spec.loadbalancer === name ? ltmWish(loadbalancer, now) : undefined;
    if (before?.wish.revision === wish?.revision && before?.wish.scope === wish?.scope) return;
    if (now && wish) entries.set(asker, { origin: wish.balancer?.origin ?? originOf(cluster, now), wish });
    else entries.delete(asker);
    const touch = touchOf(before, entries.get(asker));
    for (const listener of listeners) listener(touch);
  };
  const onTicket = ({ before, after }: Change<Lbticket>): void => {
    const either = after ?? before;
    if (either) take(either, after);
  };
  for (const ticket of tickets.all()) take(ticket, ticket);
  const stop = tickets.listen(onTicket);
  const inScope = (scope: string): Entry[] => [...entries.values()].filter(({ wish }) => wish.scope === scope);

  const source: Source = {
    name: cluster,
    get synced() {
      return tickets.synced;
    },
    owns: (asker) => asker.startsWith(`${cluster}/`),
    scopes: () => new Set([...entries.values()].map(({ wish }) => wish.scope)),
    wanted: (scope) => inScope(scope).flatMap(({ wish }): LoadBalancer[] => (wish.balancer ? [wish.balancer] : [])),
    pools: (scope) => inScope(scope).flatMap(poolsOf),
    edits: () => [...entries.values()].map(editOf),
    origin: (asker) => entries.get(asker)?.origin,
    refusals: () => [],
    supply(pool, asker): Supply | undefined {
      const entry = entries.get(asker);
      const members = entry?.wish.balancer?.key === pool.key ? entry.wish.members.get(pool.pool) : undefined;
      return entry && members && { origin: entry.origin, members };
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      closing.abort();
      stop();
      listeners.clear();
    },
  };
  void tickets.ready(closing.signal).then(() => {
    if (closing.signal.aborted) return;
    const all = [...entries.values()];
    const touch = { scopes: [...source.scopes()], pools: all.flatMap(poolsOf), edits: all.map(editOf) };
    for (const listener of listeners) listener(touch);
  });
  return source;
}

const originOf = (cluster: string, { metadata }: Lbticket): Origin => ({
  cluster,
  kind: 'Lbticket',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid ?? '',
  created: 0,
  revision: 'none',
});

const poolsOf = ({ wish: { balancer, scope, members } }: Entry): PoolRef[] =>
  balancer ? [...members.keys()].map((pool) => ({ scope, key: balancer.key, pool })) : [];

const editOf = ({ origin, wish }: Entry): Edit => ({ origin, scopes: [wish.scope] });

/** What is to be looked at after a change; a ticket that is gone was clear before. */
function touchOf(before: Entry | undefined, after: Entry | undefined): Touch {
  const present = [before, after].filter((one) => one !== undefined);
  const scopes = [...new Set(present.map(({ wish }) => wish.scope))];
  return { scopes, pools: present.flatMap(poolsOf), edits: after ? [{ origin: after.origin, scopes }] : [] };
}
