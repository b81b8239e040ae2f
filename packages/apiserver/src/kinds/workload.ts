// Deployments, replica sets, stateful sets and daemon sets: what is filled in, what is refused, what may not change.
import { forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { copyOf, isEqual, isTree, treeOf, type KubeObject, type Tree } from '../object.ts';
import { annotationCauses, labelProblems, subdomainProblems, validateLabels } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import { matchesSelector } from '../selector.ts';
import type { Cause } from '../status.ts';
import { negativeCauses } from './amounts.ts';
import { isEmptySelector, selectorCauses } from './label-selector.ts';
import { fillPodSpec } from './pod-fill.ts';
import { validatePodSpec } from './pod-spec.ts';
import { daemonSetStatus, deploymentStatus, replicaSetStatus, statefulSetStatus } from './statuses.ts';
import { daemonStrategyCauses, deploymentStrategyCauses, statefulStrategyCauses } from './workload-strategy.ts';

/** Rules that all four kinds have. */
const common = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  prepare(object) {
    object.spec = part(object, 'spec');
  },
} satisfies Rules;

export const deployment: Rules = {
  ...common,
  fill(object) {
    fillStrategy(fillTemplate(object), 'strategy', { maxUnavailable: '25%', maxSurge: '25%' });
  },
  warnings: nameWarnings,
  validateStatus: deploymentStatus,
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = negativeCauses(spec, 'spec', 'replicas');
    causes.push(...choiceCauses(spec, 'ReplicaSet', 'deployment'));
    causes.push(...deploymentStrategyCauses(treeOf(spec.strategy)));
    causes.push(...negativeCauses(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'));
    const deadline = spec.progressDeadlineSeconds;
    if (typeof deadline === 'number' && deadline <= Number(spec.minReadySeconds ?? 0))
      causes.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
    return [...causes, ...keptSelector(spec, old)];
  },
};

export const replicaSet: Rules = {
  ...common,
  fill(object) {
    fillTemplate(object);
    object.status = { replicas: 0, ...part(object, 'status') };
  },
  warnings: nameWarnings,
  validateStatus: replicaSetStatus,
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = negativeCauses(spec, 'spec', 'replicas', 'minReadySeconds');
    // The real server says deployment here too.
    return [...causes, ...choiceCauses(spec, 'ReplicaSet', 'deployment'), ...keptSelector(spec, old)];
  },
  fields: { 'status.replicas': (object) => String(part(object, 'status').replicas ?? 0) },
};

export const statefulSet: Rules = {
  ...common,
  validateStatus: statefulSetStatus,
  fill(object) {
    fillStrategy(fillTemplate(object), 'updateStrategy', { partition: 0 });
    object.status = { replicas: 0, availableReplicas: 0, ...part(object, 'status') };
  },
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes: Cause[] = [];
    const policy = spec.podManagementPolicy;
    if (policy !== 'OrderedReady' && policy !== 'Parallel')
      causes.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
    causes.push(...statefulStrategyCauses(treeOf(spec.updateStrategy)));
    causes.push(...negativeCauses(spec, 'spec', 'replicas', 'minReadySeconds'));
    causes.push(...negativeCauses(treeOf(spec.ordinals), 'spec.ordinals', 'start'));
    causes.push(...choiceCauses(spec, 'StatefulSet', 'statefulset'));
    return [...causes, ...keptStatefulSpec(spec, old)];
  },
};

export const daemonSet: Rules = {
  ...common,
  validateStatus: daemonSetStatus,
  fill(object, old) {
    fillStrategy(fillTemplate(object), 'updateStrategy', { maxUnavailable: 1, maxSurge: 0 });
    countTemplates(object, old);
    object.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
      ...part(object, 'status'),
    };
  },
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = isTree(spec.selector) ? selectorCauses(spec.selector, 'spec.selector') : [];
    if (causes.length === 0) causes.push(...labelCauses(spec, spec.selector));
    if (isTree(spec.selector) && isEmptySelector(spec.selector))
      causes.push(invalidValue('spec.selector', spec.selector, 'empty selector is invalid for daemonset'));
    causes.push(...templateCauses(treeOf(spec.template), 'DaemonSet'));
    causes.push(...negativeCauses(spec, 'spec', 'minReadySeconds'));
    causes.push(...daemonStrategyCauses(treeOf(spec.updateStrategy)));
    causes.push(...negativeCauses(spec, 'spec', 'revisionHistoryLimit'));
    return [...causes, ...keptSelector(spec, old)];
  },
};

