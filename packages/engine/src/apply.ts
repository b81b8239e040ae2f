// Carrying out a plan so that one load balancer the place refuses does not stop its neighbours.
import type { Item, Key, Placed, Plan, Provider } from '@fairlead/core';

export interface Applied {
  /** By key, what came of each that was to change. */
  placed: Map<Key, Placed>;
  /** What the scope holds now. */
  standing: Item<unknown>[];
}

interface Change {
  key: Key;
  from?: Item<unknown> | undefined;
  to?: Item<unknown> | undefined;
}

/**
 * Applies `plan` in one write. When the place calls it invalid and more than one thing was to change, each half is tried
 * for itself, and so on down to the ones at fault: these keep what they had, and all others get what they want.
 * Any other problem (busy, denied …) concerns all alike and is theirs.
 */
export async function applyApart(
  provider: Provider,
  plan: Plan<unknown>,
  found: readonly Item<unknown>[],
  signal: AbortSignal,
): Promise<Applied> {
  const standing = new Map(found.map((item) => [item.key, item]));
  const placed = new Map<Key, Placed>();

  const attempt = async (changes: readonly Change[]): Promise<void> => {
    const result = await provider.apply(part(plan, changes, standing), signal);
    if (result.ok) {
      const said = new Map(result.value.map((one) => [one.key, one]));
      for (const change of changes) settle(change, said.get(change.key) ?? { key: change.key });
      return;
    }
    if (result.problem.code !== 'invalid' || changes.length === 1) {
      for (const change of changes) settle(change, { key: change.key, problem: result.problem });
      return;
    }
    const middle = changes.length >> 1;
    await attempt(changes.slice(0, middle));
    await attempt(changes.slice(middle));
  };

  const settle = ({ key, to }: Change, one: Placed): void => {
    placed.set(key, one);
    if (one.problem) return;
    if (to) standing.set(key, { ...to, address: one.address });
    else standing.delete(key);
  };

  await attempt(changesOf(plan));
  return { placed, standing: [...standing.values()] };
}

/** Removals first: what they set free may be wanted by the rest. */
const changesOf = ({ remove, update, create }: Plan<unknown>): Change[] => [
  ...remove.map((from) => ({ key: from.key, from })),
  ...update.map(({ from, to }) => ({ key: to.key, from, to })),
  ...create.map((to) => ({ key: to.key, to })),
];

/** The plan that makes only `changes`, on top of what stands. */
function part(
  plan: Plan<unknown>,
  changes: readonly Change[],
  standing: ReadonlyMap<Key, Item<unknown>>,
): Plan<unknown> {
  const after = new Map(standing);
  const some: Plan<unknown> = { scope: plan.scope, owner: plan.owner, create: [], update: [], remove: [], after: [] };
  for (const { key, from, to } of changes) {
    if (to) after.set(key, to);
    else after.delete(key);
    if (from && to) some.update.push({ from, to });
    else if (to) some.create.push(to);
    else if (from) some.remove.push(from);
  }
  some.after = [...after.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return some;
}
