// DaemonSet: one pod on every node that fits.
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import type { DaemonSet, Draft, Pod } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { hashOf, revisionLabel, revisions, trimRevisions } from './controller-revision.ts';
import type { DaemonStep } from './daemon-step.ts';
import { daemonStep, daemonTolerations, isWanted, nodeOf } from './daemon-step.ts';
import { claim, controllerOf } from './owners.ts';
import { countPods, isActive, isReady, isSameToOthers, untilAvailable } from './pod-state.ts';
import { absolute } from './rolling.ts';
import { differs } from './status.ts';
import { podOf } from './template.ts';

export function daemonSets(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'daemonset', timers, log, turn: (key) => turn(kit, key) });
  stores.daemonsets.onChange(({ key }) => turns.add(key));
  stores.nodes.onChange(({ before, after }) => {
    const shape = (node: typeof after) => JSON.stringify([node?.spec, node?.metadata.labels]);
    if (shape(before) !== shape(after)) for (const set of stores.daemonsets.all()) turns.add(keyOf(set));
  });
  stores.pods.onChange(({ before, after }) => {
    if (isSameToOthers(before, after)) return;
    const pod = (after ?? before)!;
    const owner = controllerOf(pod);
    if (owner?.kind === 'DaemonSet') turns.add(`${pod.metadata.namespace}/${owner.name}`);
  });
  return turns;
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { client, stores, clock } = kit;
  const set = stores.daemonsets.get(key);
  if (!set) return { after: 'change' };
  const { uid, namespace } = set.metadata;
  const found = await revisions(kit, { ownerKind: kinds.daemonSet, owner: set });
  if (!found.ok) return { problem: found.problem };
  const candidates = [...stores.pods.by('controller', uid), ...stores.pods.by('controller', `orphan/${namespace}`)];
  const claimed = await claim({ client, ownerKind: kinds.daemonSet, owner: set, kind: kinds.pod, candidates });
  const update = hashOf(found.update);
  const wanted = wantedNodes(kit, set);
  const minReady = set.spec.minReadySeconds ?? 0;
  const isAvailable = (pod: Pod) => untilAvailable(pod, minReady, clock.now()) === 0;
  const step = daemonStep({ wanted, pods: claimed.owned, update, rolling: rollingOf(set, wanted.size), isAvailable });
  const problem = set.metadata.deletionTimestamp ? undefined : await apply(kit, set, { step, update });
  const pods = stores.pods.by('controller', uid);
  const written = await report(kit, set, { wanted, pods: pods.filter(isActive), update, isAvailable });
  const trimmed = await trimRevisions(kit, set, found.all, { pods, names: [found.update.metadata.name] });
  const failed = problem ?? claimed.problem ?? written ?? trimmed;
  if (failed) return { problem: failed };
  return { after: countPods(pods, minReady, clock.now()).nextAvailableMs ?? 'change' };
}

function wantedNodes({ stores }: Kit, set: DaemonSet): Set<string> {
  const template = { metadata: set.metadata, spec: set.spec.template.spec };
  return new Set([...stores.nodes.all()].filter((node) => isWanted(template, node)).map((node) => node.metadata.name));
}

function rollingOf({ spec }: DaemonSet, nodes: number) {
  if (spec.updateStrategy?.type === 'OnDelete') return undefined;
  const { maxSurge = 0, maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {};
  return { maxSurge: absolute(maxSurge, nodes, Math.ceil), maxUnavailable: absolute(maxUnavailable, nodes, Math.ceil) };
}

async function apply(
  kit: Kit,
  set: DaemonSet,
  { step, update }: { step: DaemonStep; update: string },
): Promise<Problem | undefined> {
  const made = await Promise.all(step.make.map((node) => kit.client.create<Pod>(kinds.pod, podFor(set, node, update))));
  for (const result of made) {
    if (result.ok) kit.record(set, 'Normal', 'SuccessfulCreate', `Created pod: ${result.value.metadata.name}`);
    else {
      kit.record(set, 'Warning', 'FailedCreate', `Error creating: ${result.problem.message}`);
      return result.problem;
    }
  }
  const removed = await Promise.all(
    step.remove.map((pod) => kit.client.remove(kinds.pod, pod.metadata, { uid: pod.metadata.uid })),
  );
  for (const [i, result] of removed.entries()) {
    if (!result.ok) return result.problem;
    kit.record(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${step.remove[i]!.metadata.name}`);
  }
  return undefined;
}

/** Bound to its node by affinity, as in Kubernetes: the scheduler does the binding. */
function podFor(set: DaemonSet, node: string, update: string): Draft<Pod> {
  const draft = podOf({
    ownerKind: kinds.daemonSet,
    owner: set,
    template: set.spec.template,
    labels: { [revisionLabel]: update },
  });
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  const { affinity, tolerations = [] } = draft.spec;
  const spec = {
    ...draft.spec,
    affinity: { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, ...required } },
    tolerations: [...tolerations, ...daemonTolerations],
  };
  return { ...draft, spec };
}

interface Found {
  wanted: Set<string>;
  pods: Pod[];
  update: string;
  isAvailable(pod: Pod): boolean;
}

async function report(
  kit: Kit,
  set: DaemonSet,
  { wanted, pods, update, isAvailable }: Found,
): Promise<Problem | undefined> {
  const nodesWith = (is: (pod: Pod) => boolean, isIn: boolean) =>
    new Set(pods.filter((pod) => is(pod) && wanted.has(nodeOf(pod) ?? '') === isIn).map(nodeOf)).size;
  const available = nodesWith(isAvailable, true);
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    desiredNumberScheduled: wanted.size,
    currentNumberScheduled: nodesWith(() => true, true),
    numberMisscheduled: nodesWith(() => true, false),
    numberReady: nodesWith(isReady, true),
    updatedNumberScheduled: nodesWith((pod) => pod.metadata.labels?.[revisionLabel] === update, true),
    numberAvailable: available,
    numberUnavailable: wanted.size - available,
  };
  if (!differs(set.status, status)) return undefined;
  const result = await kit.client.patch(kinds.daemonSet, set.metadata, { status }, { subresource: 'status' });
  return result.ok || result.problem.status === 404 ? undefined : result.problem;
}
