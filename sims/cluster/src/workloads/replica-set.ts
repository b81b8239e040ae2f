// ReplicaSet: keep as many pods as it says, made from its template.
import type { Controller, Kit } from '../kit.ts';
import type { Problem, Result } from '../kube/client.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import type { Condition, Draft, Pod, ReplicaSet } from '../kube/objects.ts';
import { matches } from '../kube/selector.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { timestamp } from '../clock.ts';
import { claim, controllerOf } from './owners.ts';
import { conditionOf, countPods, isActive, isSameToOthers } from './pod-state.ts';
import { deletionOrder } from './scale-down.ts';
import { differs } from './status.ts';
import { podOf } from './template.ts';

/** Most pods made or deleted in one turn, as in Kubernetes. */
const burst = 500;
/** Ms without another turn, for each pod: counting thousands of them again for every one that changes would be all we do. */
const restWritten = 0.1;
const restUnchanged = 0.02;

export function replicaSets(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'replicaset', timers, log, turn: (key) => turn(kit, key) });
  stores.replicasets.onChange(({ key }) => turns.add(key));
  stores.pods.onChange(({ before, after }) => {
    if (isSameToOthers(before, after)) return;
    for (const pod of [before, after]) if (pod) for (const key of ownersOf(kit, pod)) turns.add(key);
  });
  return turns;
}

function ownersOf({ stores }: Kit, pod: Pod): string[] {
  const controller = controllerOf(pod);
  if (controller) return controller.kind === 'ReplicaSet' ? [`${pod.metadata.namespace}/${controller.name}`] : [];
  // An orphan may be adopted by any ReplicaSet whose selector it meets; orphans are rare, so looking at all is cheap enough.
  const found = [...stores.replicasets.all()].filter(
    (set) => set.metadata.namespace === pod.metadata.namespace && matches(set.spec.selector, pod.metadata.labels),
  );
  return found.map(keyOf);
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { client, stores, clock } = kit;
  const set = stores.replicasets.get(key);
  if (!set) return { after: 'change' };
  const { uid, namespace } = set.metadata;
  const candidates = [...stores.pods.by('controller', uid), ...stores.pods.by('controller', `orphan/${namespace}`)];
  const claimed = await claim({ client, ownerKind: kinds.replicaSet, owner: set, kind: kinds.pod, candidates });
  const active = claimed.owned.filter(isActive);
  const problem = set.metadata.deletionTimestamp ? undefined : await resize(kit, set, active);

  const kept = stores.pods.by('controller', uid).filter(isActive);
  const counts = countPods(kept, set.spec.minReadySeconds ?? 0, clock.now());
  const written = await report(kit, set, { pods: kept, ...counts, problem });
  const failed = problem ?? claimed.problem ?? written.problem;
  if (failed) return { problem: failed };
  return {
    after: counts.nextAvailableMs ?? 'change',
    rest: kept.length * (written.isNew ? restWritten : restUnchanged),
  };
}

async function resize(kit: Kit, set: ReplicaSet, pods: Pod[]): Promise<Problem | undefined> {
  const missing = (set.spec.replicas ?? 1) - pods.length;
  if (missing > 0) return grow(kit, set, Math.min(missing, burst));
  if (missing < 0) return shrink(kit, set, deletionOrder(pods).slice(0, Math.min(-missing, burst)));
  return undefined;
}

/** Makes pods in batches of 1, 2, 4, …: when the server refuses one it would refuse the others too. */
async function grow(kit: Kit, set: ReplicaSet, missing: number): Promise<Problem | undefined> {
  const draft = podOf({ ownerKind: kinds.replicaSet, owner: set, template: set.spec.template });
  for (let left = missing, batch = 1; left > 0; left -= batch, batch *= 2) {
    batch = Math.min(batch, left);
    const results = await Promise.all(Array.from({ length: batch }, () => makePod(kit, draft)));
    for (const result of results) {
      if (result.ok) kit.record(set, 'Normal', 'SuccessfulCreate', `Created pod: ${result.value.metadata.name}`);
      else {
        kit.record(set, 'Warning', 'FailedCreate', `Error creating: ${result.problem.message}`);
        return result.problem;
      }
    }
  }
  return undefined;
}

/** A generated name may be taken already: among ten thousand pods of one owner it happens. */
async function makePod({ client }: Kit, draft: Draft<Pod>): Promise<Result<Pod>> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await client.create(kinds.pod, draft);
    if (result.ok || result.problem.reason !== 'AlreadyExists' || attempt === 5) return result;
  }
}

async function shrink(kit: Kit, set: ReplicaSet, pods: Pod[]): Promise<Problem | undefined> {
  const results = await Promise.all(
    pods.map((pod) => kit.client.remove(kinds.pod, pod.metadata, { uid: pod.metadata.uid })),
  );
  for (const [i, result] of results.entries()) {
    if (!result.ok) return result.problem;
    kit.record(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pods[i]!.metadata.name}`);
  }
  return undefined;
}

interface Found {
  pods: Pod[];
  ready: number;
  available: number;
  problem: Problem | undefined;
}

/** `isNew`: the status was another than before. */
interface Written {
  isNew: boolean;
  problem?: Problem;
}

async function report(kit: Kit, set: ReplicaSet, { pods, ready, available, problem }: Found): Promise<Written> {
  const labels = set.spec.template.metadata?.labels ?? {};
  const status = {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) => matches({ matchLabels: labels }, pod.metadata.labels)).length,
    readyReplicas: ready,
    availableReplicas: available,
    observedGeneration: set.metadata.generation ?? 0,
    conditions: failureCondition(set, problem, timestamp(kit.clock.now())),
  };
  if (!differs(set.status, status)) return { isNew: false };
  const result = await kit.client.patch(kinds.replicaSet, set.metadata, { status }, { subresource: 'status' });
  return result.ok || result.problem.status === 404 ? { isNew: true } : { isNew: false, problem: result.problem };
}

function failureCondition(set: ReplicaSet, problem: Problem | undefined, now: string): Condition[] {
  const others = (set.status?.conditions ?? []).filter((one) => one.type !== 'ReplicaFailure');
  if (!problem) return others;
  const present = conditionOf(set.status?.conditions, 'ReplicaFailure');
  const lastTransitionTime = present?.lastTransitionTime ?? now;
  return [
    ...others,
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: problem.message, lastTransitionTime },
  ];
}
