// The arithmetic of a Deployment's rolling update: how many replicas each of its ReplicaSets should have next. Pure.
import type { IntOrString } from '../kube/objects.ts';

/** A ReplicaSet of the Deployment. `size` is what it was told, `available` what it has. */
export interface Set {
  name: string;
  size: number;
  available: number;
}

export interface Rollout {
  desired: number;
  maxSurge: number;
  maxUnavailable: number;
  newest: Set;
  /** Oldest first. */
  old: Set[];
}

/**
 * maxSurge rounds up and maxUnavailable down; when both come to nothing the rollout could never
 * move, so one pod may then be unavailable.
 */
export function limits(desired: number, surge: IntOrString = '25%', unavailable: IntOrString = '25%') {
  const maxSurge = absolute(surge, desired, Math.ceil);
  const maxUnavailable = absolute(unavailable, desired, Math.floor);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : Math.min(maxUnavailable, desired) };
}

/**
 * The sizes to set next, by name; empty when nothing can move until a pod becomes available or goes.
 * Scaling up comes first, and only when it has nothing to do are old pods taken down:
 *
 *  newest            | total              | then
 *  ------------------+--------------------+-----------------------------------------------------
 *  above desired     | any                | newest = desired
 *  below desired     | below desired+surge| newest grows into the room there is
 *  otherwise         | any                | old ones shrink: unavailable pods first, then as many
 *                    |                    | as leaves desired - maxUnavailable available
 */
export function nextSizes(rollout: Rollout): Map<string, number> {
  const { desired, maxSurge, newest, old } = rollout;
  const total = newest.size + sum(old, (set) => set.size);
  if (newest.size > desired) return new Map([[newest.name, desired]]);
  const room = Math.min(desired - newest.size, desired + maxSurge - total);
  if (room > 0) return new Map([[newest.name, newest.size + room]]);
  return shrinkOld(rollout, total);
}

function shrinkOld({ desired, maxUnavailable, newest, old }: Rollout, total: number): Map<string, number> {
  const sizes = new Map<string, number>();
  const leastAvailable = desired - maxUnavailable;
  // New pods that are not available yet may never become so: they must not count as cover for old ones.
  let mayGo = total - leastAvailable - (newest.size - newest.available);
  if (mayGo <= 0) return sizes;

  for (const set of old) {
    const broken = Math.min(mayGo, Math.max(0, set.size - set.available));
    if (broken > 0) sizes.set(set.name, set.size - broken);
    mayGo -= broken;
  }
  let surplus = newest.available + sum(old, (set) => Math.min(set.available, set.size)) - leastAvailable;
  for (const set of old) {
    const size = sizes.get(set.name) ?? set.size;
    const fewer = Math.min(size, Math.max(0, surplus));
    if (fewer > 0) sizes.set(set.name, size - fewer);
    surplus -= fewer;
  }
  return sizes;
}

export interface Scaled extends Set {
  /** desired + maxSurge when the set was last sized: the whole its size was a share of. */
  whole: number;
}

/**
 * Sizes after the Deployment itself was scaled in the middle of a rollout: each set keeps its share,
 * what rounding leaves goes to the largest. `sets` come largest first.
 */
export function shares(desired: number, maxSurge: number, sets: Scaled[]): Map<string, number> {
  const sizes = new Map<string, number>();
  const allowed = desired > 0 ? desired + maxSurge : 0;
  const toAdd = allowed - sum(sets, (set) => set.size);
  let left = toAdd;
  for (const set of sets) {
    const ideal = desired === 0 ? 0 : Math.round((set.size * allowed) / set.whole);
    const change = ideal - set.size;
    const part = toAdd > 0 ? Math.min(Math.max(0, change), left) : Math.max(Math.min(0, change), left);
    sizes.set(set.name, Math.max(0, set.size + part));
    left -= part;
  }
  const first = sets[0];
  if (first && left !== 0) sizes.set(first.name, Math.max(0, sizes.get(first.name)! + left));
  return sizes;
}

/** A count that may be a percentage of `of`. Anything else is a bug: the server has checked it. */
export function absolute(value: IntOrString, of: number, round: (n: number) => number): number {
  if (typeof value === 'number') return value;
  const [, percent] = /^(\d+)%$/.exec(value) ?? [];
  if (percent === undefined) throw new Error(`bug: ${value} is neither a number nor a percentage`);
  return round((Number(percent) * of) / 100);
}

function sum<T>(list: T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0);
}
