// Nulls, as a server that decodes into typed structures leaves them: none where the schema names a type.
//
//   null is           | afterwards
//   ------------------+---------------------------------------
//   a field           | absent
//   an item, a value  | the type's zero: "", 0, false, {}, []
//   where no type is  | null
import { isTree } from '../object.ts';
import { anything, fieldSchema, isMap, type Schema } from './schema.ts';

/** Takes nulls out of `value` in place: what reads it later relies on the types its schema names. */
export function dropNulls(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (const [i, item] of value.entries()) {
      if (item === null) value[i] = zeroOf(schema.items);
      else dropNulls(item, schema.items);
    }
  } else if (isTree(value)) dropFields(value, schema);
}

function dropFields(value: Record<string, unknown>, schema: Schema): void {
  const isFree = isMap(schema);
  for (const name of Object.keys(value)) {
    if (typeof value[name] !== 'object') continue;
    const child = fieldSchema(schema, name);
    if (!child) continue;
    if (value[name] !== null) dropNulls(value[name], child);
    else if (isFree) value[name] = zeroOf(child);
    else if (zeroOf(child) !== null) delete value[name];
  }
}

function zeroOf(schema: Schema): unknown {
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return 0;
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return null;
  }
}

/** Takes nulls out of a custom object in place where its schema has a value that may not be null. */
export function dropForbiddenNulls(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) for (const item of value) dropForbiddenNulls(item, schema.items ?? {});
  if (!isTree(value)) return;
  for (const name of Object.keys(value)) {
    if (typeof value[name] !== 'object') continue;
    const child = fieldSchema(schema, name);
    if (!child || child === anything) continue;
    // One that has a default is given that.
    if (value[name] !== null) dropForbiddenNulls(value[name], child);
    else if (child.nullable !== true && child.default === undefined && isTyped(child)) delete value[name];
  }
}

const isTyped = (schema: Schema): boolean => schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
