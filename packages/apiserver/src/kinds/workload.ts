// Deployments, replica sets, stateful sets and daemon sets: templates, selectors and rollout settings.
import { invalidValue, required } from '../field-error.ts';
import { isEqual, isTree, treeOf, type KubeObject, type Tree } from '../object.ts';
import { subdomainProblems, validateLabels } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import { parseLabelSelector, selectorText } from '../selector.ts';
import type { Cause } from '../status.ts';
import { fillPodSpec, validatePodSpec } from './pod.ts';

function fillTemplate(object: KubeObject): Tree {
  const spec = part(object, 'spec');
  const template = treeOf(spec.template);
  if (isTree(template.spec)) fillPodSpec(template.spec);
  return spec;
}

export const deployment: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const strategy = treeOf(fillTemplate(object).strategy);
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...treeOf(strategy.rollingUpdate) };
    }
  },
  validate: (object, old) => [
    ...validateWorkload(object, old),
    ...strategyCauses(treeOf(part(object, 'spec').strategy)),
  ],
};

export const replicaSet: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill: (object) => void fillTemplate(object),
  validate: validateWorkload,
  fields: { 'status.replicas': (object) => String(part(object, 'status').replicas ?? 0) },
};

export const statefulSet: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const strategy = treeOf(fillTemplate(object).updateStrategy);
    if (strategy.type === 'RollingUpdate') strategy.rollingUpdate = { partition: 0, ...treeOf(strategy.rollingUpdate) };
  },
  validate: validateWorkload,
};

export const daemonSet: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const strategy = treeOf(fillTemplate(object).updateStrategy);
    if (strategy.type === 'RollingUpdate')
      strategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...treeOf(strategy.rollingUpdate) };
  },
  validate: validateWorkload,
};

function validateWorkload(object: KubeObject, old: KubeObject | undefined): Cause[] {
  const spec = part(object, 'spec');
  const causes: Cause[] = [];
  if (typeof spec.replicas === 'number' && spec.replicas < 0) {
    causes.push(invalidValue('spec.replicas', spec.replicas, 'must be greater than or equal to 0'));
  }
  if (typeof spec.minReadySeconds === 'number' && spec.minReadySeconds < 0) {
    causes.push(invalidValue('spec.minReadySeconds', spec.minReadySeconds, 'must be greater than or equal to 0'));
  }
  causes.push(...selectorCauses(spec), ...templateCauses(treeOf(spec.template)));
  if (old && !isEqual(spec.selector, part(old, 'spec').selector)) {
    causes.push(invalidValue('spec.selector', spec.selector, 'field is immutable'));
  }
  return causes;
}

function selectorCauses(spec: Tree): Cause[] {
  if (!isTree(spec.selector)) return [required('spec.selector')];
  const text = selectorText(spec.selector);
  if (text === '') return [invalidValue('spec.selector', spec.selector, 'empty selector is invalid for deployment')];
  const selector = parseLabelSelector(text);
  if (!selector.ok) return [invalidValue('spec.selector', spec.selector, selector.status.message)];
  const labels = treeOf(treeOf(treeOf(spec.template).metadata).labels);
  if (selector.value(labels as Record<string, string>)) return [];
  return [invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function templateCauses(template: Tree): Cause[] {
  const spec = treeOf(template.spec);
  const causes = validateLabels(treeOf(template.metadata).labels, 'spec.template.metadata.labels');
  causes.push(...validatePodSpec(spec, 'spec.template.spec'));
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== 'Always') {
    causes.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(spec.restartPolicy)}: supported values: "Always"`,
      field: 'spec.template.spec.restartPolicy',
    });
  }
  return causes;
}

function strategyCauses(strategy: Tree): Cause[] {
  const rolling = treeOf(strategy.rollingUpdate);
  if (strategy.type === 'Recreate' && strategy.rollingUpdate) {
    return [
      {
        reason: 'FieldValueForbidden',
        message: "Forbidden: may not be specified when strategy `type` is 'Recreate'",
        field: 'spec.strategy.rollingUpdate',
      },
    ];
  }
  const causes: Cause[] = [];
  for (const field of ['maxSurge', 'maxUnavailable']) {
    const value = rolling[field];
    const isFine = value === undefined || (typeof value === 'number' ? value >= 0 : /^\d+%$/.test(String(value)));
    if (!isFine)
      causes.push(
        invalidValue(
          `spec.strategy.rollingUpdate.${field}`,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      );
  }
  const isZero = (value: unknown) => value === 0 || value === '0%';
  if (strategy.type === 'RollingUpdate' && isZero(rolling.maxSurge) && isZero(rolling.maxUnavailable)) {
    causes.push(
      invalidValue(
        'spec.strategy.rollingUpdate.maxUnavailable',
        rolling.maxUnavailable,
        'may not be 0 when `maxSurge` is 0',
      ),
    );
  }
  return causes;
}
