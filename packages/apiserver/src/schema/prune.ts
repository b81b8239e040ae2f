// Fields a schema does not name: found, reported, and dropped. Defaults: filled in where the schema has them.
import { copyOf, isTree, put, type Tree } from '../object.ts';
import { reach } from './reach.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

/** Drops unknown fields of `value` in place and returns their paths (`spec.foo`, `spec.list[0].bar`), in the order found. */
export function prune(value: unknown, schema: Schema): string[] {
  const dropped: string[] = [];
  // Mostly nothing is unknown, and that is found out sooner without paths.
  if (hasUnknown(value, schema, true)) pruneAt({ value, schema, path: '', dropped, isRoot: true });
  return dropped;
}

function hasUnknown(value: unknown, schema: Schema, isRoot: boolean): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items !== undefined && value.some((item) => hasUnknown(item, items, false));
  }
  if (!isTree(value)) return false;
  for (const name of Object.keys(value)) {
    const child = fieldSchema(schema, name);
    if (child ? hasUnknown(value[name], child, false) : isUnknown(name, schema, isRoot)) return true;
  }
  return false;
}

/** Whether a field that has no schema is to be dropped. */
function isUnknown(name: string, schema: Schema, isRoot: boolean): boolean {
  if (keepsUnknown(schema) || !isTyped(schema)) return false;
  return !((isRoot || schema['x-kubernetes-embedded-resource'] === true) && isTypeMeta(name));
}

interface Place {
  value: unknown;
  schema: Schema;
  path: string;
  dropped: string[];
  isRoot: boolean;
}

function pruneAt(place: Place): void {
  const { value, schema, path, dropped } = place;
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items)
      value.forEach((item, i) =>
        pruneAt({ value: item, schema: items, path: `${path}[${i}]`, dropped, isRoot: false }),
      );
    return;
  }
  if (!isTree(value)) return;
  for (const name of Object.keys(value)) {
    const below = path === '' ? name : `${path}.${name}`;
    const child = fieldSchema(schema, name);
    if (child) pruneAt({ value: value[name], schema: child, path: below, dropped, isRoot: false });
    else if (isUnknown(name, schema, place.isRoot)) {
      delete value[name];
      dropped.push(below);
    }
  }
}

const isTypeMeta = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata';

/** A schema without a type (`{}`) or with int-or-string says nothing of fields; one of type object does, though it names none. */
const isTyped = (schema: Schema): boolean => schema.type === 'object' || schema.properties !== undefined;

/** Fills defaults in place, parents before children so that a default's own fields get theirs. */
export function fillDefaults(value: unknown, schema: Schema): void {
  if (!hasDefaults(schema)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) fillDefaults(item, schema.items);
    return;
  }
  if (!isTree(value)) return;
  fillMissing(value, schema);
  for (const name of Object.keys(value)) {
    const item = value[name];
    if (typeof item !== 'object' || item === null) continue;
    const child = fieldSchema(schema, name);
    if (child) fillDefaults(item, child);
  }
}

const defaultsOf = new WeakMap<Schema, [name: string, field: Schema][]>();

/** The fields of a schema that have a default. Schemas never change. */
function withDefault(schema: Schema): [name: string, field: Schema][] {
  let found = defaultsOf.get(schema);
  if (!found) {
    found = Object.entries(schema.properties ?? {}).filter(([, field]) => field.default !== undefined);
    defaultsOf.set(schema, found);
  }
  return found;
}

const hasDefaults = reach((schema) => withDefault(schema).length > 0);

function fillMissing(value: Tree, schema: Schema): void {
  for (const [name, child] of withDefault(schema)) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    // A null where the schema forbids null is as good as absent: it is dropped first, then gets the default.
    const isAbsent = found === undefined || (found === null && child.nullable !== true);
    if (isAbsent) put(value, name, copyOf(child.default));
  }
}
