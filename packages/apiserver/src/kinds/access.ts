// The rules of roles, bindings and disruption budgets.
import { invalidValue, required } from '../field-error.ts';
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { pathProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';

const group = 'rbac.authorization.k8s.io';

const roleOf = (isNamespaced: boolean): Rules => ({
  nameProblems: pathProblems,
  validate: (object) =>
    listOf(object.rules)
      .map(treeOf)
      .flatMap((rule, i) => ruleCauses(rule, `rules[${i}]`, isNamespaced)),
});

export const role: Rules = roleOf(true);
export const clusterRole: Rules = roleOf(false);

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

export const binding: Rules = {
  nameProblems: pathProblems,
  fill(object) {
    const reference = part(object, 'roleRef');
    if (object.roleRef) reference.apiGroup ??= group;
    for (const item of listOf(object.subjects)) {
      const subject = treeOf(item);
      if (subject.kind !== 'ServiceAccount') subject.apiGroup ??= group;
    }
  },
  validate(object, old) {
    if (old && !isEqual(old.roleRef, object.roleRef))
      return [invalidValue('roleRef', object.roleRef, 'cannot change roleRef')];
    return part(object, 'roleRef').name ? [] : [required('roleRef.name')];
  },
};

export const budget: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const none = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    object.status = { ...none, ...part(object, 'status') };
  },
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
