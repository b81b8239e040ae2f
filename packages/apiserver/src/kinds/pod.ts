// Pods: what one is given, how it is classed, how long it may take to end. What a spec may say is in pod-spec.ts.
import { forbiddenField } from '../field-error.ts';
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { labelProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { changeCauses, ephemeralChangeCauses } from './pod-change.ts';
import { containersOf, fillPodSpec, fillRequests } from './pod-fill.ts';
import { podStatusCauses } from './pod-status-rules.ts';
import { validatePodSpec } from './pod-spec.ts';

export const pod: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  prepare: (object) => tolerateOutages(part(object, 'spec')),
  fill(object) {
    const spec = part(object, 'spec');
    fillPodSpec(spec);
    // A template leaves these open; a pod made of it has them.
    spec.enableServiceLinks ??= true;
    for (const container of containersOf(spec)) fillRequests(container);
    const status = part(object, 'status');
    if (!status.phase) object.status = { ...status, phase: 'Pending' };
    if (!treeOf(object.status).qosClass) treeOf(object.status).qosClass = qosClass(spec);
  },
  warnings({ metadata }) {
    const problems = labelProblems(metadata.name ?? '');
    const why = `this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`;
    return problems.length === 0 ? [] : [`metadata.name: ${why}`];
  },
  validateStatus: podStatusCauses,
  validate(object, old, subresource) {
    const spec = part(object, 'spec');
    const causes = [...validatePodSpec(spec, 'spec'), ...accountCauses(spec)];
    if (!old) return [...causes, ...createCauses(spec)];
    const before = part(old, 'spec');
    const isEphemeral = subresource === 'ephemeralcontainers';
    return [...causes, ...(isEphemeral ? ephemeralChangeCauses(spec, before) : changeCauses(spec, before))];
  },
  fields: {
    'status.podIP': (object) => textOf(part(object, 'status').podIP),
    'spec.hostNetwork': (object) => String(part(object, 'spec').hostNetwork === true),
  },
  grace,
};

function grace(object: KubeObject, asked: number | undefined): number {
  const spec = part(object, 'spec');
  // Nobody runs a pod that has no node, or that is over: there is nothing to wait for.
  const phase = part(object, 'status').phase;
  if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
  return asked ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

const outages = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Unless it says otherwise, a pod stays for five minutes on a node that is not well. */
function tolerateOutages(spec: Tree): void {
  const tolerations = listOf(spec.tolerations).map(treeOf);
  const isTolerated = (key: string): boolean =>
    tolerations.some((one) => (!one.key || one.key === key) && (!one.effect || one.effect === 'NoExecute'));
  const added = outages
    .filter((key) => !isTolerated(key))
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  if (added.length > 0) spec.tolerations = [...tolerations, ...added];
}

function qosClass(spec: Tree): string {
  const resources = [...listOf(spec.initContainers), ...listOf(spec.containers)].map((item) =>
    treeOf(treeOf(item).resources),
  );
  const isBestEffort = resources.every(
    (one) => Object.keys(treeOf(one.limits)).length === 0 && Object.keys(treeOf(one.requests)).length === 0,
  );
  if (isBestEffort) return 'BestEffort';
  const isGuaranteed = resources.every((one) => {
    const limits = treeOf(one.limits);
    return ['cpu', 'memory'].every(
      (name) => limits[name] !== undefined && isEqual(limits[name], treeOf(one.requests)[name]),
    );
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** A token is of an account: a pod that names none can be given none. */
function accountCauses(spec: Tree): Cause[] {
  if (spec.serviceAccountName) return [];
  return listOf(spec.volumes).flatMap((volume, i) =>
    listOf(treeOf(treeOf(volume).projected).sources).flatMap((source, j) => {
      const path = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`;
      const isToken = treeOf(source).serviceAccountToken !== undefined;
      return isToken ? [forbiddenField(path, 'must not be specified when serviceAccountName is not set')] : [];
    }),
  );
}

function createCauses(spec: Tree): Cause[] {
  const causes: Cause[] = [];
  if (listOf(spec.ephemeralContainers).length > 0)
    causes.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (spec.nodeName && listOf(spec.schedulingGates).length > 0)
    causes.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return causes;
}
