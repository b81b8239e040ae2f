// Who set which field: kept in metadata.managedFields, updated by every write.
import { isEqual, without, type KubeObject, type ManagedFields, type Tree } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { changedFields, present, subtract, union } from './field-set.ts';

export interface Writer {
  manager: string;
  apiVersion: string;
  subresource: string;
  /** Of a custom object `spec` itself may be new; a built-in kind always has one. */
  isCustom?: boolean;
  /** RFC 3339, for entries that change. */
  time: string;
}

// Fields the server itself owns, or that name the object: nobody manages them.
const unmanaged = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

/** The part of an object that can be managed. */
export function managedPart(object: KubeObject): Tree {
  const rest = without(object, 'apiVersion', 'kind', 'metadata');
  const kept = without(object.metadata, ...unmanaged);
  return Object.keys(kept).length > 0 ? { metadata: kept, ...rest } : rest;
}

/** Gives `writer` the fields that differ between `old` and `next`, takes them from the others, and forgets fields that are gone. Changes `next` in place. */
export function trackUpdate(old: KubeObject | undefined, next: KubeObject, schema: Schema, writer: Writer): void {
  // A client that sends an empty list asks for the record to be wiped.
  if (next.metadata.managedFields?.length === 0 && old !== undefined) return setEntries(next, []);
  const before = old?.metadata.managedFields ?? [];
  const part = managedPart(next);
  const changed = changedFields(old ? managedPart(old) : { metadata: {} }, part, schema, writer.isCustom ? 1 : 0);
  const sets = new Map(before.map((entry) => [entry, entry.fieldsV1]));
  const own = before.find((entry) => isOf(entry, writer, 'Update'));
  const after: ManagedFields[] = [];
  for (const entry of before) {
    const kept = changed && entry !== own ? subtract(entry.fieldsV1, changed) : sets.get(entry);
    const left = kept && present(kept, part, schema);
    const grown = entry === own && changed ? union(left ?? {}, changed) : left;
    if (grown && Object.keys(grown).length > 0)
      after.push(
        isEqual(grown, entry.fieldsV1)
          ? entry
          : { ...entry, fieldsV1: grown, ...(entry === own ? { time: writer.time } : {}) },
      );
  }
  if (!own && changed) after.push(entryOf(writer, 'Update', changed));
  setEntries(next, after);
}

export function setEntries(object: KubeObject, entries: ManagedFields[]): void {
  if (entries.length > 0) object.metadata.managedFields = [...entries].sort(byTime);
  else delete object.metadata.managedFields;
}

/** Appliers first, then by time, then by name. */
function byTime(a: ManagedFields, b: ManagedFields): number {
  const ranks = (one: ManagedFields) => [
    one.operation,
    one.time ?? '',
    one.manager,
    one.apiVersion,
    one.subresource ?? '',
  ];
  const [left, right] = [ranks(a), ranks(b)];
  const at = left.findIndex((rank, i) => rank !== right[i]);
  return at < 0 ? 0 : (left[at] ?? '') < (right[at] ?? '') ? -1 : 1;
}

export const isOf = (entry: ManagedFields, writer: Writer, operation: 'Apply' | 'Update'): boolean =>
  entry.manager === writer.manager &&
  entry.operation === operation &&
  entry.apiVersion === writer.apiVersion &&
  (entry.subresource ?? '') === writer.subresource;

export function entryOf(writer: Writer, operation: 'Apply' | 'Update', fieldsV1: Tree): ManagedFields {
  const entry: ManagedFields = {
    manager: writer.manager,
    operation,
    apiVersion: writer.apiVersion,
    time: writer.time,
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
  if (writer.subresource) entry.subresource = writer.subresource;
  return entry;
}

/** Whether two objects differ in anything but the record of managers: if not, a write is no change. */
export function isSame(a: KubeObject, b: KubeObject): boolean {
  const bare = (object: KubeObject) => ({
    ...object,
    metadata: without(object.metadata, 'managedFields', 'resourceVersion'),
  });
  const managers = (object: KubeObject) => (object.metadata.managedFields ?? []).map((entry) => without(entry, 'time'));
  return isEqual(bare(a), bare(b)) && isEqual(managers(a), managers(b));
}
