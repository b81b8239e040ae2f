// Deployment: one ReplicaSet for each template it ever had, sized step by step towards the newest.
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import { matches } from '../kube/selector.ts';
import type { Deployment, KubeObject, ReplicaSet } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { deploymentStatus } from './deployment-status.ts';
import { claim, controllerOf } from './owners.ts';
import { isEnded } from './pod-state.ts';
import { annotationsFor, newestSet, overdueHistory, revisionOf } from './revisions.ts';
import type { Set } from './rolling.ts';
import { limits, nextSizes, shares } from './rolling.ts';
import { differs } from './status.ts';
import { templateHash } from './template.ts';

const hashLabel = 'pod-template-hash';

export function deployments(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'deployment', timers, log, turn: (key) => turn(kit, key) });
  stores.deployments.onChange(({ key }) => turns.add(key));
  stores.replicasets.onChange(({ before, after }) => {
    for (const set of [before, after]) if (set) for (const key of deploymentsOf(kit, set)) turns.add(key);
  });
  // Recreate waits for the last old pod to be gone, which no ReplicaSet status tells.
  stores.pods.onChange(({ before, after }) => {
    const owner = before && !after ? controllerOf(before) : undefined;
    const set = owner && stores.replicasets.get(`${before!.metadata.namespace}/${owner.name}`);
    if (set) for (const key of deploymentsOf(kit, set)) turns.add(key);
  });
  return turns;
}

function deploymentsOf({ stores }: Kit, set: KubeObject): string[] {
  const { namespace = '', labels } = set.metadata;
  const owner = controllerOf(set);
  if (owner) return owner.kind === 'Deployment' ? [`${namespace}/${owner.name}`] : [];
  return stores.deployments
    .by('namespace', namespace)
    .filter((one) => matches(one.spec.selector, labels))
    .map(keyOf);
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { client, stores } = kit;
  const deployment = stores.deployments.get(key);
  if (!deployment) return { after: 'change' };
  const { uid, namespace } = deployment.metadata;
  const candidates = [
    ...stores.replicasets.by('controller', uid),
    ...stores.replicasets.by('controller', `orphan/${namespace}`),
  ];
  const claimed = await claim({
    client,
    ownerKind: kinds.deployment,
    owner: deployment,
    kind: kinds.replicaSet,
    candidates,
  });
  const sets = claimed.owned.sort(byAge);
  const problem = deployment.metadata.deletionTimestamp ? undefined : await roll(kit, deployment, sets);
  const current = stores.replicasets.by('controller', uid).sort(byAge);
  const reported = await report(kit, deployment, current, problem);
  const failed = problem ?? claimed.problem;
  if (failed) return { problem: failed };
  if (!reported.ok) return { problem: reported.problem };
  return { after: reported.againMs ?? 'change' };
}

/** One step: the newest ReplicaSet exists, then sizes move as the strategy lets them. */
async function roll(kit: Kit, deployment: Deployment, sets: ReplicaSet[]): Promise<Problem | undefined> {
  const { spec } = deployment;
  const desired = spec.replicas ?? 1;
  const present = newestSet(deployment, sets);
  if (spec.paused || isScaled(deployment, sets)) return resizeAll(kit, deployment, sets);

  const isRecreate = spec.strategy?.type === 'Recreate';
  const old = sets.filter((set) => set !== present);
  if (isRecreate) {
    const shrunk = await setSizes(kit, deployment, old, new Map(old.map((set) => [set.metadata.name, 0])));
    if (shrunk) return shrunk;
    if (old.some((set) => kit.stores.pods.by('controller', set.metadata.uid).some((pod) => !isEnded(pod))))
      return undefined;
  }
  const made = await ensureNewest(kit, deployment, { sets, present, size: isRecreate ? desired : 0 });
  if (!made.ok) return made.problem;
  const newest = made.value;
  const sizes = isRecreate
    ? new Map([[newest.metadata.name, desired]])
    : nextSizes({ desired, ...bounds(deployment), newest: sizeOf(newest), old: old.map(sizeOf) });
  const failed = await setSizes(kit, deployment, [newest, ...old], sizes);
  return failed ?? (await cleanUp(kit, deployment, old));
}

function bounds({ spec }: Deployment) {
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {};
  return limits(spec.replicas ?? 1, maxSurge, maxUnavailable);
}

function sizeOf(set: ReplicaSet): Set {
  return { name: set.metadata.name, size: set.spec.replicas ?? 0, available: set.status?.availableReplicas ?? 0 };
}

/** True when somebody scaled the Deployment since its sets were sized. */
function isScaled({ spec }: Deployment, sets: ReplicaSet[]): boolean {
  return sets.some((set) => {
    const noted = set.metadata.annotations?.['deployment.kubernetes.io/desired-replicas'];
    return (set.spec.replicas ?? 0) > 0 && noted !== undefined && Number(noted) !== (spec.replicas ?? 1);
  });
}

