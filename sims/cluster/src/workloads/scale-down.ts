// Which pods of a ReplicaSet go first when there are too many. Pure.
import type { Pod } from '../kube/objects.ts';
import { isReady, readySince } from './pod-state.ts';

/**
 * `pods` in the order they should be deleted. Each row decides only when those above are equal:
 *
 *  1 not bound to a node        before bound
 *  2 Pending, Unknown           before Running
 *  3 not ready                  before ready
 *  4 lower pod-deletion-cost    before higher
 *  5 more of ours on its node   before fewer
 *  6 ready for less time        before longer
 *  7 more restarts              before fewer
 *  8 created later              before earlier
 */
export function deletionOrder(pods: Pod[]): Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of pods) if (spec.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, onNode) }));
  return ranked.sort((a, b) => compare(a.rank, b.rank)).map(({ pod }) => pod);
}

const phases: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };

function rankOf(pod: Pod, onNode: Map<string, number>): number[] {
  const restarts = (pod.status?.containerStatuses ?? []).map((one) => one.restartCount);
  return [
    pod.spec.nodeName ? 1 : 0,
    phases[pod.status?.phase ?? 'Pending'] ?? 2,
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0),
    -(onNode.get(pod.spec.nodeName ?? '') ?? 0),
    -(readySince(pod) ?? 0),
    -Math.max(0, ...restarts),
    -Date.parse(pod.metadata.creationTimestamp ?? ''),
  ];
}

function compare(a: number[], b: number[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i]!;
    if (left !== right) return left - right;
  }
  return 0;
}
