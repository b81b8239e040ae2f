// A Deployment's status: counts, and the conditions Available, Progressing and ReplicaFailure. Pure.
import { timestamp } from '../clock.ts';
import type { Problem } from '../kube/client.ts';
import type { Condition, Deployment, DeploymentStatus, ReplicaSet } from '../kube/objects.ts';
import { conditionOf } from './pod-state.ts';
import { withCondition } from './status.ts';

export interface Seen {
  deployment: Deployment;
  sets: ReplicaSet[];
  newest: ReplicaSet | undefined;
  maxUnavailable: number;
  problem: Problem | undefined;
  now: number;
}

/** `deadlineMs`: when to look again because a rollout would then be overdue. */
export function deploymentStatus(seen: Seen): { status: DeploymentStatus; deadlineMs: number | undefined } {
  const { deployment, sets, newest, now } = seen;
  const desired = deployment.spec.replicas ?? 1;
  const total = (of: (set: ReplicaSet) => number | undefined) => sets.reduce((n, set) => n + (of(set) ?? 0), 0);
  const available = total((set) => set.status?.availableReplicas);
  const told = total((set) => set.spec.replicas);
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: total((set) => set.status?.replicas),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: total((set) => set.status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, told - available),
  };
  const at = timestamp(now);
  let conditions = deployment.status?.conditions ?? [];
  conditions = withCondition(conditions, availability(available >= desired - seen.maxUnavailable), at);
  const progress = progressing(seen, counts);
  if (progress.condition) conditions = moved(conditions, progress.condition, { at, isNews: progress.isNews });
  conditions = replicaFailure(conditions, seen, at);
  return { status: { ...counts, conditions }, deadlineMs: progress.deadlineMs };
}

function availability(isEnough: boolean): Condition {
  return isEnough
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

interface Progress {
  condition?: Condition;
  /** Progress was made just now: the deadline starts anew. */
  isNews: boolean;
  deadlineMs?: number | undefined;
}

/**
 * The Progressing condition:
 *
 *  state                                   | status  | reason
 *  ----------------------------------------+---------+---------------------------
 *  paused                                  | Unknown | DeploymentPaused
 *  all pods new, available, none left over | True    | NewReplicaSetAvailable
 *  counts moved since the last status      | True    | ReplicaSetUpdated
 *  the newest ReplicaSet was just made     | True    | NewReplicaSetCreated
 *  no movement for progressDeadlineSeconds | False   | ProgressDeadlineExceeded
 */
function progressing({ deployment, newest, now }: Seen, counts: DeploymentStatus): Progress {
  const { spec, status, metadata } = deployment;
  const desired = spec.replicas ?? 1;
  const before = conditionOf(status?.conditions, 'Progressing');
  const say = (state: Condition['status'], reason: string, message: string): Condition => ({
    type: 'Progressing',
    status: state,
    reason,
    message,
  });
  if (spec.paused) return { condition: say('Unknown', 'DeploymentPaused', 'Deployment is paused'), isNews: false };
  const named = newest ? `ReplicaSet "${newest.metadata.name}"` : `Deployment "${metadata.name}"`;

  const isComplete =
    newest && counts.updatedReplicas === desired && counts.replicas === desired && counts.availableReplicas === desired;
  if (isComplete)
    return { condition: say('True', 'NewReplicaSetAvailable', `${named} has successfully progressed.`), isNews: false };
  const isMoving =
    counts.updatedReplicas !== (status?.updatedReplicas ?? 0) ||
    (counts.readyReplicas ?? 0) > (status?.readyReplicas ?? 0) ||
    (counts.availableReplicas ?? 0) > (status?.availableReplicas ?? 0) ||
    before?.reason === 'NewReplicaSetAvailable';
  if (!before)
    return {
      condition: say('True', 'NewReplicaSetCreated', `Created new replica set "${newest?.metadata.name ?? ''}"`),
      isNews: true,
    };
  const limitMs = (spec.progressDeadlineSeconds ?? 600) * 1000;
  if (isMoving || before.reason === 'DeploymentPaused') {
    return {
      condition: say('True', 'ReplicaSetUpdated', `${named} is progressing.`),
      isNews: true,
      deadlineMs: limitMs,
    };
  }
  if (before.reason === 'ProgressDeadlineExceeded') return { condition: before, isNews: false };
  const left = Date.parse(before.lastUpdateTime ?? before.lastTransitionTime ?? '') + limitMs - now;
  if (left > 0) return { condition: before, isNews: false, deadlineMs: left };
  return { condition: say('False', 'ProgressDeadlineExceeded', `${named} has timed out progressing.`), isNews: false };
}

function moved(conditions: Condition[], next: Condition, { at, isNews }: { at: string; isNews: boolean }): Condition[] {
  const placed = withCondition(conditions, next, at);
  const before = conditionOf(conditions, next.type);
  const isChanged = placed !== conditions;
  return placed.map((one) => {
    if (one.type !== next.type) return one;
    return { ...one, lastUpdateTime: isNews || isChanged ? at : (before?.lastUpdateTime ?? at) };
  });
}

function replicaFailure(conditions: Condition[], { sets, problem }: Seen, at: string): Condition[] {
  const failed = sets.map((set) => conditionOf(set.status?.conditions, 'ReplicaFailure')).find(Boolean);
  const others = conditions.filter((one) => one.type !== 'ReplicaFailure');
  if (!failed && !problem) return others;
  const reason = failed?.reason ?? 'ReplicaSetCreateError';
  return withCondition(
    conditions,
    { type: 'ReplicaFailure', status: 'True', reason, message: failed?.message ?? problem?.message },
    at,
  );
}
