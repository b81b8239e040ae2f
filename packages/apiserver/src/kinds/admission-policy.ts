// The rules of validating admission policies and their bindings: what would only be found out when a write is judged.
import { compiled, expressionProblem, variableType, type Names } from '../cel/admission.ts';
import { duplicate, forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { dns1035Problems, pathProblems, qualifiedProblems, subdomainProblems } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { selectorCauses } from './label-selector.ts';
import { policyStatus } from './statuses.ts';
import { conditionsCauses, dropEmpty, ruleCauses } from './webhook-configuration.ts';

export const admissionPolicy: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const spec = part(object, 'spec');
    for (const field of ['validations', 'auditAnnotations', 'matchConditions', 'variables']) dropEmpty(spec, field);
    dropEmptyRules(treeOf(spec.matchConstraints));
  },
  validate: policyCauses,
  validateStatus: policyStatus,
};

export const policyBinding: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const spec = part(object, 'spec');
    dropEmpty(spec, 'validationActions');
    dropEmptyRules(treeOf(spec.matchResources));
  },
  validate: bindingCauses,
};

function dropEmptyRules(match: Tree): void {
  dropEmpty(match, 'resourceRules');
  dropEmpty(match, 'excludeResourceRules');
}

const trees = (value: unknown): Tree[] => listOf(value).map(treeOf);
const isBlank = (text: string): boolean => text.trim() === '';

function policyCauses(object: KubeObject): Cause[] {
  const spec = part(object, 'spec');
  const causes: Cause[] = [];
  const { failurePolicy, paramKind, matchConstraints } = spec;
  if (!failures.includes(textOf(failurePolicy)))
    causes.push(unsupported('spec.failurePolicy', failurePolicy, failures));
  if (isTree(paramKind)) causes.push(...paramKindCauses(paramKind));
  if (!isTree(matchConstraints)) causes.push(required('spec.matchConstraints'));
  else {
    causes.push(...matchCauses(matchConstraints, 'spec.matchConstraints'));
    if (listOf(matchConstraints.resourceRules).length === 0)
      causes.push(required('spec.matchConstraints.resourceRules'));
  }
  const names: Names = { params: isTree(paramKind), authorizer: true };
  causes.push(...conditionsCauses(trees(spec.matchConditions), 'spec.matchConditions', names.params));
  const { variables, causes: wrong } = variableCauses(trees(spec.variables), names);
  causes.push(...wrong);
  const [validations, annotations] = [trees(spec.validations), trees(spec.auditAnnotations)];
  if (validations.length === 0 && annotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    return [...causes, required('spec.validations', why), required('spec.auditAnnotations', why)];
  }
  const all: Names = { ...names, ...(variables ? { variables } : {}) };
  return [
    ...causes,
    ...validations.flatMap((one, i) => validationCauses(one, all, `spec.validations[${i}]`)),
    ...annotationsCauses(annotations, all, object.metadata.name ?? ''),
  ];
}

const failures = ['Fail', 'Ignore'];
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function paramKindCauses(kind: Tree): Cause[] {
  const [apiVersion, name] = [textOf(kind.apiVersion), textOf(kind.kind)];
  const path = 'spec.paramKind';
  const causes =
    apiVersion === '' ? [required(`${path}.apiVersion`)] : apiVersionCauses(apiVersion, `${path}.apiVersion`);
  if (name === '') return [...causes, required(`${path}.kind`)];
  const problems = dns1035Problems(name.toLowerCase());
  if (problems.length === 0) return causes;
  const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return [...causes, invalidValue(`${path}.kind`, name, why)];
}

function apiVersionCauses(apiVersion: string, path: string): Cause[] {
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/');
  if (parts.length > 2) return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [group, version] = parts.length === 1 ? ['', parts[0] ?? ''] : [parts[0] ?? '', parts[1] ?? ''];
  const groupProblems = group === '' ? [] : subdomainProblems(group);
  const problems = version === '' ? [] : dns1035Problems(version);
  return [
    ...(groupProblems.length > 0 ? [invalidValue(path, group, groupProblems.join(','))] : []),
    ...(version === '' ? [invalidValue(path, apiVersion, 'version must be specified')] : []),
    ...(problems.length > 0 ? [invalidValue(path, version, problems.join(','))] : []),
  ];
}

const policies = ['Equivalent', 'Exact'];

function matchCauses(match: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  if (!policies.includes(textOf(match.matchPolicy)))
    causes.push(unsupported(`${path}.matchPolicy`, match.matchPolicy, policies));
  for (const field of ['namespaceSelector', 'objectSelector'])
    causes.push(...selectorCauses(treeOf(match[field]), `${path}.${field}`));
  for (const field of ['resourceRules', 'excludeResourceRules'])
    trees(match[field]).forEach((rule, i) => causes.push(...namedRuleCauses(rule, `${path}.${field}[${i}]`)));
  return causes;
}

