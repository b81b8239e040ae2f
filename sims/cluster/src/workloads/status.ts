// Comparing and moving statuses, so that nothing is written that is already there.
import type { Condition } from '../kube/objects.ts';
import { canonical } from './template.ts';

/** True when writing `wanted` over `found` would change something. Absent, zero and empty are the same, as servers drop them. */
export function differs(found: object | undefined, wanted: object): boolean {
  const relevant = Object.fromEntries(
    Object.keys(wanted).map((key) => [key, (found as Record<string, unknown> | undefined)?.[key]]),
  );
  return canonical(filled(relevant)) !== canonical(filled(wanted));
}

function filled(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, v]) => v !== undefined && v !== 0 && !(Array.isArray(v) && v.length === 0)),
  );
}

/** `conditions` with `next` in its place; its lastTransitionTime moves only when the status does. */
export function withCondition(conditions: Condition[], next: Condition, now: string): Condition[] {
  const before = conditions.find((one) => one.type === next.type);
  if (before && before.status === next.status && before.reason === next.reason && before.message === next.message)
    return conditions;
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? now) : now;
  const placed = { ...next, lastTransitionTime };
  return before ? conditions.map((one) => (one === before ? placed : one)) : [...conditions, placed];
}
