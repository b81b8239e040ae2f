// Server-side apply: merges what an applier sends into what is there, by owner.
import { copyOf, isEqual, isTree, put, without, type KubeObject, type ManagedFields, type Tree } from '../object.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { failure, ok, refuse, type Result } from '../status.ts';
import {
  changedFields,
  elementKey,
  fieldsOf,
  intersect,
  isMember,
  listKind,
  partsOf,
  pathsOf,
  present,
  subtract,
  union,
} from './field-set.ts';
import { createdFields, entryOf, isOf, managedPart, setEntries, type Writer } from './managed-fields.ts';

export interface Apply {
  live: KubeObject;
  applied: KubeObject;
  schema: Schema;
  writer: Writer;
  force: boolean;
}

/*
   field is          | in the applied object           | no longer in it
   ------------------+---------------------------------+--------------------------------
   nobody's          | set, owned by the applier       | –
   the applier's     | set                             | removed, unless others own it too
   another's, equal  | shared                          | left
   another's, differs| conflict; with force taken over | left
*/
export function apply({ live, applied, schema, writer, force }: Apply): Result<KubeObject> {
  const entries = live.metadata.managedFields ?? beforeFirst(live, schema, writer);
  const wanted = managedPart(applied);
  const set = fieldsOf(wanted, schema);
  const merged = merge(managedPart(live), wanted, schema) as Tree;
  const changed = changedFields(managedPart(live), merged, schema) ?? {};
  const others = entries.filter((entry) => !isOf(entry, writer, 'Apply'));
  const taken = others.map((entry) => ({ entry, fields: intersect(entry.fieldsV1, intersect(changed, set) ?? {}) }));
  const conflicts = taken.filter(({ fields }) => fields && Object.keys(fields).length > 0);
  if (conflicts.length > 0 && !force) return refuse(conflictStatus(conflicts));

  const kept = others.map((entry) => lessOf(entry, taken.find((one) => one.entry === entry)?.fields));
  const own = entries.find((entry) => isOf(entry, writer, 'Apply'));
  const othersSet = kept.reduce<Tree>((all, entry) => (entry ? union(all, entry.fieldsV1) : all), {});
  const gone = own ? subtract(subtract(own.fieldsV1, set) ?? {}, othersSet) : undefined;
  const result = gone ? (remove(merged, gone, { schema, others: othersSet }) as Tree) : merged;

  const next = withManaged(live, result, applied);
  // Who changes nothing is recorded without a moment, or keeps the one he has.
  const isChange = !isEqual(managedPart(live), result);
  const mine = entryOf(isChange ? writer : { ...writer, time: own?.time }, 'Apply', set);
  const left = kept.filter((entry) => entry !== undefined).map((entry) => stillThere(entry, result, schema));
  const inOrder = entries.map((entry) => (entry === own ? mine : left.find((one) => one && isSameManager(one, entry))));
  setEntries(
    next,
    [...inOrder.filter((entry) => entry !== undefined), ...(own ? [] : [mine])].filter(
      (entry) => Object.keys(entry.fieldsV1).length > 0,
    ),
  );
  return ok(next);
}

/** What there is of an object without a record is somebody's: of whoever wrote before the first apply. */
function beforeFirst(live: KubeObject, schema: Schema, writer: Writer): ManagedFields[] {
  const found = live.metadata.uid === undefined ? undefined : createdFields(live, schema);
  return found ? [entryOf({ ...writer, manager: 'before-first-apply' }, 'Update', found)] : [];
}

const isSameManager = (a: ManagedFields, b: ManagedFields): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion) &&
  a.subresource === b.subresource;

function lessOf(entry: ManagedFields, fields: Tree | undefined): ManagedFields | undefined {
  if (!fields) return entry;
  const rest = subtract(entry.fieldsV1, fields);
  return rest ? { ...entry, fieldsV1: rest } : undefined;
}

function stillThere(entry: ManagedFields, value: Tree, schema: Schema): ManagedFields | undefined {
  const left = present(entry.fieldsV1, value, schema);
  return left && Object.keys(left).length > 0 ? { ...entry, fieldsV1: left } : undefined;
}