async function resizeAll(kit: Kit, deployment: Deployment, sets: ReplicaSet[]): Promise<Problem | undefined> {
  const desired = deployment.spec.replicas ?? 1;
  const active = sets.filter((set) => (set.spec.replicas ?? 0) > 0);
  const newest = newestSet(deployment, sets);
  const only = active.length <= 1 ? (active[0] ?? newest) : undefined;
  if (only) return setSizes(kit, deployment, sets, new Map([[only.metadata.name, desired]]));
  const { maxSurge } = bounds(deployment);
  const largestFirst = active
    .map((set) => ({
      ...sizeOf(set),
      whole: Number(set.metadata.annotations?.['deployment.kubernetes.io/max-replicas'] ?? desired + maxSurge),
    }))
    .sort((a, b) => b.size - a.size);
  return setSizes(kit, deployment, active, shares(desired, maxSurge, largestFirst));
}

interface Newest {
  sets: ReplicaSet[];
  present: ReplicaSet | undefined;
  size: number;
}

async function ensureNewest(kit: Kit, deployment: Deployment, { sets, present, size }: Newest) {
  const { metadata, spec, status } = deployment;
  const revision = Math.max(0, ...sets.filter((set) => set !== present).map(revisionOf)) + 1;
  const annotations = annotationsFor(deployment, revision, { present, maxSurge: bounds(deployment).maxSurge });
  if (present) {
    const isNoted = !differs(present.metadata.annotations, annotations);
    return isNoted
      ? ({ ok: true, value: present } as const)
      : kit.client.patch(kinds.replicaSet, present.metadata, { metadata: { annotations } });
  }
  const hash = templateHash(spec.template, status?.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [hashLabel]: hash };
  const made = await kit.client.create(kinds.replicaSet, {
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace,
      labels,
      annotations,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas: size,
      ...(spec.minReadySeconds && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  });
  if (made.ok && size > 0) scaledEvent(kit, deployment, made.value, { from: 0, to: size });
  // Another object has that name: the next turn tries a name made with a higher count.
  if (!made.ok && made.problem.status === 409) {
    const patch = { status: { collisionCount: (status?.collisionCount ?? 0) + 1 } };
    await kit.client.patch(kinds.deployment, metadata, patch, { subresource: 'status' });
  }
  return made;
}

async function setSizes(
  kit: Kit,
  deployment: Deployment,
  sets: ReplicaSet[],
  sizes: Map<string, number>,
): Promise<Problem | undefined> {
  const desired = deployment.spec.replicas ?? 1;
  const notes = {
    'deployment.kubernetes.io/desired-replicas': String(desired),
    'deployment.kubernetes.io/max-replicas': String(desired + bounds(deployment).maxSurge),
  };
  for (const set of sets) {
    const to = sizes.get(set.metadata.name);
    const from = set.spec.replicas ?? 0;
    if (to === undefined || (to === from && !differs(set.metadata.annotations, notes))) continue;
    const patch = {
      metadata: { resourceVersion: set.metadata.resourceVersion, annotations: notes },
      spec: { replicas: to },
    };
    const result = await kit.client.patch(kinds.replicaSet, set.metadata, patch);
    if (!result.ok) return result.problem;
    if (to !== from) scaledEvent(kit, deployment, set, { from, to });
  }
  return undefined;
}

function scaledEvent(
  kit: Kit,
  deployment: Deployment,
  set: KubeObject,
  { from, to }: { from: number; to: number },
): void {
  const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${set.metadata.name} from ${from} to ${to}`;
  kit.record(deployment, 'Normal', 'ScalingReplicaSet', message);
}

async function cleanUp(kit: Kit, deployment: Deployment, old: ReplicaSet[]): Promise<Problem | undefined> {
  for (const set of overdueHistory(deployment, old)) {
    const result = await kit.client.remove(kinds.replicaSet, set.metadata, {
      uid: set.metadata.uid,
      propagation: 'Background',
    });
    if (!result.ok) return result.problem;
  }
  return undefined;
}

type Reported = { ok: true; againMs: number | undefined } | { ok: false; problem: Problem };

async function report(
  kit: Kit,
  deployment: Deployment,
  sets: ReplicaSet[],
  problem: Problem | undefined,
): Promise<Reported> {
  const now = kit.clock.now();
  const newest = newestSet(deployment, sets);
  const { status, deadlineMs } = deploymentStatus({ deployment, sets, newest, ...bounds(deployment), problem, now });
  const revision = newest?.metadata.annotations?.['deployment.kubernetes.io/revision'];
  const noted = deployment.metadata.annotations?.['deployment.kubernetes.io/revision'];
  if (revision && revision !== noted) {
    const patch = { metadata: { annotations: { 'deployment.kubernetes.io/revision': revision } } };
    const result = await kit.client.patch(kinds.deployment, deployment.metadata, patch);
    if (!result.ok) return result;
  }
  if (differs(deployment.status, status)) {
    const result = await kit.client.patch(kinds.deployment, deployment.metadata, { status }, { subresource: 'status' });
    if (!result.ok && result.problem.status !== 404) return result;
  }
  return { ok: true, againMs: deadlineMs };
}

function byAge(a: KubeObject, b: KubeObject): number {
  const [x, y] = [a, b].map((one) => one.metadata.creationTimestamp ?? '');
  return x === y ? (a.metadata.name < b.metadata.name ? -1 : 1) : x! < y! ? -1 : 1;
}
