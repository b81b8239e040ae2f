// Sets of fields in the `FieldsV1` form, and the algebra server-side apply needs on them. Pure.
//   f:<name> a field · k:<keys> a list element by its keys · v:<value> an element of a set · "." the place itself
// A node with no children is a member; one with children is a member only when it has ".".
import { isEqual, isTree, put, type Tree } from '../object.ts';
import { anything, fieldSchema, type Schema } from '../schema/schema.ts';

const self = '.';
const childrenOf = (node: Tree): string[] => Object.keys(node).filter((key) => key !== self);
const child = (node: Tree | undefined, key: string): Tree | undefined => {
  const found = node && Object.hasOwn(node, key) ? node[key] : undefined;
  return isTree(found) ? found : undefined;
};
export const isMember = (node: Tree): boolean => Object.hasOwn(node, self) || childrenOf(node).length === 0;

const isAtomic = (schema: Schema): boolean => schema['x-kubernetes-map-type'] === 'atomic';
export const listKind = (schema: Schema): string => schema['x-kubernetes-list-type'] ?? 'atomic';

/** The key of a map list's element, as it stands in a field set: `k:{"name":"a"}`; keys it does not say take their defaults. */
export function elementKey(item: unknown, schema: Schema): string {
  const key: Tree = {};
  for (const name of keyNames(schema)) {
    const value = isTree(item) ? item[name] : undefined;
    const found = value ?? schema.items?.properties?.[name]?.default;
    if (found !== undefined) key[name] = found;
  }
  return `k:${JSON.stringify(key)}`;
}

const sortedNames = new WeakMap<Schema, string[]>();

