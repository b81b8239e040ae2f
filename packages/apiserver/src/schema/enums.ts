// Values that are not among the few their schema lists: the one check of a schema that built-in kinds rely on.
import { unsupported } from '../field-error.ts';
import { isEqual, isTree } from '../object.ts';
import type { Cause } from '../status.ts';
import { reach } from './reach.ts';
import { fieldSchema, type Schema } from './schema.ts';

const hasEnum = reach((schema) => schema.enum !== undefined);

/** A cause for each value of `value` that its enum does not list. Types are not checked: decoding has done so. */
export function unlisted(value: unknown, schema: Schema, path = ''): Cause[] {
  const causes: Cause[] = [];
  check(value, schema, path, causes);
  return causes;
}

function check(value: unknown, schema: Schema, path: string, causes: Cause[]): void {
  if (value === null || value === undefined || !hasEnum(schema)) return;
  if (schema.enum && !schema.enum.some((listed) => isEqual(listed, value)))
    causes.push(unsupported(path, value, schema.enum));
  const { items } = schema;
  if (Array.isArray(value)) {
    if (items) value.forEach((item, i) => check(item, items, `${path}[${i}]`, causes));
  } else if (isTree(value)) {
    for (const name of Object.keys(value)) {
      const child = fieldSchema(schema, name);
      if (child) check(value[name], child, path === '' ? name : `${path}.${name}`, causes);
    }
  }
}
