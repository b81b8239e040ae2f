// A place in memory: the reference provider, and the double used in tests. A scope is whatever the load balancer says.
import { isMemberPlanEmpty, membersAfter, ok } from '@fairlead/core';
import type { Item, LoadBalancer, Member, MemberLane, PoolRef, Provider, Scope } from '@fairlead/core';

/** What of a load balancer is kept: all but who asked, which stands beside it. */
export type MemoryForm = Pick<LoadBalancer, 'listeners' | 'pools' | 'native'>;

export interface Memory extends Provider<MemoryForm> {
  members: MemberLane;
}

export function memory(): Memory {
  const scopes = new Map<Scope, Item<MemoryForm>[]>();
  /** By scope, key and pool. Members outlive a write of their scope, as on a device that is written whole. */
  const pools = new Map<string, Member[]>();

  return {
    name: 'memory',
    scopeOf: (lb) => lb.scope,
    compile: ({ listeners, pools, native }) => ok({ listeners, pools, native }),
    claims: ({ listeners }) => listeners.map(({ address, port, protocol }) => `${address}:${port}/${layer4(protocol)}`),
    owned: async (owner) =>
      ok([...scopes].filter(([, items]) => items.some((item) => item.owner === owner)).map(([scope]) => scope)),
    read: async (scope) => ok(structuredClone(scopes.get(scope) ?? [])),
    async apply(plan) {
      const after = plan.after.map((item) => ({ ...item, address: item.form.listeners[0]?.address }));
      const wanted = new Map(after.flatMap((item) => poolsIn(plan.scope, item)));
      for (const id of pools.keys()) if (id.startsWith(`${plan.scope} `) && !wanted.has(id)) pools.delete(id);
      for (const [id, members] of wanted) if (!pools.has(id)) pools.set(id, [...members]);
      if (after.length > 0)
        scopes.set(plan.scope, structuredClone(after.map(({ members: _members, ...item }) => item)));
      else scopes.delete(plan.scope);
      return ok(after.filter(({ owner }) => owner === plan.owner).map(({ key, address }) => ({ key, address })));
    },
    members: {
      read: async (pool) => ok(structuredClone(pools.get(idOf(pool)))),
      async write(pool, plan) {
        const found = pools.get(idOf(pool));
        if (!found) return { ok: false, problem: { code: 'missing', message: `no pool ${pool.pool} in ${pool.key}` } };
        const byHand = new Set(found.filter((member) => member.byHand).map(({ address }) => address));
        const change = plan.change.filter(({ address }) => !byHand.has(address));
        if (!isMemberPlanEmpty(plan)) pools.set(idOf(pool), membersAfter({ ...plan, change }, found));
        return ok(undefined);
      },
    },
  };
}

const layer4 = (protocol: string): string => (protocol === 'udp' ? 'udp' : 'tcp');

const idOf = ({ scope, key, pool }: PoolRef): string => `${scope} ${key} ${pool}`;

/** By id, the pools of an item and what they start with. In native words, a pool is what says so. */
function poolsIn(scope: Scope, { key, form, members }: Item<MemoryForm>): [string, readonly Member[]][] {
  const isPool = (part: unknown): boolean => (part as { class?: unknown } | null)?.class === 'Pool';
  const native = Object.entries(form.native ?? {}).filter(([, part]) => isPool(part));
  const names = [...form.pools.map(({ name }) => name), ...native.map(([name]) => name)];
  return names.map((pool) => [idOf({ scope, key, pool }), members?.get(pool) ?? []]);
}
