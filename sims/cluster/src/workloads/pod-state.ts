// What the workload controllers ask of a pod: is it active, ready, available, and since when.
import type { Condition, Pod } from '../kube/objects.ts';

export function conditionOf(conditions: Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** Neither ended nor being deleted. */
export function isActive(pod: Pod): boolean {
  return !isEnded(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** When the pod became ready, in ms; undefined while it is not. */
export function readySince(pod: Pod): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  return Date.parse(ready.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
}

/** Milliseconds until the pod counts as available: 0 when it is, undefined when it is not ready. */
export function untilAvailable(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return Math.max(0, since + minReadySeconds * 1000 - now);
}

export interface Counts {
  ready: number;
  available: number;
  /** When the next ready pod will count as available, ms from now. */
  nextAvailableMs: number | undefined;
}

export function countPods(pods: Pod[], minReadySeconds: number, now: number): Counts {
  const waits = pods.map((pod) => untilAvailable(pod, minReadySeconds, now));
  const pending = waits.filter((wait) => wait !== undefined && wait > 0) as number[];
  return {
    ready: waits.filter((wait) => wait !== undefined).length,
    available: waits.filter((wait) => wait === 0).length,
    nextAvailableMs: pending.length > 0 ? Math.min(...pending) : undefined,
  };
}

/** True when a change of a pod is one that neither its workload nor its Services would notice, such as an annotation. */
export function isSameToOthers(before: Pod | undefined, after: Pod | undefined): boolean {
  if (!before || !after) return false;
  const facts = ({ metadata, spec, status }: Pod) => [
    metadata.uid,
    metadata.deletionTimestamp,
    JSON.stringify(metadata.labels),
    JSON.stringify(metadata.ownerReferences),
    spec.nodeName,
    status?.phase,
    status?.podIP,
    conditionOf(status?.conditions, 'Ready')?.status,
    conditionOf(status?.conditions, 'Ready')?.lastTransitionTime,
  ];
  const [old, now] = [facts(before), facts(after)];
  return old.every((fact, i) => fact === now[i]);
}
