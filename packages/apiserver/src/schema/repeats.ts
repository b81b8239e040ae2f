// Lists that hold each value, or each key, once: sets and map lists of custom resources.
import { isTree, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { fieldSchema, type Schema } from './schema.ts';
import { reach } from './reach.ts';

const isKeyed = (schema: Schema): boolean => /^(set|map)$/.test(schema['x-kubernetes-list-type'] ?? '');
const hasKeyed = reach(isKeyed);

/** Every element of `value` that is in its list a second time. */
export function repeated(value: unknown, schema: Schema, path = ''): Cause[] {
  if (!hasKeyed(schema)) return [];
  if (Array.isArray(value)) {
    const below = value.flatMap((item, i) => (schema.items ? repeated(item, schema.items, `${path}[${i}]`) : []));
    return isKeyed(schema) ? [...repeatedIn(value, schema, path), ...below] : below;
  }
  if (!isTree(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const child = fieldSchema(schema, name);
    return child ? repeated(value[name], child, path === '' ? name : `${path}.${name}`) : [];
  });
}

function repeatedIn(value: unknown[], schema: Schema, path: string): Cause[] {
  const seen = new Set<string>();
  return value.flatMap((item, i) => {
    const isMap = schema['x-kubernetes-list-type'] === 'map';
    const key = JSON.stringify(isMap ? keyOf(item, schema) : item);
    const isNew = !seen.has(key);
    seen.add(key);
    const cause = { reason: 'FieldValueDuplicate', message: `Duplicate value: ${key}`, field: `${path}[${i}]` };
    return isNew ? [] : [cause];
  });
}

function keyOf(item: unknown, schema: Schema): Tree {
  const key: Tree = {};
  for (const name of schema['x-kubernetes-list-map-keys'] ?? []) {
    const value = isTree(item) && Object.hasOwn(item, name) ? item[name] : schema.items?.properties?.[name]?.default;
    if (value !== undefined) key[name] = value;
  }
  return key;
}
