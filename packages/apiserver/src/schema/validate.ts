// Validation of a value by its schema, with the field paths and messages a real API server gives for custom resources.
import { invalidValue, required, tooLong, tooMany, typeInvalid, unsupported } from '../field-error.ts';
import { isEqual, isTree, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { formatProblem } from './format.ts';
import { fits } from './pattern.ts';
import { fieldSchema, type Schema } from './schema.ts';

/** Where findings go: `at` is the field the validated value stands at, which messages leave out and field paths begin with. */
interface Findings {
  at: string;
  causes: Cause[];
  /** How many values were looked at: of several alternatives the one that was followed furthest is told of. */
  seen: number;
}

export interface ValidateOptions {
  /** The field that `value` is, when it is not a whole object. */
  at?: string;
  /** What the value was: what has not changed is not looked at again, though the schema may have become stricter. */
  old?: unknown;
}

/** Every way `value` breaks `schema`, in the real server's order: type, logic, text, number, list, enum, object. */
export function validate(value: unknown, schema: Schema, { at = '', old }: ValidateOptions = {}): Cause[] {
  const findings = { at, causes: [], seen: 0 };
  check({ value, old, schema, path: '' }, findings);
  return findings.causes;
}

interface Site {
  value: unknown;
  old: unknown;
  schema: Schema;
  path: string;
}

function check(site: Site, findings: Findings): void {
  const { value, old, schema, path } = site;
  findings.seen++;
  if (value === null && schema.nullable) return;
  if (old !== undefined && isEqual(value, old)) return;
  const wrong = typeProblem(site, findings);
  if (wrong) findings.causes.push(wrong);
  checkLogic(site, findings);
  if (!wrong) {
    if (typeof value === 'string') checkText(value, site, findings);
    if (typeof value === 'number') checkNumber(value, site, findings);
    if (Array.isArray(value)) checkList(value, site, findings);
  }
  if (schema.enum && !schema.enum.some((allowed) => isEqual(allowed, value)))
    findings.causes.push(unsupported(fieldOf(path, findings), value, schema.enum));
  if (!wrong && isTree(value)) checkObject(value, site, findings);
}

/** The field a cause names; without one the real server prints a path that is none. */
const fieldOf = (path: string, { at }: Findings): string =>
  path === '' ? at || '<nil>' : at === '' || path.startsWith('[') ? at + path : `${at}.${path}`;

function typeProblem({ value, schema, path }: Site, findings: Findings): Cause | undefined {
  const found = typeOf(value);
  const wrong = (wanted: string): Cause =>
    typeInvalid(fieldOf(path, findings), found, `${path} in body must be of type ${wanted}: "${found}"`);
  if (schema['x-kubernetes-int-or-string'])
    return found === 'string' || found === 'integer' ? undefined : wrong('integer,string');
  if (!schema.type || schema.type === found || (schema.type === 'number' && found === 'integer')) return undefined;
  return value === null && path === '' ? undefined : wrong(schema.type);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkText(value: string, { schema, path }: Site, findings: Findings): void {
  const { causes } = findings;
  const field = fieldOf(path, findings);
  if (schema.maxLength !== undefined && lengthOf(value) > schema.maxLength)
    causes.push(tooLong(field, schema.maxLength));
  if (schema.minLength !== undefined && lengthOf(value) < schema.minLength)
    causes.push(invalidValue(field, value, `${path} in body should be at least ${schema.minLength} chars long`));
  if (schema.pattern !== undefined && !fits(schema.pattern, value))
    causes.push(invalidValue(field, value, `${path} in body should match '${schema.pattern}'`));
  if (schema.format && formatProblem(value, schema.format))
    causes.push(
      typeInvalid(field, value, `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`),
    );
}

/** In characters, each of which may be two of the text's units. */
const lengthOf = (text: string): number => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length);

function checkNumber(value: number, { schema, path }: Site, findings: Findings): void {
  const { minimum, maximum, multipleOf } = schema;
  const complain = (why: string) =>
    findings.causes.push(invalidValue(fieldOf(path, findings), value, `${path} in body should be ${why}`));
  if (minimum !== undefined && schema.exclusiveMinimum && value <= minimum) complain(`greater than ${minimum}`);
  else if (minimum !== undefined && value < minimum) complain(`greater than or equal to ${minimum}`);
  if (maximum !== undefined && schema.exclusiveMaximum && value >= maximum) complain(`less than ${maximum}`);
  else if (maximum !== undefined && value > maximum) complain(`less than or equal to ${maximum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) complain(`a multiple of ${multipleOf}`);
}

function checkList(value: unknown[], { schema, path }: Site, findings: Findings): void {
  const { causes } = findings;
  const field = fieldOf(path, findings);
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    causes.push(tooMany(field, value.length, schema.maxItems));
  if (schema.minItems !== undefined && value.length < schema.minItems)
    causes.push(invalidValue(field, value.length, `${path} in body should have at least ${schema.minItems} items`));
  if (schema.uniqueItems && value.some((item, i) => value.slice(0, i).some((seen) => isEqual(seen, item))))
    causes.push(invalidValue(field, value, `${path} in body shouldn't contain duplicates`));
  const items = schema.items;
  if (items)
    value.forEach((item, i) => check({ value: item, old: undefined, schema: items, path: `${path}[${i}]` }, findings));
}

function checkObject(value: Tree, { old, schema, path }: Site, findings: Findings): void {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { causes } = findings;
  const size = Object.keys(value).length;
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    const why = `${path} in body should have at least ${schema.minProperties} properties`;
    causes.push(invalidValue(fieldOf(path, findings), size, why));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties)
    causes.push(tooMany(fieldOf(path, findings), size, schema.maxProperties));
  const before = isTree(old) ? old : {};
  for (const name of Object.keys(value)) {
    const child = fieldSchema(schema, name);
    if (child) check({ value: value[name], old: before[name], schema: child, path: below(name) }, findings);
  }
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(value, name)) causes.push(required(fieldOf(below(name), findings)));
}

