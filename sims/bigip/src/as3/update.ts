// AS3 as it updates: what a tenant should be against what the device holds now, and the steps between.

import { nodePath } from '../configuration/check.ts';
import { kinds, type Identity, type Kind, type Member, type Objects, type Pool } from '../configuration/object.ts';
import type { Configuration, Draft, View } from '../configuration/store.ts';
import { isObject, type Json } from '../rest/body.ts';
import type { Wanted } from './translate.ts';

export interface Update {
  draft: Draft;
  /** Members that are deleted before the transaction, since AS3 cannot alter one in place. */
  first: Draft;
  /** How many objects and members change. Nothing changes at 0. */
  count: number;
}

/*
 *  changed                                | then
 *  ---------------------------------------+------------------------------------------------------------
 *  nothing                                | nothing: "no change"
 *  member added, member gone              | pool modified; a node no pool needs is deleted
 *  member's ratio, state, limits, group   | member deleted before the transaction, then added again
 *  pool's monitor                         | pool deleted and created: its members are `checking` again
 *  rule's text, a data-group's records    | deleted and created; the virtual server is not touched
 *  anything of a virtual server           | deleted and created: its connections are reset
 *  anything else                          | deleted and created
 */
export function updateOf(tenant: string, wanted: Wanted[], configuration: Configuration): Update {
  const update: Update = { draft: configuration.draft(), first: configuration.draft(), count: 0 };
  const names = new Set(wanted.map(({ kind, object }) => `${kind} ${object.fullPath}`));
  for (const one of held(tenant, configuration))
    if (!names.has(`${one.kind} ${one.object.fullPath}`)) remove(update, one.kind, one.object.fullPath);
  for (const one of wanted) put(update, one, configuration);
  dropNodes(update, tenant, configuration);
  return update;
}

/** What AS3 thinks its own in the tenant: everything in the partition; in Common, what is in its folder Shared. */
function held(tenant: string, configuration: View): { kind: Kind; object: Identity }[] {
  const isOurs = (object: Identity): boolean =>
    tenant === 'Common' ? object.fullPath.startsWith('/Common/Shared') : object.partition === tenant;
  return kinds.flatMap((kind) => {
    const all: Identity[] = configuration.list(kind);
    return all.filter((object) => isOurs(object) && !isAutomatic(kind, object)).map((object) => ({ kind, object }));
  });
}

/** The device itself adds and drops the addresses of virtual servers; nodes go last, when no pool needs them. */
function isAutomatic(kind: Kind, object: Identity): boolean {
  return kind === 'node' || (kind === 'virtual-address' && 'autoDelete' in object && object.autoDelete === true);
}

function remove(update: Update, kind: Kind, path: string): void {
  update.draft.delete(kind, path);
  update.count += 1;
}

function put(update: Update, { kind, object }: Wanted, configuration: View): void {
  const before = configuration.get(kind, object.fullPath);
  // Another tenant's node or shared address serves as it is.
  if (before && object.partition === 'Common' && kind !== 'rule' && !object.fullPath.startsWith('/Common/Shared'))
    return;
  if (before && kind === 'pool') return putPool(update, before as Pool, object);
  if (before && same(before, object)) return;
  if (before) update.draft.delete(kind, object.fullPath);
  place(update.draft, kind, object);
  update.count += 1;
}

function place<K extends Kind>(draft: Draft, kind: K, object: Objects[Kind]): void {
  // `Wanted` pairs each kind with its object.
  draft.put(kind, object as Objects[K]);
}

function putPool(update: Update, before: Pool, after: Pool): void {
  const isSame = same({ ...before, members: [] }, { ...after, members: [] });
  const old = new Map(before.members.map((member) => [member.fullPath, member]));
  const added = after.members.filter((member) => !old.has(member.fullPath));
  const altered = after.members.filter((member) => isAltered(old.get(member.fullPath), member));
  const gone = before.members.length - (after.members.length - added.length);
  const count = added.length + altered.length + gone + (isSame ? 0 : 1);
  if (count === 0) return;
  update.count += count;
  if (before.monitor !== after.monitor) update.draft.delete('pool', after.fullPath);
  else if (altered.length > 0) {
    const paths = new Set(altered.map((member) => member.fullPath));
    update.first.put('pool', { ...before, members: before.members.filter((member) => !paths.has(member.fullPath)) });
  }
  update.draft.put('pool', after);
}

function isAltered(before: Member | undefined, after: Member): boolean {
  return before !== undefined && !same(before, after);
}

/** Nodes of the tenant, and shared ones its pools used, that no pool needs any longer. */
function dropNodes(update: Update, tenant: string, configuration: View): void {
  const needed = new Set(update.draft.list('pool').flatMap((pool) => pool.members.map(nodePath)));
  const used = new Set(
    configuration
      .list('pool')
      .filter((pool) => pool.partition === tenant)
      .flatMap((pool) => pool.members.map(nodePath)),
  );
  for (const { fullPath, partition } of configuration.list('node')) {
    const isOurs = partition === tenant || used.has(fullPath);
    if (isOurs && !needed.has(fullPath)) update.draft.delete('node', fullPath);
  }
}

/** Equal but for generations, which the device counts; a property that is undefined is one that is not there. */
function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, i) => same(item, other[i]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = (object: Json): string[] =>
    Object.keys(object).filter((key) => key !== 'generation' && object[key] !== undefined);
  const names = keys(one);
  return names.length === keys(other).length && names.every((name) => same(one[name], other[name]));
}

/** As text with sorted keys, for hashes. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
