// Guards on a plan: how much of it may be done at all, and when so much would be removed that a person should look first.
import type { Item, Plan } from './provider.ts';

/**
 *   policy      | create, update | remove
 *   ------------+----------------+--------
 *   sync        | yes            | yes
 *   upsert-only | yes            | no
 *   dry-run     | no             | no
 */
export type Policy = 'sync' | 'upsert-only' | 'dry-run';

/** A turn that would remove more than `share` of ours in a scope, and more than `spare` of them, removes nothing. */
export interface Brake {
  /** 0 to 1. */
  share: number;
  /** So many removals are always allowed: the last one of one is a delete, not an accident. */
  spare: number;
}

/** What a guard left out of a plan, and its name for the report. */
export interface Withheld<Form> {
  plan: Plan<Form>;
  withheld: { item: Item<Form>; why: string }[];
}

/** `plan` without what `policy` forbids. What stays undone stays in `after` as it is found, so a whole write keeps it. */
export function permit<Form>(plan: Plan<Form>, policy: Policy): Withheld<Form> {
  if (policy === 'sync') return { plan, withheld: [] };
  if (policy === 'upsert-only') return withoutRemovals(plan, `policy ${policy} removes nothing`);
  const why = `policy ${policy} writes nothing`;
  const created = new Set(plan.create.map(({ key }) => key));
  const former = new Map(plan.update.map(({ from }) => [from.key, from]));
  const after = plan.after.filter(({ key }) => !created.has(key)).map((item) => former.get(item.key) ?? item);
  const items = [...plan.create, ...plan.update.map(({ to }) => to), ...plan.remove];
  return {
    plan: { ...plan, create: [], update: [], remove: [], after: [...after, ...plan.remove] },
    withheld: items.map((item) => ({ item, why })),
  };
}

/** `plan` without its removals when they are too many for one turn; the rest goes on. */
export function brake<Form>(plan: Plan<Form>, found: readonly Item<Form>[], limit: Brake): Withheld<Form> {
  const ours = found.filter(({ owner }) => owner === plan.owner).length;
  const goes = plan.remove.length;
  if (goes <= limit.spare || goes <= limit.share * ours) return { plan, withheld: [] };
  return withoutRemovals(
    plan,
    `would remove ${goes} of ${ours} in ${plan.scope}, more than ${percent(limit.share)} at once`,
  );
}

function withoutRemovals<Form>(plan: Plan<Form>, why: string): Withheld<Form> {
  return {
    plan: { ...plan, remove: [], after: [...plan.after, ...plan.remove] },
    withheld: plan.remove.map((item) => ({ item, why })),
  };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