/** What logic finds is told of the whole object; then follows what the nearest alternative lacks. */
function checkLogic(site: Site, findings: Findings): void {
  const { schema, path } = site;
  if (!schema.anyOf && !schema.oneOf && !schema.allOf && !schema.not) return;
  const attempt = (one: Schema): Findings => {
    const tried: Findings = { at: findings.at, causes: [], seen: 0 };
    check({ ...site, schema: one, old: undefined }, tried);
    return tried;
  };
  const complain = (why: string) => findings.causes.push(invalidValue(findings.at || '<nil>', '', why));
  const nearest = (tried: Findings[]): Cause[] =>
    tried.reduce((best, one) => (one.seen > best.seen ? one : best)).causes;
  const any = schema.anyOf?.map(attempt) ?? [];
  if (any.length > 0 && any.every((one) => one.causes.length > 0)) {
    complain(`"${path}" must validate at least one schema (anyOf)`);
    findings.causes.push(...nearest(any));
  }
  const one = schema.oneOf?.map(attempt) ?? [];
  const matching = one.filter(({ causes }) => causes.length === 0).length;
  if (one.length > 0 && matching !== 1) {
    const found = matching === 0 ? 'Found none valid' : `Found ${matching} valid alternatives`;
    complain(`"${path}" must validate one and only one schema (oneOf). ${found}`);
    if (matching === 0) findings.causes.push(...nearest(one));
  }
  const all = schema.allOf?.map(attempt) ?? [];
  const broken = all.filter(({ causes }) => causes.length > 0);
  findings.causes.push(...broken.flatMap(({ causes }) => causes));
  if (broken.length > 0)
    complain(
      `"${path}" must validate all the schemas (allOf)${broken.length === all.length ? '. None validated' : ''}`,
    );
  if (schema.not && attempt(schema.not).causes.length === 0) complain(`"${path}" must not validate the schema (not)`);
}