function namedRuleCauses(rule: Tree, path: string): Cause[] {
  const names = listOf(rule.resourceNames).map(textOf);
  const causes = names.flatMap((name, i) => [
    ...pathProblems(name).map((why) => invalidValue(`${path}.resourceNames[${i}]`, name, why)),
    ...(names.indexOf(name) < i ? [duplicate(`${path}.resourceNames[${i}]`, name)] : []),
  ]);
  return [...causes, ...ruleCauses(rule, path)];
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const words =
  /^(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/;

/** What is wrong with the variables, and the type of each: a later one may name those before it. */
function variableCauses(
  list: Tree[],
  names: Names,
): { causes: Cause[]; variables: Readonly<Record<string, string>> | undefined } {
  if (list.length === 0) return { causes: [], variables: undefined };
  let variables: Record<string, string> = {};
  const causes = list.flatMap((one, i): Cause[] => {
    const path = `spec.variables[${i}]`;
    const [name, expression] = [textOf(one.name), textOf(one.expression)];
    const named = isBlank(name)
      ? [required(`${path}.name`, 'name is not specified')]
      : identifier.test(name) && !words.test(name)
        ? []
        : [invalidValue(`${path}.name`, name, 'must be a valid CEL identifier')];
    if (isBlank(expression)) return [...named, required(`${path}.expression`, 'expression is not specified')];
    const found = compiled(expression, { ...names, variables });
    variables = { ...variables, [name]: found.ok ? variableType(found.type) : 'dyn' };
    return found.ok ? named : [...named, invalidValue(`${path}.expression`, expression, found.why)];
  });
  return { causes, variables };
}

function validationCauses(validation: Tree, names: Names, path: string): Cause[] {
  const { expression, message, messageExpression, reason } = validation;
  const causes = isBlank(textOf(expression))
    ? [required(`${path}.expression`, 'expression is not specified')]
    : celCauses(textOf(expression), names, `${path}.expression`, 'bool');
  const told = textOf(messageExpression);
  if (told !== '' && isBlank(told))
    causes.push(invalidValue(`${path}.messageExpression`, told, 'must be non-empty if specified'));
  else if (told !== '')
    causes.push(...celCauses(told, { ...names, authorizer: false }, `${path}.messageExpression`, 'string'));
  const text = textOf(message);
  if (text !== '' && isBlank(text))
    causes.push(invalidValue(`${path}.message`, text, 'must be non-empty if specified'));
  else if (/[\n\r]/.test(text.trim()))
    causes.push(invalidValue(`${path}.message`, text, 'must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(textOf(reason)))
    causes.push(unsupported(`${path}.reason`, reason, reasons));
  return causes;
}

function celCauses(expression: string, names: Names, path: string, ...wanted: string[]): Cause[] {
  const problem = expressionProblem(expression, names, ...wanted);
  return problem === undefined ? [] : [invalidValue(path, expression, problem)];
}

const mostAnnotations = 20;
const longestExpression = 5 * 1024;

function annotationsCauses(annotations: Tree[], names: Names, policy: string): Cause[] {
  const at = 'spec.auditAnnotations';
  const keys = annotations.map(({ key }) => textOf(key));
  const many =
    annotations.length > mostAnnotations
      ? [invalidValue(at, annotations, `must not have more than ${mostAnnotations} auditAnnotations`)]
      : [];
  return [
    ...many,
    ...annotations.flatMap((annotation, i) => {
      const causes = annotationCauses(annotation, names, policy, `${at}[${i}]`);
      return keys.indexOf(keys[i] ?? '') < i ? [...causes, duplicate(`${at}[${i}].key`, keys[i])] : causes;
    }),
  ];
}

function annotationCauses({ key, valueExpression }: Tree, names: Names, policy: string, path: string): Cause[] {
  const name = `${policy}/${textOf(key)}`;
  const causes = qualifiedProblems(name).map((why) => invalidValue(`${path}.key`, name, why));
  const expression = textOf(valueExpression).trim();
  const at = `${path}.valueExpression`;
  if (expression === '') return [...causes, required(at, 'valueExpression is not specified')];
  if (Buffer.byteLength(expression) > longestExpression)
    return [...causes, required(at, `must not exceed ${longestExpression} bytes in length`)];
  return [...causes, ...celCauses(expression, names, at, 'string', 'null')];
}

const actions = ['Audit', 'Deny', 'Warn'];

function bindingCauses(object: KubeObject): Cause[] {
  const { policyName, paramRef, matchResources, validationActions } = part(object, 'spec');
  const name = textOf(policyName);
  return [
    ...(name === ''
      ? [required('spec.policyName')]
      : subdomainProblems(name).map((why) => invalidValue('spec.policyName', name, why))),
    ...(isTree(paramRef) ? paramRefCauses(paramRef, 'spec.paramRef') : []),
    ...(isTree(matchResources) ? matchCauses(matchResources, 'spec.matchResources') : []),
    ...actionCauses(listOf(validationActions), 'spec.validationActions'),
  ];
}

function actionCauses(list: unknown[], path: string): Cause[] {
  const causes = list.flatMap((action, i) => [
    ...(actions.includes(textOf(action)) ? [] : [unsupported(`${path}[${i}]`, action, actions)]),
    ...(list.indexOf(action) < i ? [duplicate(`${path}[${i}]`, action)] : []),
  ]);
  const why =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  if (list.includes('Deny') && list.includes('Warn')) causes.push(invalidValue(path, list, why));
  return list.length === 0 ? [...causes, required(path, 'at least one validation action is required')] : causes;
}

const losses = ['Deny', 'Allow'];

function paramRefCauses({ name: said, selector, parameterNotFoundAction: loss }: Tree, path: string): Cause[] {
  const name = textOf(said);
  const both = 'name and selector are mutually exclusive';
  const isBoth = name !== '' && isTree(selector);
  const causes = name === '' ? [] : pathProblems(name).map((why) => invalidValue(`${path}.name`, name, why));
  if (isBoth) causes.push(forbiddenField(`${path}.name`, both));
  if (isTree(selector)) causes.push(...selectorCauses(selector, `${path}.selector`));
  if (isBoth) causes.push(forbiddenField(`${path}.selector`, both));
  if (name === '' && !isTree(selector)) causes.push(required(path, 'one of name or selector must be specified'));
  if (textOf(loss) === '') causes.push(required(`${path}.parameterNotFoundAction`));
  else if (!losses.includes(textOf(loss))) causes.push(unsupported(`${path}.parameterNotFoundAction`, loss, losses));
  return causes;
}
