// `x-kubernetes-validations` as a definition writes them: what is refused before a rule ever runs.
import { costsOf } from '../cel/cost.ts';
import { declOf, mostBytes, wholeResource } from '../cel/decl.ts';
import { messageProblem, parsedRule, ruleProblem, usesOldSelf } from '../cel/rules.ts';
import { undefinedField } from '../cel/references.ts';
import { invalidValue, required, unsupported } from '../field-error.ts';
import type { Cause } from '../status.ts';
import { fieldAt } from './field-path.ts';
import { ruleForm } from './go-form.ts';
import { ruleBudget, type RuleBudget } from './rule-budget.ts';
import type { Schema, ValidationRule } from './schema.ts';

/** What is wrong with the rules of `schema` and of the schemas below it, or with what they cost together. */
export function ruleDefinitionProblems(schema: Schema, path: string): Cause[] {
  const texts = textProblems(schema, path);
  if (texts.length > 0) return texts;
  const budget = ruleBudget();
  const causes = compileProblems({ schema: wholeResource(schema), path, loose: undefined, count: 1, budget });
  return [...causes, ...budget.problems(path)];
}

const rulesOf = (schema: Schema, path: string): [ValidationRule, string][] =>
  (schema['x-kubernetes-validations'] ?? []).map((rule, i) => [rule, `${path}.x-kubernetes-validations[${i}]`]);

function below(schema: Schema, path: string): [Schema, string][] {
  const { items, additionalProperties: values } = schema;
  return [
    ...Object.entries(schema.properties ?? {}).map(([name, one]): [Schema, string] => [
      one,
      `${path}.properties[${name}]`,
    ]),
    ...(items ? [[items, `${path}.items`] as [Schema, string]] : []),
    ...(typeof values === 'object' ? [[values, `${path}.additionalProperties`] as [Schema, string]] : []),
  ];
}

const textProblems = (schema: Schema, path: string): Cause[] => [
  ...below(schema, path).flatMap(([one, at]) => textProblems(one, at)),
  ...rulesOf(schema, path).flatMap(([rule, at]) => ruleTextProblems(rule, schema, at)),
];

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const isBlank = (text: string | undefined): boolean => text !== undefined && text !== '' && text.trim() === '';
const hasBreak = (text: string | undefined): boolean => /[\r\n]/.test(text?.trim() ?? '');

function ruleTextProblems(rule: ValidationRule, schema: Schema, path: string): Cause[] {
  const { message, messageExpression, reason, fieldPath } = rule;
  const causes: Cause[] = [];
  if ((rule.rule ?? '').trim() === '') causes.push(required(`${path}.rule`, 'rule is not specified'));
  else if (isBlank(message))
    causes.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (hasBreak(message)) causes.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasBreak(rule.rule) && !message)
    causes.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (isBlank(messageExpression))
    causes.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (reason !== undefined && !reasons.includes(reason)) causes.push(unsupported(`${path}.reason`, reason, reasons));
  if (fieldPath) {
    const why = isBlank(fieldPath)
      ? 'must be non-empty if specified'
      : hasBreak(fieldPath)
        ? 'must not contain line breaks'
        : 'problem' in fieldAt(fieldPath, schema)
          ? 'must be a valid path'
          : undefined;
    if (why !== undefined) causes.push(invalidValue(`${path}.fieldPath`, fieldPath, why));
  }
  return causes;
}

interface Site {
  schema: Schema;
  path: string;
  /** The list or object on the way whose parts nobody can find again in an older version of the object. */
  loose: string | undefined;
  /** How many values of the schema there can be, by the limits on the way; undefined where one has none. */
  count: number | undefined;
  budget: RuleBudget;
}

function compileProblems(site: Site): Cause[] {
  const { schema, path } = site;
  const inner = below(schema, path).flatMap(([one, at]) => compileProblems(innerSite(site, one, at)));
  return [...inner, ...rulesOf(schema, path).flatMap(([rule, at]) => compiledProblems(site, rule, at))];
}

function innerSite({ schema, path, loose, count, budget }: Site, inner: Schema, at: string): Site {
  const isList = inner === schema.items;
  const isLoose = isList ? schema['x-kubernetes-list-type'] !== 'map' : schema['x-kubernetes-map-type'] === 'atomic';
  const isMap = inner === schema.additionalProperties;
  const limit = isList ? schema.maxItems : isMap ? schema.maxProperties : 1;
  return {
    schema: inner['x-kubernetes-embedded-resource'] ? wholeResource(inner) : inner,
    path: at,
    loose: loose ?? (isLoose ? path : undefined),
    count: count === undefined || limit === undefined ? undefined : count * Math.max(0, limit),
    budget,
  };
}

function compiledProblems({ schema, loose, count, budget }: Site, rule: ValidationRule, at: string): Cause[] {
  const form = ruleForm({ ...rule });
  const found = definitionProblem(rule, schema);
  if (found !== undefined) {
    const why = found === notBool ? found : `compilation failed: ${found}`;
    return [invalidValue(`${at}.rule`, form, why)];
  }
  const repeated = count ?? mostTimes(schema);
  const causes = budget.spend(
    `${at}.rule`,
    costsOf(parsedRule(rule.rule), schema, rule.optionalOldSelf).cost * repeated,
    'rule',
  );
  if (rule.messageExpression) {
    const wrong = messageProblem(rule);
    if (wrong !== undefined) causes.push(invalidValue(`${at}.messageExpression`, form, wrong));
    else {
      const cost = costsOf(parsedRule(rule.messageExpression), schema, rule.optionalOldSelf).cost;
      causes.push(...budget.spend(`${at}.messageExpression`, cost, 'messageExpression'));
    }
  }
  if (usesOldSelf(rule)) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${loose ?? ''}`;
    if (loose !== undefined) causes.push(invalidValue(`${at}.rule`, rule.rule, why));
  } else if (rule.optionalOldSelf !== undefined) {
    const why = 'may not be set if oldSelf is not used in rule';
    causes.push(invalidValue(`${at}.optionalOldSelf`, rule.optionalOldSelf, why));
  }
  return causes;
}

/** As often as the smallest value fits into the largest request, with a comma after each. */
const mostTimes = (schema: Schema): number => Math.floor(mostBytes / ((declOf(schema)?.least ?? 0) + 1));

/** Types are known from the schema, and their faults are told before what the evaluator finds without it. */
function definitionProblem(rule: ValidationRule, schema: Schema): string | undefined {
  const problem = ruleProblem(rule);
  if (problem === notBool || problem?.includes(': Syntax error: ')) return problem;
  const { problem: mistyped, kind } = costsOf(parsedRule(rule.rule), schema, rule.optionalOldSelf);
  const found = mistyped ?? problem ?? undefinedField(rule.rule, schema);
  return found ?? (neverBool.has(kind) ? notBool : undefined);
}

const neverBool = new Set<string>([
  'string',
  'bytes',
  'int',
  'double',
  'duration',
  'timestamp',
  'list',
  'map',
  'object',
]);
const notBool = 'cel expression must evaluate to a bool';
