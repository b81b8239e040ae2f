// What a StatefulSet does next: which ordinals to make, which pods to take away. Pure.
import type { Pod } from '../kube/objects.ts';
import { revisionLabel } from './controller-revision.ts';
import { isEnded } from './pod-state.ts';

export interface Ordered {
  /** First ordinal and how many. */
  start: number;
  replicas: number;
  /** By ordinal; also those beyond the end. */
  pods: Map<number, Pod>;
  /** Pods are made and removed without waiting for each other. */
  isParallel: boolean;
  /** Pods below this ordinal keep the current revision; undefined: the strategy is OnDelete. */
  partition: number | undefined;
  /** How many ordinals from `start` still have the current revision while no partition is set. */
  currentReplicas: number;
  current: string;
  update: string;
  isAvailable(pod: Pod): boolean;
}

export interface StatefulStep {
  make: { ordinal: number; revision: string }[];
  remove: Pod[];
}

/**
 * One step. With OrderedReady only one pod moves at a time:
 *
 *  ordinals 0 … replicas-1, upwards     | then
 *  -------------------------------------+--------------------------------------------------
 *  missing                              | make it, and wait
 *  ended                                | remove it (it is made again), and wait
 *  terminating, or not available        | wait
 *  ordinals beyond, downwards           | remove, one at a time, when all below are available
 *  all in place: older revision, downwards to the partition | remove, one at a time, when those above are available
 *
 * With Parallel nothing waits, except an update, which always takes one pod at a time.
 */
export function statefulStep(set: Ordered): StatefulStep {
  const step: StatefulStep = { make: [], remove: [] };
  const end = set.start + set.replicas;
  for (let ordinal = set.start; ordinal < end; ordinal += 1) {
    const pod = set.pods.get(ordinal);
    const isSettled = pod && !isEnded(pod) && !pod.metadata.deletionTimestamp && set.isAvailable(pod);
    if (isSettled) continue;
    if (!pod) step.make.push({ ordinal, revision: revisionFor(set, ordinal) });
    else if (isEnded(pod) && !pod.metadata.deletionTimestamp) step.remove.push(pod);
    if (!set.isParallel) return step;
  }
  const beyond = [...set.pods].filter(([ordinal]) => ordinal < set.start || ordinal >= end).sort(([a], [b]) => b - a);
  for (const [, pod] of beyond) {
    if (!pod.metadata.deletionTimestamp) step.remove.push(pod);
    if (!set.isParallel) return step;
  }
  return step.make.length + step.remove.length + beyond.length > 0 ? step : { make: [], remove: outdated(set, end) };
}

function outdated(set: Ordered, end: number): Pod[] {
  if (set.partition === undefined) return [];
  for (let ordinal = end - 1; ordinal >= set.start + set.partition; ordinal -= 1) {
    const pod = set.pods.get(ordinal);
    if (!pod || pod.metadata.deletionTimestamp) return [];
    if (pod.metadata.labels?.[revisionLabel] !== set.update) return [pod];
    if (!set.isAvailable(pod)) return [];
  }
  return [];
}

/** A pod that went during an update comes back with the revision its ordinal is to have just now. */
function revisionFor({ start, partition, currentReplicas, current, update }: Ordered, ordinal: number): string {
  const kept = partition ? partition : currentReplicas;
  return ordinal < start + kept ? current : update;
}
