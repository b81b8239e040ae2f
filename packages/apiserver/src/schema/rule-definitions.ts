// `x-kubernetes-validations` as a definition writes them: what is refused before a rule ever runs.
import { compileProblem } from '../cel/rules.ts';
import { undefinedField } from '../cel/references.ts';
import { invalidValue, required, unsupported } from '../field-error.ts';
import type { Cause } from '../status.ts';
import { fieldAt } from './field-path.ts';
import { ruleForm } from './go-form.ts';
import type { Schema, ValidationRule } from './schema.ts';

/** What is wrong with the rules of `schema` and of the schemas below it. */
export function ruleDefinitionProblems(schema: Schema, path: string): Cause[] {
  const texts = textProblems(schema, path);
  return texts.length > 0 ? texts : compileProblems(whole(schema), path, undefined);
}

/** The schema with what rules see of every object: its kind and its names. */
function whole(schema: Schema): Schema {
  const text = { type: 'string' };
  const metadata = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
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
  ...rulesOf(schema, path).flatMap(([rule, at]) => ruleTextProblems(rule, schema, at)),
  ...below(schema, path).flatMap(([one, at]) => textProblems(one, at)),
];

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const isBlank = (text: string | undefined): boolean => text !== undefined && text !== '' && text.trim() === '';
const hasBreak = (text: string | undefined): boolean => /[\r\n]/.test(text?.trim() ?? '');

function ruleTextProblems(rule: ValidationRule, schema: Schema, path: string): Cause[] {
  const { message, messageExpression, reason, fieldPath } = rule;
  const causes: Cause[] = [];
  if ((rule.rule ?? '').trim() === '') causes.push(required(`${path}.rule`, 'rule is not specified'));
  if (isBlank(message)) causes.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (hasBreak(message)) causes.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasBreak(rule.rule) && !message)
    causes.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (isBlank(messageExpression)) causes.push(required(`${path}.messageExpression`, 'must be non-empty if specified'));
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

/** `loose` is the list or map on the way whose elements nobody can find again in an older version of the object. */
function compileProblems(schema: Schema, path: string, loose: string | undefined): Cause[] {
  const own = rulesOf(schema, path).flatMap(([rule, at]) => {
    const found = compileProblem(rule) ?? undefinedField(rule.rule, schema);
    if (found) {
      const why = found === notBool ? found : `compilation failed: ${found}`;
      return [invalidValue(`${at}.rule`, ruleForm({ ...rule }), why)];
    }
    if (loose === undefined || !/\boldSelf\b/.test(rule.rule)) return [];
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${loose}`;
    return [invalidValue(`${at}.rule`, rule.rule, why)];
  });
  const isLoose = schema.type === 'array' && schema['x-kubernetes-list-type'] !== 'map';
  const within = loose ?? (isLoose ? path : undefined);
  return [...own, ...below(schema, path).flatMap(([one, at]) => compileProblems(one, at, within))];
}

const notBool = 'cel expression must evaluate to a bool';