/** The live object with its managed part replaced; the server's own fields stay as they are. */
function withManaged(live: KubeObject, part: Tree, applied: KubeObject): KubeObject {
  const { metadata, ...rest } = part;
  const own = without(
    live.metadata,
    'labels',
    'annotations',
    'finalizers',
    'ownerReferences',
    'managedFields',
    'generateName',
  );
  const next = {
    apiVersion: live.apiVersion,
    kind: live.kind,
    metadata: { ...own, ...(isTree(metadata) ? metadata : {}) },
    ...rest,
  } as KubeObject;
  // An applier that names a version or uid means that very object: the caller compares them.
  if (applied.metadata.resourceVersion) next.metadata.resourceVersion = applied.metadata.resourceVersion;
  if (applied.metadata.uid) next.metadata.uid = applied.metadata.uid;
  return next;
}

function merge(live: unknown, applied: unknown, schema: Schema): unknown {
  if (isTree(live) && isTree(applied) && schema['x-kubernetes-map-type'] !== 'atomic') {
    const out = { ...live };
    for (const name of Object.keys(applied))
      put(out, name, merge(live[name], applied[name], fieldSchema(schema, name) ?? {}));
    return out;
  }
  if (Array.isArray(live) && Array.isArray(applied) && listKind(schema) !== 'atomic')
    return mergeLists(live, applied, schema);
  return copyOf(applied);
}

/** Elements that were there keep their place; new ones come after, in the applied order. */
function mergeLists(live: unknown[], applied: unknown[], schema: Schema): unknown[] {
  const key = (item: unknown) => (listKind(schema) === 'map' ? elementKey(item, schema) : JSON.stringify(item));
  const wanted = new Map(applied.map((item) => [key(item), item]));
  const known = new Set(live.map(key));
  const kept = live.map((item) =>
    wanted.has(key(item)) ? merge(item, wanted.get(key(item)), schema.items ?? {}) : item,
  );
  return [...kept, ...applied.filter((item) => !known.has(key(item))).map(copyOf)];
}

/** `value` without the members of `gone`; a place others own something in is only thinned out. */
function remove(value: unknown, gone: Tree, about: { schema: Schema; others: Tree }): unknown {
  const parts = partsOf(value, about.schema) ?? [];
  const results = parts.map((part) => {
    const below = gone[part.key];
    if (!isTree(below)) return { part, value: part.value, isGone: false };
    const othersBelow = about.others[part.key];
    if (isMember(below) && !isTree(othersBelow)) return { part, value: undefined, isGone: true };
    const thinned = remove(part.value, below, { schema: part.schema, others: isTree(othersBelow) ? othersBelow : {} });
    // An element is found by its keys: without them what others own in it would belong to nothing.
    const rest = part.key.startsWith('k:') ? { ...keysOf(part.value, about.schema), ...(thinned as Tree) } : thinned;
    return { part, value: rest, isGone: isEmpty(rest) && !isTree(othersBelow) };
  });
  const kept = results.filter((result) => !result.isGone);
  if (Array.isArray(value)) return kept.map((result) => result.value);
  const out: Tree = {};
  for (const result of kept) put(out, result.part.key.slice(2), result.value);
  return out;
}

function keysOf(item: unknown, schema: Schema): Tree {
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  return isTree(item) ? Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name))) : {};
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isTree(value) && Object.keys(value).length === 0;

function conflictStatus(conflicts: { entry: ManagedFields; fields: Tree | undefined }[]) {
  const causes = conflicts.flatMap(({ entry, fields }) =>
    pathsOf(fields ?? {}).map((field) => ({ who: whoText(entry), field })),
  );
  const count = causes.length;
  const groups = groupByWho(causes);
  const lines = [...groups].map(([who, fields]) =>
    count === 1
      ? `conflict with ${who}: ${fields[0] ?? ''}`
      : `conflicts with ${who}:\n${fields.map((field) => `- ${field}`).join('\n')}`,
  );
  return failure(
    409,
    'Conflict',
    `Apply failed with ${count} ${count === 1 ? 'conflict' : 'conflicts'}: ${lines.join('\n')}`,
    {
      causes: causes.map(({ who, field }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${who}`,
        field,
      })),
    },
  );
}

function groupByWho(causes: { who: string; field: string }[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { who, field } of causes) groups.set(who, [...(groups.get(who) ?? []), field]);
  return groups;
}

function whoText(entry: ManagedFields): string {
  const under = entry.subresource ? ` with subresource "${entry.subresource}"` : '';
  return `"${entry.manager}"${under}${entry.operation === 'Update' ? ` using ${entry.apiVersion}` : ''}`;
}
