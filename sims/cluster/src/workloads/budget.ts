// How many pods of a PodDisruptionBudget may be evicted now. Pure.
import type { IntOrString, Pod, PodDisruptionBudget } from '../kube/objects.ts';
import { isActive, isReady } from './pod-state.ts';
import { absolute } from './rolling.ts';

export interface Budget {
  expectedPods: number;
  currentHealthy: number;
  desiredHealthy: number;
  disruptionsAllowed: number;
  /** Evictions the API server noted whose pod still seems healthy; it counts them itself until we take them up. */
  disruptedPods: Record<string, string>;
}

/** An eviction that was allowed but whose pod did not go in this time is forgotten. */
const forgottenMs = 120_000;

/**
 * `scale` is how many pods the controllers of these pods are to have in all.
 *
 *  spec                  | expected        | desired healthy
 *  ----------------------+-----------------+-------------------------------
 *  minAvailable: 3       | pods there are  | 3
 *  minAvailable: 50%     | scale           | half of scale, rounded up
 *  maxUnavailable: 1     | scale           | scale - 1
 *  maxUnavailable: 25%   | scale           | scale - a quarter, rounded up
 */
export function budgetOf(
  { spec, status }: PodDisruptionBudget,
  pods: Pod[],
  { scale, now }: { scale: number; now: number },
): Budget {
  const { minAvailable, maxUnavailable } = spec;
  const isFixed = typeof minAvailable === 'number';
  const expectedPods = isFixed ? pods.length : scale;
  const least = maxUnavailable === undefined ? up(minAvailable ?? 1, scale) : scale - up(maxUnavailable, scale);
  const desiredHealthy = Math.max(0, least);
  const noted = Object.entries(status?.disruptedPods ?? {}).filter(([name, time]) => {
    const pod = pods.find((one) => one.metadata.name === name);
    return pod !== undefined && pod.metadata.deletionTimestamp === undefined && now - Date.parse(time) < forgottenMs;
  });
  const disruptedPods = Object.fromEntries(noted);
  const currentHealthy = pods.filter(
    (pod) => isActive(pod) && isReady(pod) && disruptedPods[pod.metadata.name] === undefined,
  ).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  return { expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed, disruptedPods };
}

function up(value: IntOrString, of: number): number {
  return absolute(value, of, Math.ceil);
}