function fillTemplate(object: KubeObject): Tree {
  const spec = part(object, 'spec');
  const template = treeOf(spec.template);
  if (isTree(template.spec)) fillPodSpec(template.spec);
  return spec;
}

function fillStrategy(spec: Tree, field: 'strategy' | 'updateStrategy', given: Tree): void {
  const strategy = treeOf(spec[field]);
  if (strategy.type === 'RollingUpdate') strategy.rollingUpdate = { ...given, ...treeOf(strategy.rollingUpdate) };
}

const templateCount = 'deprecated.daemonset.template.generation';

/** Old clients count a daemon set's templates by an annotation, which is the server's to write. */
function countTemplates(object: KubeObject, old: KubeObject | undefined): void {
  const template = (of: KubeObject): unknown => part(of, 'spec').template;
  const before = Number(old?.metadata.annotations?.[templateCount] ?? 0);
  const isSame = old !== undefined && isEqual(template(object), template(old));
  const annotations = { ...object.metadata.annotations, [templateCount]: String(isSame ? before : before + 1) };
  object.metadata.annotations = annotations;
}

/** Pods are named after what makes them, and hosts after pods. */
function nameWarnings({ metadata }: KubeObject): string[] {
  const problems = labelProblems(metadata.name ?? '');
  const why = `this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`;
  return problems.length === 0 ? [] : [`metadata.name: ${why}`];
}

type PodsBy = 'ReplicaSet' | 'StatefulSet' | 'DaemonSet';

/** The selector, and the template that it has to choose. */
function choiceCauses(spec: Tree, by: PodsBy, inWords: string): Cause[] {
  const { selector } = spec;
  if (!isTree(selector))
    return [required('spec.selector'), ...labelCauses(spec, undefined), ...templateCauses(treeOf(spec.template), by)];
  const causes = selectorCauses(selector, 'spec.selector');
  if (causes.length > 0) return [...causes, unreadable(selector, by)];
  if (isEmptySelector(selector))
    causes.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${inWords}`));
  return [...causes, ...labelCauses(spec, selector), ...templateCauses(treeOf(spec.template), by)];
}

function unreadable(selector: Tree, by: PodsBy): Cause {
  const cause = invalidValue('spec.selector', selector, 'invalid label selector');
  return by === 'StatefulSet' ? { ...cause, message: `Invalid value: ${JSON.stringify(selector)}` } : cause;
}

function labelCauses(spec: Tree, selector: unknown): Cause[] {
  const { labels } = treeOf(treeOf(spec.template).metadata);
  // No selector chooses nothing, where an empty one chooses all.
  if (isTree(selector) && matchesSelector(selector, treeOf(labels) as Record<string, string>)) return [];
  return [invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')];
}

function templateCauses(template: Tree, by: PodsBy): Cause[] {
  const path = 'spec.template';
  const spec = treeOf(template.spec);
  const metadata = treeOf(template.metadata);
  const causes = [
    ...validateLabels(metadata.labels, `${path}.metadata.labels`),
    ...annotationCauses(metadata.annotations, `${path}.metadata.annotations`),
    ...validatePodSpec(spec, `${path}.spec`),
  ];
  if (spec.ephemeralContainers !== undefined)
    causes.push(forbiddenField(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== 'Always')
    causes.push(unsupported(`${path}.spec.restartPolicy`, spec.restartPolicy, ['Always']));
  if (spec.activeDeadlineSeconds !== undefined)
    causes.push(
      forbiddenField(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${by} is not Supported`),
    );
  return causes;
}

function keptSelector(spec: Tree, old: KubeObject | undefined): Cause[] {
  if (!old || isEqual(spec.selector, part(old, 'spec').selector)) return [];
  return [invalidValue('spec.selector', spec.selector, 'field is immutable')];
}

const free = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function keptStatefulSpec(spec: Tree, old: KubeObject | undefined): Cause[] {
  if (!old) return [];
  const fixed = (of: Tree): Tree =>
    Object.fromEntries(Object.entries(copyOf(of)).filter(([name]) => !free.includes(name)));
  if (isEqual(fixed(spec), fixed(part(old, 'spec')))) return [];
  const words = free.map((name) => `'${name}'`);
  const list = `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
  return [forbiddenField('spec', `updates to statefulset spec for fields other than ${list} are forbidden`)];
}
