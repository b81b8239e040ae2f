// Which of the found items stay as they are, because what is wanted of them cannot be told now.
import { askerOf, type Item, type Key } from '@fairlead/core';
import type { Refusal, Source } from '@fairlead/sources';
import type { Wish } from './wishes.ts';

export interface HeldQuestion {
  owner: string;
  wishes: readonly Wish[];
  sources: Iterable<Source>;
  /** Sources that were taken away: what they wanted is to go. */
  retired: Iterable<Source>;
}

/**
 *   found item of ours                                    | held
 *   ------------------------------------------------------+------
 *   its object, or it alone, cannot be read               | yes
 *   its object may be in a source whose caches fill still | yes
 *   no source answers for its object, nor ever did        | yes: another engine's, or one that is late
 *   its wish does not compile, or lost a claim            | yes
 *   anything else                                         | no
 *
 * An item without an asker was marked by nobody we know; every source that is not full may want it.
 */
export function heldIn(found: readonly Item<unknown>[], { owner, wishes, sources, retired }: HeldQuestion): Set<Key> {
  const all = [...sources];
  const known = [...all, ...retired];
  const filling = all.filter(({ synced }) => !synced);
  const refusals = new Map<string, Refusal[]>();
  for (const refusal of all.flatMap((source) => [...source.refusals()])) {
    const asker = askerOf(refusal.origin);
    refusals.set(asker, [...(refusals.get(asker) ?? []), refusal]);
  }
  const unmet = new Set(
    wishes.flatMap(({ lb, asker, problem }) => (problem ? [`${asker} ${lb.key}`, ` ${lb.key}`] : [])),
  );

  const isHeld = ({ key, asker = '' }: Item<unknown>): boolean =>
    filling.some((source) => asker === '' || source.owns(asker)) ||
    (asker !== '' && !known.some((source) => source.owns(asker))) ||
    (refusals.get(asker) ?? []).some((refusal) => refusal.key === undefined || refusal.key === key) ||
    unmet.has(`${asker} ${key}`);
  return new Set(found.filter((item) => item.owner === owner && isHeld(item)).map(({ key }) => key));
}
