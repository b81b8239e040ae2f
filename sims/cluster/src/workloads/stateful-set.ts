// StatefulSet: pods with stable names, made and updated in order.
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { kinds } from '../kube/kinds.ts';
import type { ControllerRevision, Pod, StatefulSet } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { hashOf, revisionLabel, revisions, templateOf, trimRevisions } from './controller-revision.ts';
import { claim, controllerOf } from './owners.ts';
import { countPods, isReady, isSameToOthers, untilAvailable } from './pod-state.ts';
import type { StatefulStep } from './stateful-step.ts';
import { statefulStep } from './stateful-step.ts';
import { differs } from './status.ts';
import { podOf } from './template.ts';

export function statefulSets(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'statefulset', timers, log, turn: (key) => turn(kit, key) });
  stores.statefulsets.onChange(({ key }) => turns.add(key));
  stores.pods.onChange(({ before, after }) => {
    if (isSameToOthers(before, after)) return;
    const pod = (after ?? before)!;
    const owner = controllerOf(pod);
    if (owner?.kind === 'StatefulSet') turns.add(`${pod.metadata.namespace}/${owner.name}`);
  });
  return turns;
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { client, stores } = kit;
  const set = stores.statefulsets.get(key);
  if (!set) return { after: 'change' };
  const { uid, namespace } = set.metadata;
  const found = await revisions(kit, { ownerKind: kinds.statefulSet, owner: set });
  if (!found.ok) return { problem: found.problem };
  // Only a pod whose name is one of ours can be taken in: an ordinal cannot be given afterwards.
  const orphans = stores.pods
    .by('controller', `orphan/${namespace}`)
    .filter((pod) => ordinalOf(set, pod) !== undefined);
  const candidates = [...stores.pods.by('controller', uid), ...orphans];
  const claimed = await claim({ client, ownerKind: kinds.statefulSet, owner: set, kind: kinds.pod, candidates });
  const current = found.all.find((one) => one.metadata.name === set.status?.currentRevision) ?? found.update;
  const marks = { current, update: found.update };
  const step = set.metadata.deletionTimestamp
    ? { make: [], remove: [] }
    : nextStep(kit, set, { pods: claimed.owned, ...marks });
  const problem = await apply(kit, set, { step, all: found.all });
  const written = await report(kit, set, marks);
  const pods = stores.pods.by('controller', uid);
  const trimmed = await trimRevisions(kit, set, found.all, {
    pods,
    names: [current.metadata.name, found.update.metadata.name],
  });
  const failed = problem ?? claimed.problem ?? written ?? trimmed;
  if (failed) return { problem: failed };
  return { after: countPods(pods, set.spec.minReadySeconds ?? 0, kit.clock.now()).nextAvailableMs ?? 'change' };
}

interface Marks {
  current: ControllerRevision;
  update: ControllerRevision;
}

function nextStep(kit: Kit, set: StatefulSet, { pods, current, update }: Marks & { pods: Pod[] }): StatefulStep {
  const { spec, status } = set;
  const now = kit.clock.now();
  const isOnDelete = spec.updateStrategy?.type === 'OnDelete';
  return statefulStep({
    start: spec.ordinals?.start ?? 0,
    replicas: spec.replicas ?? 1,
    pods: new Map(pods.map((pod) => [ordinalOf(set, pod)!, pod])),
    isParallel: spec.podManagementPolicy === 'Parallel',
    partition: isOnDelete ? undefined : (spec.updateStrategy?.rollingUpdate?.partition ?? 0),
    currentReplicas: current === update ? 0 : (status?.currentReplicas ?? 0),
    current: hashOf(current),
    update: hashOf(update),
    isAvailable: (pod) => untilAvailable(pod, spec.minReadySeconds ?? 0, now) === 0,
  });
}

async function apply(
  kit: Kit,
  set: StatefulSet,
  { step, all }: { step: StatefulStep; all: ControllerRevision[] },
): Promise<Problem | undefined> {
  for (const { ordinal, revision } of step.make) {
    const template = templateOf(all.find((one) => hashOf(one) === revision)!);
    const result = await kit.client.create<Pod>(kinds.pod, podFor(set, { ordinal, revision, template }));
    const name = `${set.metadata.name}-${ordinal}`;
    if (!result.ok) {
      kit.record(set, 'Warning', 'FailedCreate', `create Pod ${name} failed: ${result.problem.message}`);
      return result.problem;
    }
    kit.record(set, 'Normal', 'SuccessfulCreate', `create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
  }
  for (const pod of step.remove) {
    const result = await kit.client.remove(kinds.pod, pod.metadata, { uid: pod.metadata.uid });
    if (!result.ok) return result.problem;
    kit.record(
      set,
      'Normal',
      'SuccessfulDelete',
      `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
    );
  }
  return undefined;
}

interface Seat {
  ordinal: number;
  revision: string;
  template: StatefulSet['spec']['template'];
}

function podFor(set: StatefulSet, { ordinal, revision, template }: Seat) {
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = {
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
  };
  const draft = podOf({ ownerKind: kinds.statefulSet, owner: set, template, labels });
  const { generateName: _, ...metadata } = draft.metadata;
  const { serviceName } = set.spec;
  return {
    ...draft,
    metadata: { ...metadata, name },
    spec: { ...draft.spec, hostname: name, ...(serviceName && { subdomain: serviceName }) },
  };
}

/** The number at the end of a name such as `web-2`; undefined when it is not this set's pattern. */
function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const rest = metadata.name.startsWith(`${set.metadata.name}-`)
    ? metadata.name.slice(set.metadata.name.length + 1)
    : '';
  return /^(0|[1-9]\d*)$/.test(rest) ? Number(rest) : undefined;
}

async function report(kit: Kit, set: StatefulSet, { current, update }: Marks): Promise<Problem | undefined> {
  const pods = kit.stores.pods.by('controller', set.metadata.uid).filter((pod) => ordinalOf(set, pod) !== undefined);
  const counts = countPods(pods, set.spec.minReadySeconds ?? 0, kit.clock.now());
  const replicas = set.spec.replicas ?? 1;
  const alive = (revision: ControllerRevision) =>
    pods.filter((pod) => pod.metadata.labels?.[revisionLabel] === hashOf(revision) && !pod.metadata.deletionTimestamp);
  const updated = alive(update);
  // The update is over when every pod has it and is ready; only then is it the revision pods come back with.
  const isDone = updated.length === replicas && pods.length === replicas && updated.every(isReady);
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    updatedReplicas: updated.length,
    currentReplicas: isDone ? updated.length : alive(current).length,
    currentRevision: (isDone ? update : current).metadata.name,
    updateRevision: update.metadata.name,
  };
  if (!differs(set.status, status)) return undefined;
  const result = await kit.client.patch(kinds.statefulSet, set.metadata, { status }, { subresource: 'status' });
  return result.ok || result.problem.status === 404 ? undefined : result.problem;
}
