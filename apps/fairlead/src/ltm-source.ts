// Tickets as what they want of the LTM: a source for the engine of that device.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { fail, type LoadBalancer, type Origin, type PoolRef } from '@fairlead/core';
import type { Change, Store } from '@fairlead/kube';
import type { Edit, Refusal, Source, Supply, Touch } from '@fairlead/sources';
import { ltmCluster, ltmWish, placeOf, ticketName, type LtmWish } from '@fairlead/tickets';
import type { IngressPorts } from './ltm-ports.ts';

interface Entry {
  origin: Origin;
  wish: LtmWish;
}

/**
 * What the tickets of `loadbalancer` want. A ticket that wants nothing is an edit too, so that the engine says when
 * nothing of it is left. Of one for Ingresses whose ports nobody knows now, what is there stays.
 */
export function ltmSource(loadbalancer: Loadbalancer, tickets: Store<Lbticket>, ports: IngressPorts): Source {
  const cluster = ltmCluster(loadbalancer.metadata.name);
  const listeners = new Set<(touch: Touch) => void>();
  const closing = new AbortController();
  const tell = (touch: Touch): void => listeners.forEach((listener) => listener(touch));
  const { entries, stop } = wishes({ loadbalancer, tickets, ports }, tell);
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
    refusals: (asker) =>
      (asker === undefined ? [...entries.values()] : [entries.get(asker)]).flatMap((entry) => refusalOf(entry) ?? []),
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
      ports.close();
      listeners.clear();
    },
  };
  void tickets.ready(closing.signal).then(() => {
    if (closing.signal.aborted) return;
    const all = [...entries.values()];
    tell({ scopes: [...source.scopes()], pools: all.flatMap(poolsOf), edits: all.map(editOf) });
  });
  return source;
}

interface Asked {
  loadbalancer: Loadbalancer;
  tickets: Store<Lbticket>;
  ports: IngressPorts;
}

/** By asker, what each ticket wants now; `tell` hears of what is another than before. */
function wishes({ loadbalancer, tickets, ports }: Asked, tell: (touch: Touch) => void) {
  const { name } = loadbalancer.metadata;
  const cluster = ltmCluster(name);
  const entries = new Map<string, Entry>();
  const take = (named: Lbticket, now: Lbticket | undefined): void => {
    const asker = `${cluster}/${ticketName(named)}`;
    const before = entries.get(asker);
    const wish = now?.spec.loadbalancer === name ? ltmWish(loadbalancer, now, ports.of(ticketName(now))) : undefined;
    if (before?.wish.revision === wish?.revision && before?.wish.scope === wish?.scope) return;
    if (now && wish)
      entries.set(asker, { origin: wish.balancer?.origin ?? originOf(cluster, now, wish.revision), wish });
    else entries.delete(asker);
    tell(touchOf(before, entries.get(asker)));
  };
  const onTicket = ({ before, after }: Change<Lbticket>): void => {
    const either = after ?? before;
    if (either) take(either, after);
  };
  for (const ticket of tickets.all()) take(ticket, ticket);
  const stops = [
    tickets.listen(onTicket),
    ports.listen((named) => forIngresses(tickets, named).forEach((one) => take(one, one))),
  ];
  return { entries, stop: () => stops.forEach((stop) => stop()) };
}

/** Those with `lbtype: ingress`: the one of that name, or without a name all. */
function forIngresses(tickets: Store<Lbticket>, name: string | undefined): Lbticket[] {
  const one = name === undefined ? undefined : tickets.get(placeOf(name));
  const named = name === undefined ? [...tickets.all()] : one ? [one] : [];
  return named.filter(({ spec }) => spec.lbtype === 'ingress');
}

const refusalOf = (entry: Entry | undefined): Refusal | undefined =>
  entry?.wish.isUnknown && {
    origin: entry.origin,
    problem: fail('busy', 'the F5 Ingresses of the ticket cannot be read now').problem,
  };

const originOf = (cluster: string, { metadata }: Lbticket, revision: string): Origin => ({
  cluster,
  kind: 'Lbticket',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid ?? '',
  created: 0,
  revision,
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
