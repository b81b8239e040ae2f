// What is refused in an object of a kind that a definition made: its schema, objects in it, repeats, scale, rules in CEL.
import { ruleProblems } from './cel/rules.ts';
import { invalidValue } from './field-error.ts';
import { isTree, textOf, type KubeObject } from './object.ts';
import type { ScalePaths, Version } from './resource.ts';
import { embeddedProblems } from './schema/embedded.ts';
import { repeated } from './schema/repeats.ts';
import type { Schema } from './schema/schema.ts';
import { validate } from './schema/validate.ts';
import type { Cause } from './status.ts';

export interface CustomSubject {
  object: KubeObject;
  old: KubeObject | undefined;
  version: Version;
  /** The subresource written: a write of `status` is checked in that part alone. */
  subresource: string;
  /** What was found in its metadata: rules wait for that too. */
  found: readonly Cause[];
  /** Told of what a rule forbids now, and was there before. */
  warn?: ((text: string) => void) | undefined;
}

/** Causes beside those of the metadata. */
export function customProblems({ object, old, version, subresource, found, warn }: CustomSubject): Cause[] {
  const isStatus = subresource === 'status';
  const causes = [
    ...(isStatus ? statusProblems(object, old, version.schema) : bodyProblems(object, old, version.schema)),
    ...(version.scale ? scaleProblems(object, version.scale, isStatus) : []),
    ...embeddedProblems(object, version.schema),
    ...repeated(object, version.schema),
  ];
  if (![...found, ...causes].some(isBlocking)) return [...causes, ...ruleProblems(object, old, version.schema, warn)];
  return [...causes, unchecked];
}

/** Metadata was decoded, and is checked by its own rules: not by what a definition says of it. */
function bodyProblems(object: KubeObject, old: KubeObject | undefined, schema: Schema): Cause[] {
  const { metadata: _, ...properties } = schema.properties ?? {};
  return validate(object, { ...schema, properties }, { old });
}

function statusProblems(object: KubeObject, old: KubeObject | undefined, schema: Schema): Cause[] {
  const status = schema.properties?.status;
  if (!status || object.status === undefined) return [];
  return validate(object.status, status, { at: 'status', old: old?.status });
}

const blocking = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const isBlocking = ({ reason }: Cause): boolean => blocking.includes(reason ?? '');

const unchecked = invalidValue(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** Numbers that a scale reads must be whole and fit; a status write changes only what the status says. */
function scaleProblems(object: KubeObject, scale: ScalePaths, isStatus: boolean): Cause[] {
  return [
    ...(isStatus ? [] : replicasProblems(object, scale.spec)),
    ...replicasProblems(object, scale.status),
    ...(scale.selector ? fieldProblems(object, scale.selector, 'string') : []),
  ];
}

const most = 2 ** 31 - 1;

function replicasProblems(object: KubeObject, path: string): Cause[] {
  const wrong = fieldProblems(object, path, 'int64');
  const value = fieldAt(object, path).value;
  if (wrong.length > 0 || typeof value !== 'number') return wrong;
  if (value < 0) return [invalidValue(`.${path}`, value, 'should be a non-negative integer')];
  return value > most ? [invalidValue(`.${path}`, value, `should be less than or equal to ${most}`)] : [];
}

function fieldProblems(object: KubeObject, path: string, wanted: 'int64' | 'string'): Cause[] {
  const { value, at, isReached } = fieldAt(object, path);
  const found = goType(value);
  if (value === undefined || (isReached && found === wanted)) return [];
  const type = isReached ? wanted : 'map[string]interface {}';
  const why = `.${at} accessor error: ${printed(value)} is of the type ${found}, expected ${type}`;
  return [invalidValue(`.${path}`, wanted === 'int64' ? 0 : '', why)];
}

/** The value at `path`, or the first on the way that has no fields. */
function fieldAt(object: KubeObject, path: string): { value: unknown; at: string; isReached: boolean } {
  let value: unknown = object;
  const names = path.split('.');
  for (const [i, name] of names.entries()) {
    if (value === undefined || value === null) return { value: undefined, at: path, isReached: true };
    if (!isTree(value)) return { value, at: names.slice(0, i).join('.'), isReached: false };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return { value, at: path, isReached: true };
}

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

const printed = (value: unknown): string =>
  value === null ? '<nil>' : typeof value === 'object' ? JSON.stringify(value) : textOf(value) || String(value);
