// The rules of webhook configurations: what would only be found out when a write waits for the webhook.
import { conditionProblem } from '../admission/conditions.ts';
import { duplicate, invalidValue, required, tooMany, unsupported } from '../field-error.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import type { Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { clientCauses, reviewVersionCauses } from './hook-client.ts';
import { selectorCauses } from './label-selector.ts';

export const webhookConfiguration: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    for (const webhook of listOf(object.webhooks).map(treeOf)) {
      dropEmpty(webhook, 'rules');
      dropEmpty(webhook, 'matchConditions');
    }
    dropEmpty(object, 'webhooks');
  },
  validate(object) {
    const webhooks = listOf(object.webhooks).map(treeOf);
    return webhooks.flatMap((webhook, i) => {
      const causes = webhookCauses(webhook, `webhooks[${i}]`);
      const isTwice = webhook.name !== '' && webhooks.findIndex((one) => one.name === webhook.name) < i;
      return isTwice ? [...causes, duplicate(`webhooks[${i}].name`, webhook.name)] : causes;
    });
  },
};

/** A list of nothing is not kept. */
export function dropEmpty(owner: Tree, field: string): void {
  if (Array.isArray(owner[field]) && listOf(owner[field]).length === 0) delete owner[field];
}

const words: Record<string, string[]> = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  sideEffects: ['None', 'NoneOnDryRun'],
};

function webhookCauses(webhook: Tree, path: string): Cause[] {
  const causes = nameCauses(textOf(webhook.name), `${path}.name`);
  for (const [i, rule] of listOf(webhook.rules).entries())
    causes.push(...ruleCauses(treeOf(rule), `${path}.rules[${i}]`));
  for (const [field, allowed] of Object.entries(words)) {
    const value = webhook[field];
    if (field === 'sideEffects' && value === undefined)
      causes.push(required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
    else if (value !== undefined && !allowed.includes(textOf(value)))
      causes.push(unsupported(`${path}.${field}`, value, allowed));
  }
  const seconds = webhook.timeoutSeconds;
  if (typeof seconds === 'number' && (seconds < 1 || seconds > 30))
    causes.push(invalidValue(`${path}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'));
  for (const field of ['namespaceSelector', 'objectSelector'])
    if (isTree(webhook[field])) causes.push(...selectorCauses(webhook[field], `${path}.${field}`));
  const again = webhook.reinvocationPolicy;
  if (again !== undefined && !reinvocations.includes(textOf(again)))
    causes.push(unsupported(`${path}.reinvocationPolicy`, again, reinvocations));
  return [
    ...causes,
    ...clientCauses(treeOf(webhook.clientConfig), `${path}.clientConfig`),
    ...conditionsCauses(listOf(webhook.matchConditions).map(treeOf), `${path}.matchConditions`),
    ...reviewVersionCauses(
      webhook.admissionReviewVersions,
      `${path}.admissionReviewVersions`,
      'must specify one of v1, v1beta1',
    ),
  ];
}

const reinvocations = ['IfNeeded', 'Never'];

function nameCauses(name: string, path: string): Cause[] {
  if (name === '') return [required(path)];
  const problems = subdomainProblems(name);
  if (problems.length > 0) return [invalidValue(path, name, problems.join(','))];
  const why = 'should be a domain with at least three segments separated by dots';
  return name.split('.').length < 3 ? [invalidValue(path, name, why)] : [];
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const said: Record<string, string> = { operations: 'operations', apiGroups: 'API groups', apiVersions: 'API versions' };

export function ruleCauses(rule: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  for (const [field, word] of Object.entries(said)) {
    const list = listOf(rule[field]);
    if (list.length === 0) causes.push(required(`${path}.${field}`));
    if (list.length > 1 && list.includes('*'))
      causes.push(invalidValue(`${path}.${field}`, list, `if '*' is present, must not specify other ${word}`));
    for (const [i, value] of list.entries()) {
      if (field === 'operations' && !operations.includes(textOf(value)))
        causes.push(unsupported(`${path}.operations[${i}]`, value, operations));
      if (field === 'apiVersions' && value === '') causes.push(required(`${path}.apiVersions[${i}]`));
    }
  }
  causes.push(...resourceCauses(listOf(rule.resources).map(textOf), `${path}.resources`));
  if (rule.scope !== undefined && !scopes.includes(textOf(rule.scope)))
    causes.push(unsupported(`${path}.scope`, rule.scope, scopes));
  return causes;
}

/*
   beside it      | is one too many
   ---------------+----------------------------------
   * / *          | anything
   *              | a resource without a subresource
   pods/*         | a later pods/status
   * /status      | a later pods/status
*/
function resourceCauses(resources: string[], path: string): Cause[] {
  if (resources.length === 0) return [required(path)];
  const [all, parts] = [new Set<string>(), new Set<string>()];
  const causes = resources.flatMap((resource, i): Cause[] => {
    if (resource === '') return [required(`${path}[${i}]`)];
    const slash = resource.indexOf('/');
    if (slash < 0) return [];
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const covering = [...(all.has(name) ? [`${name}/*`] : []), ...(parts.has(sub) ? [`*/${sub}`] : [])];
    if (sub === '*') all.add(name);
    if (name === '*') parts.add(sub);
    return covering.map((one) =>
      invalidValue(`${path}[${i}]`, resource, `if '${one}' is present, must not specify ${resource}`),
    );
  });
  if (resources.length > 1 && resources.includes('*/*'))
    causes.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  // Of those without a subresource the last alone counts, as in the real server.
  const hasPlain = (resources.findLast((one) => !one.includes('/')) ?? '*') !== '*';
  if (resources.includes('*') && hasPlain) {
    const why = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidValue(path, resources, why));
  }
  return causes;
}

const mostConditions = 64;

/** Those of a policy may have parameters. */
export function conditionsCauses(conditions: Tree[], path: string, params = false): Cause[] {
  const many = conditions.length > mostConditions ? [tooMany(path, conditions.length, mostConditions)] : [];
  const names = conditions.map(({ name }) => textOf(name));
  return [
    ...many,
    ...conditions.flatMap((condition, i) => {
      const causes = conditionCauses(condition, `${path}[${i}]`, params);
      const name = names[i] ?? '';
      return name !== '' && names.indexOf(name) < i ? [...causes, duplicate(`${path}[${i}].name`, name)] : causes;
    }),
  ];
}

function conditionCauses(condition: Tree, path: string, params: boolean): Cause[] {
  const name = textOf(condition.name);
  const expression = textOf(condition.expression).trim();
  const problem = expression === '' ? undefined : conditionProblem(expression, params);
  return [
    ...(expression === '' ? [required(`${path}.expression`)] : []),
    ...(problem === undefined ? [] : [invalidValue(`${path}.expression`, expression, problem)]),
    ...(name === ''
      ? [required(`${path}.name`)]
      : qualifiedProblems(name).map((why) => invalidValue(`${path}.name`, name, why))),
  ];
}
