// Who set which field: kept in metadata.managedFields, updated by every write.
import {
  isEqual,
  isEqualBut,
  isTree,
  textOf,
  without,
  type KubeObject,
  type ManagedFields,
  type Tree,
} from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { changedFields, present, subtract, union } from './field-set.ts';

export interface Writer {
  manager: string;
  apiVersion: string;
  subresource: string;
  /** RFC 3339, for entries that change; a scale's have none. */
  time: string | undefined;
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

/** The fields of an object that was not there. */
export const createdFields = (object: KubeObject, schema: Schema): Tree | undefined =>
  changedFields({ metadata: {} }, managedPart(object), schema);

/** Gives `writer` the fields that differ between `old` and `next`, takes them from the others, and forgets fields that are gone. Changes `next` in place. */
export function trackUpdate(old: KubeObject | undefined, next: KubeObject, schema: Schema, writer: Writer): void {
  const before = old ? entriesBefore(old, next, writer) : [];
  // Nobody's fields are recorded of an object whose record was wiped, until somebody applies it.
  if (old && before.length === 0) return setEntries(next, []);
  const part = managedPart(next);
  const changed = old ? changedFields(managedPart(old), part, schema) : createdFields(next, schema);
  const sets = new Map(before.map((entry) => [entry, entry.fieldsV1]));
  const own = before.find((entry) => isOf(entry, writer, 'Update'));
  const after: ManagedFields[] = [];
  for (const entry of before) {
    const kept = changed && entry !== own ? subtract(entry.fieldsV1, changed) : sets.get(entry);
    const left = kept && present(kept, part, schema);
    const grown = entry === own && changed ? union(left ?? {}, changed) : left;
    if (!grown || Object.keys(grown).length === 0) continue;
    const isMoved = entry === own && changed !== undefined;
    if (isMoved) after.push(withTime({ ...entry, fieldsV1: grown }, writer.time));
    else after.push(isEqual(grown, entry.fieldsV1) ? entry : { ...entry, fieldsV1: grown });
  }
  if (!own && changed) after.push(entryOf(writer, 'Update', changed));
  setEntries(next, after);
}

/** A client that sends an empty list, or one empty entry, asks for the record to be wiped. */
const isWiped = (entries: ManagedFields[] | undefined): boolean =>
  entries?.length === 0 || (entries?.length === 1 && isEqual(entries[0], {}));

/** The record a write starts from: the one it carries, where that is one, else the one there is. */
function entriesBefore(old: KubeObject, next: KubeObject, { subresource }: Writer): ManagedFields[] {
  const sent = subresource === '' ? next.metadata.managedFields : undefined;
  if (isWiped(sent)) return [];
  return sent && sent.length > 0 && sent.every(isEntry) ? sent : (old.metadata.managedFields ?? []);
}

const isEntry = ({ operation, apiVersion, fieldsType, fieldsV1 }: ManagedFields): boolean =>
  ['Apply', 'Update'].includes(operation) && textOf(apiVersion) !== '' && fieldsType === 'FieldsV1' && isTree(fieldsV1);

function withTime(entry: ManagedFields, time: string | undefined): ManagedFields {
  const { time: _, ...rest } = entry;
  return time === undefined ? rest : { ...rest, time };
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
  // Whoever applies is one manager in all versions.
  (operation === 'Apply' || entry.apiVersion === writer.apiVersion) &&
  (entry.subresource ?? '') === writer.subresource;

export function entryOf(writer: Writer, operation: 'Apply' | 'Update', fieldsV1: Tree): ManagedFields {
  const entry: ManagedFields = {
    manager: writer.manager,
    operation,
    apiVersion: writer.apiVersion,
    ...(writer.time === undefined ? {} : { time: writer.time }),
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
  if (writer.subresource) entry.subresource = writer.subresource;
  return entry;
}

/** Whether two objects differ in anything but the record of managers: if not, a write is no change. */
export function isSame(a: KubeObject, b: KubeObject): boolean {
  if (!isEqualBut(a, b, 'metadata')) return false;
  if (!isEqualBut(a.metadata, b.metadata, 'managedFields', 'resourceVersion')) return false;
  const [before, after] = [a.metadata.managedFields ?? [], b.metadata.managedFields ?? []];
  return before.length === after.length && before.every((entry, i) => isEqualBut(entry, after[i] ?? {}, 'time'));
}
