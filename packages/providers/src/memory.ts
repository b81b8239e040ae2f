// A place in memory: the reference provider, and the double used in tests. A scope is whatever the load balancer says.
import { fail, memberName, membersAfter, ok } from '@fairlead/core';
import type { Item, LoadBalancer, Member, MemberLane, PoolRef, Provider, Scope } from '@fairlead/core';

/** What of a load balancer is kept: all but who asked, which stands beside it. */
export type MemoryForm = Pick<LoadBalancer, 'listeners' | 'pools' | 'native'>;

export interface Memory extends Provider<MemoryForm> {
  members: MemberLane;
  /** What a person at the place may do. */
  disable(pool: PoolRef, member: Member): void;
}

/** What lies in the place; shared by the clients of one. */
export interface MemoryStore {
  scopes: Map<Scope, { items: Item<MemoryForm>[]; version: number }>;
  /** By scope, key and pool. Members outlive a write of their scope, as on a device that is written whole. */
  pools: Map<string, Member[]>;
}

export const memoryStore = (): MemoryStore => ({ scopes: new Map(), pools: new Map() });

export function memory({ scopes, pools }: MemoryStore = memoryStore()): Memory {
  /** By scope, the version read or written last: another one means another writer. */
  const seen = new Map<Scope, number>();
  const versionOf = (scope: Scope): number => scopes.get(scope)?.version ?? 0;

  return {
    name: 'memory',
    scopeOf: (lb) => lb.scope,
    compile: ({ listeners, pools, native }) => ok({ listeners, pools, native }),
    claims: ({ listeners }) =>
      listeners.map(({ address, port, protocol }) => `${address}:${port}/${protocol === 'udp' ? 'udp' : 'tcp'}`),
    owned: async (owner) =>
      ok([...scopes].filter(([, { items }]) => items.some((item) => item.owner === owner)).map(([scope]) => scope)),
    async read(scope) {
      seen.set(scope, versionOf(scope));
      return ok(structuredClone(scopes.get(scope)?.items ?? []));
    },
    async apply(plan, signal) {
      const { scope } = plan;
      if (signal.aborted) return fail('unreachable', `write of ${scope}: stopped`);
      const version = versionOf(scope);
      if ((seen.get(scope) ?? version) !== version) return fail('conflict', `${scope} was written by someone else`);
      const after = plan.after.map((item) => ({ ...item, address: item.form.listeners[0]?.address }));
      const wanted = new Map(after.flatMap((item) => poolsIn(scope, item)));
      for (const id of pools.keys()) if (id.startsWith(`${scope} `) && !wanted.has(id)) pools.delete(id);
      for (const [id, members] of wanted) if (!pools.has(id)) pools.set(id, [...members]);
      const items = structuredClone(after.map(({ members: _members, ...item }) => item));
      scopes.set(scope, { items, version: version + 1 });
      seen.set(scope, version + 1);
      return ok(after.filter(({ owner }) => owner === plan.owner).map(({ key, address }) => ({ key, address })));
    },
    members: lane(pools),
    disable(pool, member) {
      const found = (pools.get(idOf(pool)) ?? []).filter((one) => memberName(one) !== memberName(member));
      pools.set(idOf(pool), [...found, { ...member, state: 'draining', byHand: 'disabled' }]);
    },
  };
}

const lane = (pools: MemoryStore['pools']): MemberLane => ({
  read: async (pool) => ok(structuredClone(pools.get(idOf(pool)))),
  async write(pool, plan) {
    const found = pools.get(idOf(pool));
    if (!found) return fail('missing', `there is no pool ${pool.pool} in ${pool.key}`);
    const theirs = new Set(found.filter(({ byHand }) => byHand).map(memberName));
    const change = plan.change.filter((member) => !theirs.has(memberName(member)));
    pools.set(idOf(pool), membersAfter({ ...plan, change }, found));
    return ok(undefined);
  },
});

const idOf = ({ scope, key, pool }: PoolRef): string => `${scope} ${key} ${pool}`;

/** By id, the pools of an item and what they start with. In native words, a pool is what says so. */
function poolsIn(scope: Scope, { key, form, members }: Item<MemoryForm>): [string, readonly Member[]][] {
  const isPool = (part: unknown): boolean => (part as { class?: unknown } | null)?.class === 'Pool';
  const native = Object.entries(form.native ?? {}).filter(([, part]) => isPool(part));
  const names = [...form.pools.map(({ name }) => name), ...native.map(([name]) => name)];
  return names.map((pool) => [idOf({ scope, key, pool }), members?.get(pool) ?? []]);
}
