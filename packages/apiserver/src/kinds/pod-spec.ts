// What the spec of a pod or of a pod template may say, in the order in which the real server checks it.
import { isIP } from 'node:net';
import { duplicate, invalidValue, required, unsupported } from '../field-error.ts';
import { labelProblems, labelValueProblems, qualifiedProblems, subdomainProblems, validateLabels } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { rangeCauses } from './amounts.ts';
import { containerCauses, ephemeralCauses, hostPortCauses, initCauses } from './container.ts';
import { selectorCauses } from './label-selector.ts';
import { volumeCauses } from './volume.ts';

export function validatePodSpec(spec: Tree, path: string): Cause[] {
  const grace = Number(spec.terminationGracePeriodSeconds ?? 30);
  const all = { spec, grace, path };
  return [
    ...volumeCauses(listOf(spec.volumes), `${path}.volumes`),
    ...containerCauses(all),
    ...initCauses(all),
    ...ephemeralCauses(all),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...(spec.hostNetwork === true ? hostPortCauses(all) : []),
    ...identityCauses(treeOf(spec.securityContext), `${path}.securityContext`),
    ...gateCauses(spec, path),
    ...spreadCauses(listOf(spec.topologySpreadConstraints), `${path}.topologySpreadConstraints`),
    ...nameCauses(spec, path),
    ...rangeCauses(spec, path, 1, 'activeDeadlineSeconds'),
    ...hostCauses(spec, path),
    ...tolerationCauses(listOf(spec.tolerations), `${path}.tolerations`),
    ...aliasCauses(listOf(spec.hostAliases), `${path}.hostAliases`),
    ...priorityCauses(spec, path),
  ];
}

function identityCauses(context: Tree, path: string): Cause[] {
  const groups = listOf(context.supplementalGroups);
  return [
    ...rangeCauses(context, path, 0, 'fsGroup'),
    ...groups.flatMap((group, i) => {
      const isFit = typeof group === 'number' && group >= 0 && group <= 2_147_483_647;
      return isFit
        ? []
        : [invalidValue(`${path}.supplementalGroups[${i}]`, group, 'must be between 0 and 2147483647, inclusive')];
    }),
    ...rangeCauses(context, path, 0, 'runAsUser', 'runAsGroup'),
  ];
}

function gateCauses(spec: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  listOf(spec.readinessGates).forEach((gate, i) => {
    const type = textOf(treeOf(gate).conditionType);
    const at = `${path}.readinessGates[${i}].conditionType`;
    causes.push(...qualifiedProblems(type).map((why) => invalidValue(at, type, why)));
  });
  const seen = new Set<string>();
  listOf(spec.schedulingGates).forEach((gate, i) => {
    const name = textOf(treeOf(gate).name);
    const at = `${path}.schedulingGates[${i}]`;
    causes.push(...qualifiedProblems(name).map((why) => invalidValue(at, name, why)));
    if (seen.has(name)) causes.push(duplicate(at, name));
    seen.add(name);
  });
  return causes;
}

const actions = ['DoNotSchedule', 'ScheduleAnyway'];

function spreadCauses(constraints: unknown[], path: string): Cause[] {
  return constraints.flatMap((item, i) => {
    const spread = treeOf(item);
    const at = `${path}[${i}]`;
    const causes: Cause[] = [];
    if (typeof spread.maxSkew !== 'number' || spread.maxSkew <= 0)
      causes.push(invalidValue(`${at}.maxSkew`, spread.maxSkew ?? 0, 'must be greater than zero'));
    const key = textOf(spread.topologyKey);
    if (key === '') causes.push(required(`${at}.topologyKey`, 'can not be empty'));
    else causes.push(...qualifiedProblems(key).map((why) => invalidValue(`${at}.topologyKey`, key, why)));
    if (!actions.includes(textOf(spread.whenUnsatisfiable)))
      causes.push(unsupported(`${at}.whenUnsatisfiable`, textOf(spread.whenUnsatisfiable), actions));
    if (isTree(spread.labelSelector)) causes.push(...selectorCauses(spread.labelSelector, `${at}.labelSelector`));
    return causes;
  });
}

function nameCauses(spec: Tree, path: string): Cause[] {
  return ['serviceAccountName', 'nodeName'].flatMap((field) => {
    const name = textOf(spec[field]);
    return name === '' ? [] : subdomainProblems(name).map((why) => invalidValue(`${path}.${field}`, name, why));
  });
}

function hostCauses(spec: Tree, path: string): Cause[] {
  return ['hostname', 'subdomain'].flatMap((field) => {
    const name = textOf(spec[field]);
    return name === '' ? [] : labelProblems(name).map((why) => invalidValue(`${path}.${field}`, name, why));
  });
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function tolerationCauses(tolerations: unknown[], path: string): Cause[] {
  return tolerations.flatMap((item, i) => {
    const { key, operator, value, effect, tolerationSeconds } = treeOf(item);
    const at = `${path}[${i}]`;
    const causes: Cause[] = [];
    if (key) causes.push(...qualifiedProblems(textOf(key)).map((why) => invalidValue(`${at}.key`, key, why)));
    else if (operator !== 'Exists')
      causes.push(
        invalidValue(
          `${at}.operator`,
          operator ?? '',
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      causes.push(
        invalidValue(`${at}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    if (operator === 'Exists') {
      if (value) causes.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (!operator || operator === 'Equal') {
      const problems = labelValueProblems(textOf(value));
      if (problems.length > 0) causes.push(invalidValue(`${at}.operator`, value, problems.join(';')));
    } else causes.push(unsupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect && !effects.includes(textOf(effect))) causes.push(unsupported(`${at}.effect`, effect, effects));
    return causes;
  });
}

function aliasCauses(aliases: unknown[], path: string): Cause[] {
  return aliases.flatMap((item, i) => {
    const { ip, hostnames } = treeOf(item);
    const causes = isIP(textOf(ip))
      ? []
      : [invalidValue(`${path}[${i}].ip`, textOf(ip), 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
    for (const [j, name] of listOf(hostnames).map(textOf).entries())
      causes.push(...subdomainProblems(name).map((why) => invalidValue(`${path}[${i}].hostnames[${j}]`, name, why)));
    return causes;
  });
}

function priorityCauses(spec: Tree, path: string): Cause[] {
  const name = textOf(spec.priorityClassName);
  if (name === '') return [];
  return subdomainProblems(name).map((why) => invalidValue(`${path}.priorityClassName`, name, why));
}
