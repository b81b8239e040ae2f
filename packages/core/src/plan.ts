// The plan: what to do in one scope so that what is found becomes what is wanted.
import { isEqual } from './equal.ts';
import type { Key, Scope } from './load-balancer.ts';
import type { Item, Plan } from './provider.ts';

export interface PlanQuestion<Form> {
  scope: Scope;
  owner: string;
  wanted: readonly Item<Form>[];
  found: readonly Item<Form>[];
  /** Keys that are wanted but cannot be told now: a bad edit, a claim that was lost, a cache that is not full. */
  held?: ReadonlySet<Key> | undefined;
}

export interface PlanAnswer<Form> {
  plan: Plan<Form>;
  /** Wanted items whose key someone else has, with the one that has it. */
  taken: { item: Item<Form>; by: Item<Form> }[];
}

/**
 * What to do in one scope. Forms are compared, never members: these have a lane of their own.
 *
 *   wanted | found          | then
 *   -------+----------------+---------------------------
 *   yes    | nothing        | create
 *   yes    | ours, equal    | leave
 *   yes    | ours, differs  | update
 *   yes    | someone else's | leave, and say it is taken
 *   no     | ours           | remove
 *   no     | someone else's | leave
 *   held   | anything       | leave: it is wanted, but cannot be compiled now
 *
 * `wanted` must hold a key once; `after` is sorted by key, others' items included.
 */
export function plan<Form>({ scope, owner, wanted, found, held }: PlanQuestion<Form>): PlanAnswer<Form> {
  const rest = new Map(found.map((item) => [item.key, item]));
  const todo: Plan<Form> = { scope, owner, create: [], update: [], remove: [], after: [] };
  const taken: PlanAnswer<Form>['taken'] = [];
  for (const to of wanted) {
    if (held?.has(to.key)) continue;
    const from = rest.get(to.key);
    rest.delete(to.key);
    if (from && from.owner !== owner) {
      taken.push({ item: to, by: from });
      todo.after.push(from);
      continue;
    }
    todo.after.push(to);
    if (!from) todo.create.push(to);
    else if (isChanged(from, to)) todo.update.push({ from, to });
  }
  for (const item of rest.values()) {
    const goes = item.owner === owner && !held?.has(item.key);
    (goes ? todo.remove : todo.after).push(item);
  }
  todo.after.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { plan: todo, taken };
}

export const isPlanEmpty = (plan: Plan<unknown>): boolean =>
  plan.create.length + plan.update.length + plan.remove.length === 0;

// A new asker is a change though the form is equal: the mark in the place must name who holds it now, or the next
// claim would be settled for an object that is gone.
const isChanged = <Form>(from: Item<Form>, to: Item<Form>): boolean =>
  (to.asker !== undefined && from.asker !== to.asker) || !isEqual(from.form, to.form);
