// The rules of roles, bindings and disruption budgets.
import { invalidValue, required, unsupported } from '../field-error.ts';
import { isEqual, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { pathProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { selectorCauses } from './label-selector.ts';
import { budgetStatus } from './statuses.ts';

const group = 'rbac.authorization.k8s.io';

const roleOf = (isNamespaced: boolean): Rules => ({
  nameProblems: pathProblems,
  fill(object) {
    // Of roles no rules are told as null.
    if (listOf(object.rules).length === 0) object.rules = null;
  },
  validate: (object) => [
    ...listOf(object.rules)
      .map(treeOf)
      .flatMap((rule, i) => ruleCauses(rule, `rules[${i}]`, isNamespaced)),
    ...(isNamespaced ? [] : aggregationCauses(object)),
  ],
});

export const role: Rules = roleOf(true);
export const clusterRole: Rules = roleOf(false);

function aggregationCauses({ aggregationRule }: KubeObject): Cause[] {
  if (!isTree(aggregationRule)) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = listOf(aggregationRule.clusterRoleSelectors);
  if (selectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => selectorCauses(treeOf(selector), `${path}[${i}]`));
}

/** A rule is about resources or about paths, never both; in a namespace there are no paths. */
function ruleCauses(rule: Tree, path: string, isNamespaced: boolean): Cause[] {
  const causes: Cause[] = [];
  const has = (field: string) => listOf(rule[field]).length > 0;
  if (!has('verbs')) causes.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
  if (has('nonResourceURLs')) {
    const isMixed = has('apiGroups') || has('resources') || has('resourceNames');
    const why = isNamespaced
      ? 'namespaced rules cannot apply to non-resource URLs'
      : 'rules cannot apply to both regular resources and non-resource URLs';
    if (isNamespaced || isMixed) causes.push(invalidValue(`${path}.nonResourceURLs`, rule.nonResourceURLs, why));
    return causes;
  }
  if (!has('apiGroups'))
    causes.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (!has('resources')) causes.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return causes;
}

const bindingOf = (isNamespaced: boolean): Rules => ({
  nameProblems: pathProblems,
  fill(object) {
    const reference = part(object, 'roleRef');
    object.roleRef = reference;
    reference.apiGroup ||= group;
    for (const field of ['kind', 'name']) reference[field] ??= '';
    for (const item of listOf(object.subjects)) {
      const subject = treeOf(item);
      if (!subject.apiGroup) delete subject.apiGroup;
      if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= group;
    }
  },
  validate(object, old) {
    const causes = referenceCauses(part(object, 'roleRef'), isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']);
    for (const [i, subject] of listOf(object.subjects).entries())
      causes.push(...subjectCauses(treeOf(subject), `subjects[${i}]`, isNamespaced));
    if (old && !isEqual(old.roleRef, object.roleRef)) {
      const { apiGroup, kind, name } = part(object, 'roleRef');
      causes.push(invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef'));
    }
    return causes;
  },
});

export const binding: Rules = bindingOf(true);
export const clusterBinding: Rules = bindingOf(false);

function referenceCauses({ apiGroup, kind, name }: Tree, kinds: string[]): Cause[] {
  const causes = apiGroup === group ? [] : [unsupported('roleRef.apiGroup', apiGroup, [group])];
  if (!kinds.includes(textOf(kind))) causes.push(unsupported('roleRef.kind', textOf(kind), kinds));
  if (textOf(name) === '') return [...causes, required('roleRef.name')];
  return [...causes, ...pathProblems(textOf(name)).map((why) => invalidValue('roleRef.name', name, why))];
}

function subjectCauses({ kind, name: given, apiGroup, namespace }: Tree, path: string, isNamespaced: boolean): Cause[] {
  const name = textOf(given);
  const causes = name === '' ? [required(`${path}.name`)] : [];
  const groups = (wanted: string): Cause[] =>
    textOf(apiGroup) === wanted ? [] : [unsupported(`${path}.apiGroup`, textOf(apiGroup), [wanted])];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') causes.push(...subdomainProblems(name).map((why) => invalidValue(`${path}.name`, name, why)));
      causes.push(...groups(''));
      return isNamespaced || textOf(namespace) !== '' ? causes : [...causes, required(`${path}.namespace`)];
    case 'User':
    case 'Group':
      return [...causes, ...groups(group)];
    default:
      return [...causes, unsupported(`${path}.kind`, textOf(kind), ['ServiceAccount', 'User', 'Group'])];
  }
}

export const budget: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const none = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    object.status = { ...none, ...part(object, 'status') };
  },
  validateStatus: budgetStatus,
  validate(object) {
    const spec = part(object, 'spec');
    const limits = ['minAvailable', 'maxUnavailable'].filter((field) => spec[field] !== undefined);
    const causes = limits.flatMap((field) => shareCauses(spec[field], `spec.${field}`));
    return limits.length < 2 ? causes : [bothLimits(object), ...causes];
  },
};

function bothLimits(object: KubeObject): Cause {
  const { minAvailable, selector = null, maxUnavailable, unhealthyPodEvictionPolicy = null } = part(object, 'spec');
  const said = {
    MinAvailable: minAvailable,
    Selector: selector,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  };
  return invalidValue('spec', said, 'minAvailable and maxUnavailable cannot be both set');
}

/** A number of pods, or a share of them up to 100%. */
export function shareCauses(value: unknown, path: string): Cause[] {
  if (typeof value === 'number')
    return value < 0 ? [invalidValue(path, value, 'must be greater than or equal to 0')] : [];
  const text = textOf(value);
  if (!/^[0-9]+%$/.test(text)) {
    const form =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalidValue(path, text, form)];
  }
  return Number.parseInt(text, 10) > 100 ? [invalidValue(path, text, 'must not be greater than 100%')] : [];
}