function keyNames(schema: Schema): string[] {
  let names = sortedNames.get(schema);
  if (!names) sortedNames.set(schema, (names = [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort()));
  return names;
}

export interface Part {
  key: string;
  value: unknown;
  schema: Schema;
}

/** What a value consists of, one level down: its children with their keys in a field set. Undefined when it has no parts of its own. */
export function partsOf(value: unknown, schema: Schema): Part[] | undefined {
  if (isTree(value) && !isAtomic(schema)) {
    return Object.keys(value).map((name) => ({
      key: `f:${name}`,
      value: value[name],
      schema: fieldSchema(schema, name) ?? {},
    }));
  }
  if (!Array.isArray(value)) return undefined;
  const items = schema.items ?? {};
  if (listKind(schema) === 'map')
    return value.map((item) => ({ key: elementKey(item, schema), value: item, schema: items }));
  if (listKind(schema) === 'set')
    return value.map((item) => ({ key: `v:${JSON.stringify(item)}`, value: item, schema: items }));
  return undefined;
}

/** Every field that `value` says something about. */
export function fieldsOf(value: unknown, schema: Schema): Tree {
  const out: Tree = {};
  for (const part of partsOf(value, schema) ?? []) {
    const below = fieldsOf(part.value, part.schema);
    // What no schema tells of is taken for a map, which is itself a field of whoever says it.
    const isOwn = part.key.startsWith('k:') || (part.schema === anything && childrenOf(below).length > 0);
    put(out, part.key, isOwn ? { [self]: {}, ...below } : below);
  }
  return out;
}

/** The fields that are new or different in `next`; undefined when there are none. */
export function changedFields(old: unknown, next: unknown, schema: Schema): Tree | undefined {
  if (isEqual(old, next)) return undefined;
  const parts = partsOf(next, schema);
  if (!parts) return {};
  if (old === undefined || old === null) return newFields(next, schema);
  const before = new Map((partsOf(old, schema) ?? []).map((part) => [part.key, part.value]));
  const out: Tree = {};
  for (const part of parts) {
    const isThere = before.has(part.key) || isAlways(part);
    const was = before.has(part.key) ? before.get(part.key) : {};
    const below = isThere ? changedFields(was, part.value, part.schema) : newFields(part.value, part.schema);
    if (below) put(out, part.key, below);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** Whether a part is never new itself, only what is in it. */
const isAlways = ({ value, schema }: Part): boolean => schema['x-go-always'] !== undefined && typeof value === 'object';

/** Fields of a value that was not there: maps, elements and nested objects are themselves new too. */
function newFields(value: unknown, schema: Schema): Tree {
  const parts = partsOf(value, schema) ?? [];
  const out: Tree = parts.length > 0 ? { [self]: {} } : {};
  for (const part of parts) put(out, part.key, newFields(part.value, part.schema));
  return out;
}

export function union(a: Tree, b: Tree): Tree {
  const out: Tree = {};
  for (const key of new Set([...childrenOf(a), ...childrenOf(b)])) {
    const [left, right] = [child(a, key), child(b, key)];
    put(out, key, left && right ? union(left, right) : (left ?? right));
  }
  return withSelf(out, isMember(a) || isMember(b));
}

/** The members of `a` that are not members of `b`; undefined when none are left. */
export function subtract(a: Tree, b: Tree): Tree | undefined {
  const isIn = isMember(a) && !isMember(b);
  return kept(a, isIn, (left, key) => {
    const right = child(b, key);
    return right ? subtract(left, right) : left;
  });
}

/** The members of both; undefined when there are none. */
export function intersect(a: Tree, b: Tree): Tree | undefined {
  const out: Tree = {};
  for (const key of childrenOf(a)) {
    const [left, right] = [child(a, key), child(b, key)];
    const both = left && right && intersect(left, right);
    if (both) put(out, key, both);
  }
  return orNothing(out, isMember(a) && isMember(b));
}

/** The members of `set` that are still in `value`; undefined when none are. */
export function present(set: Tree, value: unknown, schema: Schema): Tree | undefined {
  const find = finder(value, schema);
  return kept(set, isMember(set), (below, key) => {
    const part = find(key);
    return part && present(below, part.value, part.schema);
  });
}

/** The parts of a value by their keys, as `partsOf` has them: a field is looked up, without making the others. */
function finder(value: unknown, schema: Schema): (key: string) => Pick<Part, 'value' | 'schema'> | undefined {
  if (isTree(value)) {
    if (isAtomic(schema)) return () => undefined;
    return (key) => {
      const name = key.slice(2);
      if (!key.startsWith('f:') || !Object.hasOwn(value, name)) return undefined;
      return { value: value[name], schema: fieldSchema(schema, name) ?? {} };
    };
  }
  const parts = new Map(partsOf(value, schema)?.map((part) => [part.key, part]));
  return (key) => parts.get(key);
}

/** What `keep` leaves of the children of `node`, itself a member or not; the very node where that is all of it. */
function kept(node: Tree, isIn: boolean, keep: (below: Tree, key: string) => Tree | undefined): Tree | undefined {
  const keys = childrenOf(node);
  let rest: Tree | undefined;
  for (const [i, key] of keys.entries()) {
    const below = child(node, key);
    const left = below && keep(below, key);
    if (!rest && left && left === below) continue;
    rest ??= pick(node, keys.slice(0, i));
    if (left) put(rest, key, left);
  }
  if (!rest && isPlain(node, keys, isIn)) return node;
  return orNothing(rest ?? pick(node, keys), isIn);
}

const pick = (node: Tree, keys: string[]): Tree => Object.fromEntries(keys.map((key) => [key, node[key]]));

/** Whether a node of these children says what it says of itself as we do. */
const isPlain = (node: Tree, children: string[], isIn: boolean): boolean =>
  isIn && children.length > 0
    ? Object.keys(node)[0] === self && isEqual(node[self], {})
    : Object.keys(node).length === children.length && (isIn || children.length > 0);

function withSelf(node: Tree, isIn: boolean): Tree {
  return isIn && childrenOf(node).length > 0 ? { [self]: {}, ...node } : node;
}

function orNothing(node: Tree, isIn: boolean): Tree | undefined {
  if (isIn) return withSelf(node, true);
  return childrenOf(node).length > 0 ? node : undefined;
}

/** The members as paths for people: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathsOf(set: Tree, path = ''): string[] {
  const own = isMember(set) && path !== '' ? [path] : [];
  return [...own, ...childrenOf(set).flatMap((key) => pathsOf(child(set, key) ?? {}, path + stepText(key)))];
}

/** A step of a path for people: `.name`, `[key="value"]`. */
export function stepText(key: string): string {
  const rest = key.slice(2);
  if (key.startsWith('f:')) return `.${rest}`;
  if (key.startsWith('v:')) return `[=${rest}]`;
  const keys = JSON.parse(rest) as Tree;
  return `[${Object.entries(keys)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
