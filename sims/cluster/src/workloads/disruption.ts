// PodDisruptionBudgets: keeps their status, by which the API server decides about evictions.
import { timestamp } from '../clock.ts';
import type { Controller, Kit, Stores } from '../kit.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import type { Condition, Pod, PodDisruptionBudget } from '../kube/objects.ts';
import { matches } from '../kube/selector.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import type { Budget } from './budget.ts';
import { budgetOf } from './budget.ts';
import { controllerOf } from './owners.ts';
import { isSameToOthers } from './pod-state.ts';
import { differs, withCondition } from './status.ts';

/** Notes of evictions grow old without any event. */
const lookAgain = 30_000;

export function disruptionBudgets(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'disruption', timers, log, turn: (key) => turn(kit, key) });
  stores.poddisruptionbudgets.onChange(({ key }) => turns.add(key));
  stores.pods.onChange(({ before, after }) => {
    if (isSameToOthers(before, after)) return;
    for (const pod of [before, after]) {
      for (const one of pod ? stores.poddisruptionbudgets.by('namespace', pod.metadata.namespace ?? '') : []) {
        if (isFor(one, pod!)) turns.add(keyOf(one));
      }
    }
  });
  return turns;
}

/** In policy/v1 an empty selector means every pod of the namespace, and none at all means no pod. */
function isFor({ spec }: PodDisruptionBudget, pod: Pod): boolean {
  return spec.selector !== undefined && matches(spec.selector, pod.metadata.labels);
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { stores, client, clock } = kit;
  const budget = stores.poddisruptionbudgets.get(key);
  if (!budget || budget.metadata.deletionTimestamp) return { after: 'change' };
  const pods = [...stores.pods.by('namespace', budget.metadata.namespace ?? '')].filter((pod) => isFor(budget, pod));
  const found = budgetOf(budget, pods, { scale: scaleOf(stores, pods), now: clock.now() });
  const rest = pods.length * 0.1;
  const after = Object.keys(found.disruptedPods).length > 0 ? lookAgain : 'change';
  const status = {
    ...found,
    disruptedPods: patchOf(budget, found),
    observedGeneration: budget.metadata.generation ?? 0,
    conditions: conditions(budget, found, clock.now()),
  };
  if (!differs(budget.status, { ...status, disruptedPods: found.disruptedPods })) return { after, rest };
  // With the version: an eviction noted meanwhile must not be overlooked, or one too many is allowed.
  const { resourceVersion } = budget.metadata;
  const result = await client.patch(
    kinds.podDisruptionBudget,
    budget.metadata,
    { metadata: { resourceVersion }, status },
    { subresource: 'status' },
  );
  return result.ok || result.problem.status === 404 ? { after, rest } : { problem: result.problem };
}

/** In a merge patch, what is no longer there must be named to go. */
function patchOf({ status }: PodDisruptionBudget, { disruptedPods }: Budget): Record<string, string | null> {
  const dropped = Object.keys(status?.disruptedPods ?? {}).map((name): [string, null] => [name, null]);
  return { ...Object.fromEntries(dropped), ...disruptedPods };
}

/** How many pods the controllers of `pods` are to have, each counted once; a pod on its own counts for itself. */
function scaleOf(stores: Stores, pods: Pod[]): number {
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const key = `${pod.metadata.namespace}/${owner?.name}`;
    const set = owner?.kind === 'ReplicaSet' ? stores.replicasets.get(key) : undefined;
    const over = set && controllerOf(set);
    const deployment =
      over?.kind === 'Deployment' ? stores.deployments.get(`${pod.metadata.namespace}/${over.name}`) : undefined;
    const found = deployment ?? set ?? (owner?.kind === 'StatefulSet' ? stores.statefulsets.get(key) : undefined);
    sizes.set(found?.metadata.uid ?? pod.metadata.uid, found ? (found.spec.replicas ?? 1) : 1);
  }
  return [...sizes.values()].reduce((sum, n) => sum + n, 0);
}

function conditions(
  { metadata, status }: PodDisruptionBudget,
  { disruptionsAllowed }: Budget,
  now: number,
): Condition[] {
  const isAllowed = disruptionsAllowed > 0;
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: metadata.generation ?? 0,
  };
  return withCondition(status?.conditions ?? [], next, timestamp(now));
}
