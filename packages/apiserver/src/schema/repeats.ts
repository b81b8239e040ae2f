// Lists that hold each value, or each key, once: sets and map lists of custom resources.
import { isTree, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { fieldSchema, type Schema } from './schema.ts';
import { reach } from './reach.ts';

const isKeyed = (schema: Schema): boolean => /^(set|map)$/.test(schema['x-kubernetes-list-type'] ?? '');
const hasKeyed = reach(isKeyed);

/** Every element of `value` that is in its list a second time. */
export function repeated(value: unknown, schema: Schema): Cause[] {
  const causes: Cause[] = [];
  gather({ value, schema, path: '' }, causes);
  return causes;
}

interface Site {
  value: unknown;
  schema: Schema;
  path: string;
}

function gather({ value, schema, path }: Site, causes: Cause[]): void {
  if (!hasKeyed(schema)) return;
  if (Array.isArray(value)) {
    // One element repeats nothing.
    if (value.length > 1 && isKeyed(schema)) causes.push(...repeatedIn(value, schema, path));
    const { items } = schema;
    if (items && hasKeyed(items))
      for (const [i, item] of value.entries()) gather({ value: item, schema: items, path: `${path}[${i}]` }, causes);
  } else if (isTree(value)) {
    for (const name of Object.keys(value)) {
      if (typeof value[name] !== 'object') continue;
      const child = fieldSchema(schema, name);
      if (child) gather({ value: value[name], schema: child, path: path === '' ? name : `${path}.${name}` }, causes);
    }
  }
}

function repeatedIn(value: unknown[], schema: Schema, path: string): Cause[] {
  const seen = new Set<string>();
  const causes: Cause[] = [];
  for (const [i, item] of value.entries()) {
    const key = JSON.stringify(schema['x-kubernetes-list-type'] === 'map' ? keyOf(item, schema) : item);
    if (seen.size === seen.add(key).size)
      causes.push({ reason: 'FieldValueDuplicate', message: `Duplicate value: ${key}`, field: `${path}[${i}]` });
  }
  return causes;
}

function keyOf(item: unknown, schema: Schema): Tree {
  const key: Tree = {};
  for (const name of schema['x-kubernetes-list-map-keys'] ?? []) {
    const value = isTree(item) && Object.hasOwn(item, name) ? item[name] : schema.items?.properties?.[name]?.default;
    if (value !== undefined) key[name] = value;
  }
  return key;
}
