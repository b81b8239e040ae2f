// Validation of a value by its schema, with the field paths and messages a real API server gives for custom resources.
import { duplicate, invalidValue, required, tooLong, tooMany, typeInvalid, unsupported } from '../field-error.ts';
import { isEqual, isTree, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { formatProblem } from './format.ts';
import { compilePattern } from './pattern.ts';
import { fieldSchema, type Schema } from './schema.ts';

/** Every way `value` at `path` breaks `schema`, in the order a reader meets them. */
export function validate(value: unknown, schema: Schema, path = ''): Cause[] {
  const causes: Cause[] = [];
  check(value, schema, path, causes);
  return causes;
}

function check(value: unknown, schema: Schema, path: string, causes: Cause[]): void {
  if (value === null && schema.nullable) return;
  const wrong = typeProblem(value, schema, path);
  if (wrong) {
    causes.push(wrong);
    return;
  }
  if (schema.enum && !schema.enum.some((allowed) => isEqual(allowed, value)))
    causes.push(unsupported(path, value, schema.enum));
  if (typeof value === 'string') checkText(value, schema, path, causes);
  if (typeof value === 'number') checkNumber(value, schema, path, causes);
  if (Array.isArray(value)) checkList(value, schema, path, causes);
  if (isTree(value)) checkObject(value, schema, path, causes);
  checkLogic(value, schema, path, causes);
}

const said = (path: string): string => path;

function typeProblem(value: unknown, schema: Schema, path: string): Cause | undefined {
  const found = typeOf(value);
  if (schema['x-kubernetes-int-or-string']) {
    if (found === 'string' || found === 'integer') return undefined;
    return typeInvalid(path, found, `${said(path)} in body must be of type integer,string: "${found}"`);
  }
  if (!schema.type || schema.type === found || (schema.type === 'number' && found === 'integer')) return undefined;
  if (value === null && path === '') return undefined;
  return typeInvalid(path, found, `${said(path)} in body must be of type ${schema.type}: "${found}"`);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkText(value: string, schema: Schema, path: string, causes: Cause[]): void {
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) causes.push(tooLong(path, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    causes.push(invalidValue(path, value, `${said(path)} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern !== undefined && compilePattern(schema.pattern)?.test(value) === false) {
    causes.push(invalidValue(path, value, `${said(path)} in body should match '${schema.pattern}'`));
  }
  if (schema.format && formatProblem(value, schema.format)) {
    causes.push(
      invalidValue(path, value, `${said(path)} in body must be of type ${schema.format}: ${JSON.stringify(value)}`),
    );
  }
}

function checkNumber(value: number, schema: Schema, path: string, causes: Cause[]): void {
  const { minimum, maximum, multipleOf } = schema;
  const complain = (why: string) => causes.push(invalidValue(path, value, `${said(path)} in body should be ${why}`));
  if (minimum !== undefined && schema.exclusiveMinimum && value <= minimum) complain(`greater than ${minimum}`);
  else if (minimum !== undefined && value < minimum) complain(`greater than or equal to ${minimum}`);
  if (maximum !== undefined && schema.exclusiveMaximum && value >= maximum) complain(`less than ${maximum}`);
  else if (maximum !== undefined && value > maximum) complain(`less than or equal to ${maximum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) complain(`a multiple of ${multipleOf}`);
  if (schema.format === 'int32' && (value > 2147483647 || value < -2147483648)) {
    complain(`of type int32: "${value}"`);
  }
}

function checkList(value: unknown[], schema: Schema, path: string, causes: Cause[]): void {
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    causes.push(tooMany(path, value.length, schema.maxItems));
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    causes.push(
      invalidValue(path, value.length, `${said(path)} in body should have at least ${schema.minItems} items`),
    );
  }
  if (schema.uniqueItems && value.some((item, i) => value.slice(0, i).some((seen) => isEqual(seen, item)))) {
    causes.push(invalidValue(path, value, `${said(path)} in body shouldn't contain duplicates`));
  }
  const items = schema.items;
  if (items) value.forEach((item, i) => check(item, items, `${path}[${i}]`, causes));
  checkRepeats(value, schema, path, causes);
}

/** Sets hold a value once; map lists hold each key once. */
function checkRepeats(value: unknown[], schema: Schema, path: string, causes: Cause[]): void {
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  value.forEach((item, i) => {
    const key = kind === 'set' ? item : keyOf(item, keys);
    const text = JSON.stringify(key);
    if (seen.has(text)) causes.push(duplicate(`${path}[${i}]`, key));
    seen.add(text);
  });
}

function keyOf(item: unknown, keys: string[]): Tree {
  const key: Tree = {};
  if (isTree(item)) for (const name of keys) if (item[name] !== undefined) key[name] = item[name];
  return key;
}

function checkObject(value: Tree, schema: Schema, path: string, causes: Cause[]): void {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) causes.push(required(below(name)));
  }
  const size = Object.keys(value).length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    causes.push({ ...tooMany(path, size, schema.maxProperties) });
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    causes.push(
      invalidValue(path, size, `${said(path)} in body should have at least ${schema.minProperties} properties`),
    );
  }
  for (const name of Object.keys(value)) {
    const child = fieldSchema(schema, name);
    if (child) check(value[name], child, below(name), causes);
  }
}

function checkLogic(value: unknown, schema: Schema, path: string, causes: Cause[]): void {
  const fits = (one: Schema) => validate(value, one, path).length === 0;
  const complain = (why: string) => causes.push(invalidValue(path, isTree(value) ? typeOf(value) : value, why));
  for (const one of schema.allOf ?? []) check(value, one, path, causes);
  if (schema.anyOf && !schema.anyOf.some(fits)) complain(`"${path}" must validate at least one schema (anyOf)`);
  const matching = schema.oneOf?.filter(fits).length;
  if (matching === 0) complain(`"${path}" must validate one and only one schema (oneOf). Found none valid`);
  if (matching !== undefined && matching > 1) {
    complain(`"${path}" must validate one and only one schema (oneOf). Found ${matching} valid alternatives`);
  }
  if (schema.not && fits(schema.not)) complain(`"${path}" must not validate the schema (not)`);
}
