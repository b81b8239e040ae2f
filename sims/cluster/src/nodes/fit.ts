// Whether a node may take a pod. Pure; the rules of the scheduler that matter to a simulated cluster.
import { meets } from '../kube/selector.ts';
import type { Node, NodeSelectorTerm, Pod, Taint, Toleration } from '../kube/objects.ts';

/** Why `node` cannot take `pod`; undefined when it can. `bound` is how many pods it has. */
export function obstacle(pod: Pod, node: Node, bound: number): string | undefined {
  const taint = node.spec?.taints?.find(
    (one) => one.effect !== 'PreferNoSchedule' && !isTolerated(one, pod.spec.tolerations),
  );
  if (taint) return `had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
  if (node.spec?.unschedulable && !isTolerated(cordoned, pod.spec.tolerations)) return 'were unschedulable';
  if (node.status?.conditions?.find((one) => one.type === 'Ready')?.status !== 'True') return 'were not ready';
  if (!isSelected(pod, node)) return "didn't match Pod's node affinity/selector";
  if (bound >= Number(node.status?.allocatable?.['pods'] ?? Number.POSITIVE_INFINITY)) return 'had too many pods';
  return undefined;
}

const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 *  toleration        | tolerates a taint with
 *  ------------------+--------------------------------------
 *  operator Exists   | its key, or any when it has no key
 *  operator Equal    | its key and its value
 *  effect empty      | any effect; else the same effect
 */
export function isTolerated(taint: Taint, tolerations: Toleration[] = []): boolean {
  return tolerations.some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (operator === 'Exists') return !key || key === taint.key;
    return key === taint.key && value === (taint.value ?? '');
  });
}

/** The pod's nodeSelector, and one of the terms of its required node affinity. */
export function isSelected(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  if (Object.entries(pod.spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => meetsTerm(term, node));
}

function meetsTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': metadata.name };
  return (
    matchExpressions.every((one) => meets(one, metadata.labels ?? {})) && matchFields.every((one) => meets(one, fields))
  );
}
