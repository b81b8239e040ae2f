// The rules of webhook configurations: what would only be found out when a write waits for the webhook.
import { conditionProblem } from '../admission/conditions.ts';
import { duplicate, invalidValue, required, unsupported } from '../field-error.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import type { Rules } from '../resource.ts';
import type { Cause } from '../status.ts';

const words: Record<string, string[]> = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  sideEffects: ['None', 'NoneOnDryRun'],
  reinvocationPolicy: ['IfNeeded', 'Never'],
};
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

export const webhookConfiguration: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  validate(object) {
    const webhooks = listOf(object.webhooks).map(treeOf);
    const causes = webhooks.flatMap((webhook, i) => webhookCauses(webhook, `webhooks[${i}]`));
    webhooks.forEach(({ name }, i) => {
      if (webhooks.findIndex((one) => one.name === name) < i) causes.push(duplicate(`webhooks[${i}].name`, name));
    });
    return causes;
  },
};

function webhookCauses(webhook: Tree, path: string): Cause[] {
  const causes = nameCauses(textOf(webhook.name), `${path}.name`);
  if (listOf(webhook.admissionReviewVersions).length === 0)
    causes.push(required(`${path}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  else if (!listOf(webhook.admissionReviewVersions).some((version) => version === 'v1' || version === 'v1beta1'))
    causes.push(
      invalidValue(
        `${path}.admissionReviewVersions`,
        webhook.admissionReviewVersions,
        'must include at least one of v1, v1beta1',
      ),
    );
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
  for (const [i, rule] of listOf(webhook.rules).entries())
    causes.push(...ruleCauses(treeOf(rule), `${path}.rules[${i}]`));
  causes.push(...clientCauses(treeOf(webhook.clientConfig), `${path}.clientConfig`));
  for (const [i, condition] of listOf(webhook.matchConditions).entries())
    causes.push(...conditionCauses(treeOf(condition), `${path}.matchConditions[${i}]`));
  return causes;
}

function nameCauses(name: string, path: string): Cause[] {
  if (name === '') return [required(path)];
  const causes = subdomainProblems(name).map((why) => invalidValue(path, name, why));
  const why = 'should be a domain with at least three segments separated by dots';
  return name.split('.').length < 3 ? [...causes, invalidValue(path, name, why)] : causes;
}

function ruleCauses(rule: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  for (const field of ['operations', 'apiGroups', 'apiVersions', 'resources']) {
    const list = listOf(rule[field]);
    if (list.length === 0) causes.push(required(`${path}.${field}`));
    const isMixed = list.length > 1 && list.includes('*') && field !== 'resources';
    if (isMixed)
      causes.push(invalidValue(`${path}.${field}`, list, "if '*' is present, must not specify other " + said[field]));
  }
  for (const [i, operation] of listOf(rule.operations).entries())
    if (!operations.includes(textOf(operation)))
      causes.push(unsupported(`${path}.operations[${i}]`, operation, operations));
  if (rule.scope !== undefined && !scopes.includes(textOf(rule.scope)))
    causes.push(unsupported(`${path}.scope`, rule.scope, scopes));
  return causes;
}

const said: Record<string, string> = { operations: 'operations', apiGroups: 'API groups', apiVersions: 'API versions' };

function clientCauses(config: Tree, path: string): Cause[] {
  const hasUrl = config.url !== undefined;
  if (hasUrl === isTree(config.service)) return [required(path, 'exactly one of url or service is required')];
  if (hasUrl) return urlCauses(textOf(config.url), `${path}.url`);
  const service = treeOf(config.service);
  const causes = ['name', 'namespace']
    .filter((field) => !service[field])
    .map((field) => required(`${path}.service.${field}`, `service ${field} is required`));
  const port = Number(service.port ?? 443);
  if (port < 1 || port > 65535)
    causes.push(
      invalidValue(`${path}.service.port`, service.port, 'port is not valid: must be between 1 and 65535, inclusive'),
    );
  if (service.path !== undefined && !textOf(service.path).startsWith('/'))
    causes.push(invalidValue(`${path}.service.path`, service.path, "must start with a '/'"));
  return causes;
}

function urlCauses(text: string, path: string): Cause[] {
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(path, `url must be a valid URL${form}`)];
  const url = new URL(text);
  const causes: Cause[] = [];
  if (url.protocol !== 'https:')
    causes.push(invalidValue(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`));
  if (url.hostname === '') causes.push(invalidValue(path, '', `host must be specified${form}`));
  if (url.username !== '' || url.password !== '')
    causes.push(invalidValue(path, url.username, 'user information is not permitted in the URL'));
  if (url.hash !== '') causes.push(invalidValue(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '')
    causes.push(invalidValue(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  return causes;
}

function conditionCauses(condition: Tree, path: string): Cause[] {
  const name = textOf(condition.name);
  const expression = textOf(condition.expression);
  const causes =
    name === ''
      ? [required(`${path}.name`)]
      : qualifiedProblems(name).map((why) => invalidValue(`${path}.name`, name, why));
  if (expression.trim() === '') return [...causes, required(`${path}.expression`)];
  const problem = conditionProblem(expression);
  return problem
    ? [...causes, invalidValue(`${path}.expression`, expression, `compilation failed: ${problem}`)]
    : causes;
}
