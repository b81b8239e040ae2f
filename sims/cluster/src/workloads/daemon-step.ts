// What a DaemonSet does next, node by node. Pure.
import type { Node, Pod, Toleration } from '../kube/objects.ts';
import { isSelected, isTolerated } from '../nodes/fit.ts';
import { revisionLabel } from './controller-revision.ts';
import { isEnded } from './pod-state.ts';

/** Daemon pods run where others may not: what every DaemonSet's pods tolerate. */
export const daemonTolerations: Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

/** The node a daemon pod is for, bound yet or not. */
export function nodeOf({ spec }: Pod): string | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return spec.nodeName ?? terms?.[0]?.matchFields?.find((one) => one.key === 'metadata.name')?.values?.[0];
}

/** True when a pod of this template belongs on the node. */
export function isWanted(template: Pod, node: Node): boolean {
  const tolerations = [...(template.spec.tolerations ?? []), ...daemonTolerations];
  return (
    isSelected(template, node) &&
    (node.spec?.taints ?? []).every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, tolerations))
  );
}

export interface Daemons {
  /** Names of nodes that are to have a pod. */
  wanted: Set<string>;
  pods: Pod[];
  update: string;
  /** Undefined: the strategy is OnDelete. */
  rolling: { maxSurge: number; maxUnavailable: number } | undefined;
  isAvailable(pod: Pod): boolean;
}

export interface DaemonStep {
  make: string[];
  remove: Pod[];
}

/**
 *  node     | pods alive there                 | then
 *  ---------+----------------------------------+----------------------------------------------------
 *  unwanted | any                              | remove
 *  wanted   | none                             | make, unless one is still terminating
 *  wanted   | ended                            | remove (made again when it is gone)
 *  wanted   | old one, unavailable             | remove
 *  wanted   | old one, no surge                | remove, while maxUnavailable is not reached
 *  wanted   | old one, with surge              | make a new one beside it, while maxSurge is not reached
 *  wanted   | old one and an available new one | remove the old one
 */
export function daemonStep({ wanted, pods, update, rolling, isAvailable }: Daemons): DaemonStep {
  const step: DaemonStep = { make: [], remove: [] };
  const byNode = new Map<string, Pod[]>([...wanted].map((name) => [name, []]));
  for (const pod of pods) {
    const name = nodeOf(pod);
    if (name !== undefined && byNode.has(name)) byNode.get(name)!.push(pod);
    else if (!pod.metadata.deletionTimestamp) step.remove.push(pod);
  }
  const isNew = (pod: Pod) => pod.metadata.labels?.[revisionLabel] === update;
  const outdated: { node: string; old: Pod; next: Pod | undefined }[] = [];
  let unavailable = 0;
  let surging = 0;
  for (const [node, all] of byNode) {
    const alive = all.filter((pod) => !isEnded(pod) && !pod.metadata.deletionTimestamp);
    step.remove.push(...all.filter((pod) => isEnded(pod) && !pod.metadata.deletionTimestamp));
    if (all.length === 0) step.make.push(node);
    if (!alive.some(isAvailable)) unavailable += 1;
    const old = alive.find((pod) => !isNew(pod));
    const next = alive.find(isNew);
    if (old && next) surging += 1;
    if (old) outdated.push({ node, old, next });
  }
  if (!rolling) return step;
  let mayGo = rolling.maxUnavailable - unavailable;
  let maySurge = rolling.maxSurge - surging;
  for (const { node, old, next } of outdated) {
    if (next ? isAvailable(next) : !isAvailable(old)) step.remove.push(old);
    else if (!next && rolling.maxSurge === 0 && (mayGo -= 1) >= 0) step.remove.push(old);
    else if (!next && rolling.maxSurge > 0 && (maySurge -= 1) >= 0) step.make.push(node);
  }
  return step;
}
