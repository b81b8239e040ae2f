// Revisions of a Deployment: which ReplicaSet is its newest, what is noted on it, and which old ones may go. Pure.
import type { Deployment, Labels, ReplicaSet } from '../kube/objects.ts';
import { isSameTemplate } from './template.ts';

const prefix = 'deployment.kubernetes.io/';

export function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata.annotations?.[`${prefix}revision`] ?? 0);
}

/** The ReplicaSet made of the Deployment's present template; the oldest when an unlucky start left two. `sets` come oldest first. */
export function newestSet(deployment: Deployment, sets: ReplicaSet[]): ReplicaSet | undefined {
  return sets.find((set) => isSameTemplate(set.spec.template, deployment.spec.template, 'pod-template-hash'));
}

export interface Noted {
  present: ReplicaSet | undefined;
  maxSurge: number;
}

/**
 * Annotations the newest ReplicaSet should have: the Deployment's own (so that `kubectl rollout history` shows its
 * change-cause), the revision, which only rises, and those it had before.
 */
export function annotationsFor(deployment: Deployment, revision: number, { present, maxSurge }: Noted): Labels {
  const desired = deployment.spec.replicas ?? 1;
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !key.startsWith(prefix) && key !== 'kubectl.kubernetes.io/last-applied-configuration',
  );
  const before = present ? revisionOf(present) : 0;
  const history = present?.metadata.annotations?.[`${prefix}revision-history`];
  const past = before > 0 && before < revision ? [history, String(before)].filter(Boolean).join(',') : history;
  return {
    ...Object.fromEntries(own),
    [`${prefix}revision`]: String(Math.max(before, revision)),
    ...(past && { [`${prefix}revision-history`]: past }),
    ...(!present && {
      [`${prefix}desired-replicas`]: String(desired),
      [`${prefix}max-replicas`]: String(desired + maxSurge),
    }),
  };
}

/** Old ReplicaSets beyond the history limit, oldest revision first; one that still has or wants pods stays. */
export function overdueHistory(deployment: Deployment, old: ReplicaSet[]): ReplicaSet[] {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const empty = old.filter(
    ({ spec, status, metadata }) =>
      (spec.replicas ?? 0) === 0 &&
      (status?.replicas ?? 0) === 0 &&
      (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0) &&
      metadata.deletionTimestamp === undefined,
  );
  return empty.sort((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, empty.length - limit));
}
