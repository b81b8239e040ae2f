// What config maps and secrets hold: keys that can be names of files, a limit of size, and contents that may be fixed.
import { forbiddenField, invalidValue } from '../field-error.ts';
import { isEqual, textOf, type KubeObject } from '../object.ts';
import { part } from '../resource.ts';
import { formatProblem } from '../schema/format.ts';
import type { Cause } from '../status.ts';

const keyPattern = /^[-._a-zA-Z0-9]+$/;
const keyHint =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const mostBytes = 1024 * 1024;

/** `sizeField` is what a refusal of their size names. */
export function dataCauses(object: KubeObject, fields: string[], sizeField: string): Cause[] {
  const causes: Cause[] = [];
  let bytes = 0;
  for (const field of fields) {
    for (const [key, value] of Object.entries(part(object, field))) {
      if (!keyPattern.test(key) || key === '.' || key.startsWith('..'))
        causes.push(invalidValue(`${field}[${key}]`, key, keyHint));
      bytes += textOf(value).length;
    }
  }
  if (bytes > mostBytes)
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${mostBytes} bytes`,
      field: sizeField,
    });
  return causes;
}

export function immutableCauses(object: KubeObject, old: KubeObject | undefined, fields: string[]): Cause[] {
  if (old?.immutable !== true) return [];
  const causes =
    object.immutable === true ? [] : [forbiddenField('immutable', 'field is immutable when `immutable` is set')];
  for (const field of fields) {
    if (!isEqual(object[field], old[field]))
      causes.push(forbiddenField(field, 'field is immutable when `immutable` is set'));
  }
  return causes;
}

export const base64Causes = (object: KubeObject, field: string): Cause[] =>
  Object.entries(part(object, field))
    .filter(([, value]) => formatProblem(textOf(value), 'byte'))
    .map(([key, value]) => invalidValue(`${field}[${key}]`, value, 'must be base64'));
