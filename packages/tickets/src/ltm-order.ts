// Traffic ends before configuration goes: what the LTM still leads to stays in the ConfigMap.
import { fail } from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import { readEntries, type Contribution, type Entry } from './configmap.ts';
import type { Desk } from './desk.ts';
import { createdAt, placeOf } from './names.ts';

/**
 *   a ticket with objects in the ConfigMap          | the LTM               | then
 *   ------------------------------------------------+-----------------------+-------------------------------
 *   is wanted no longer                             | clear, or not ours    | its objects go
 *   is wanted no longer                             | anything else         | its objects stay
 *   wants fewer virtual servers than it has         | as wanted, or not ours| its new objects
 *   wants fewer virtual servers than it has         | anything else         | its old objects stay meanwhile
 */
export function afterLtm(
  desk: Pick<Desk, 'lbtickets' | 'surroundings'>,
  contributions: readonly Contribution[],
  existing: ConfigMap | undefined,
): readonly Contribution[] {
  if (!desk.surroundings?.ltm) return contributions;
  const entries = readEntries(existing);
  const stateOf = (name: string) => {
    const ticket = desk.lbtickets.read(placeOf(name));
    return (ticket && desk.surroundings?.ltm?.(ticket)) ?? 'none';
  };
  const isWaiting = (name: string): boolean => !['none', 'programmed'].includes(textOf(stateOf(name)));
  const wanted = contributions.map((one) => {
    const entry = entries[one.ticket];
    return entry && isSmaller(one, entry) && isWaiting(one.ticket) ? { ...one, part: waiting } : one;
  });
  const names = new Set(contributions.map(({ ticket }) => ticket));
  const going = Object.keys(entries).flatMap((name) => {
    if (names.has(name) || ['none', 'clear'].includes(textOf(stateOf(name)))) return [];
    const ticket = desk.lbtickets.read(placeOf(name));
    return ticket ? [{ ticket: name, created: createdAt(ticket), part: waiting }] : [];
  });
  return [...wanted, ...going];
}

const waiting = fail('busy', 'the LTM has not confirmed yet that it leads no longer to what goes');

const textOf = (state: unknown): string => (typeof state === 'string' ? state : 'problem');

/** Would a virtual server go that the ticket has now? */
function isSmaller({ part }: Contribution, { items }: Entry): boolean {
  if (!part.ok) return false;
  const wanted = part.value.items;
  return Object.entries(items).some(([application, names]) =>
    names.some((name) => name.endsWith('_vs') && wanted[application]?.[name] === undefined),
  );
}
