// Creating and changing objects: one pipeline for POST, PUT, PATCH, apply, and the status and scale subresources.
import { checkEscalation } from './access/escalation.ts';
import { admitted, approved } from './admission/admit.ts';
import type { Attributes } from './admission/attributes.ts';
import { givePriority } from './admission/priority.ts';
import type { Cluster } from './cluster.ts';
import { timeText, type KubeObject, type Metadata } from './object.ts';
import { checkNamespace, startMetadata, startStatus } from './object-start.ts';
import { asStored, inVersion } from './conversion.ts';
import { bySubresource, checkPreconditions, countGeneration, keepServerFields } from './object-change.ts';
import { isDryRun } from './options.ts';
import { isSame, trackUpdate } from './patch/managed-fields.ts';
import { managerOf, type Call } from './request.ts';
import { keyOf, type Resource, type Version } from './resource.ts';
import { canonicalize } from './quantity.ts';
import { dropForbiddenNulls } from './schema/nulls.ts';
import { fillDefaults } from './schema/prune.ts';
import { decode } from './store.ts';
import { alreadyExists, invalid, notFound, ok, refuse, type Cause, type Result } from './status.ts';
import { problemsOf } from './validity.ts';

export interface Place {
  cluster: Cluster;
  call: Call;
  resource: Resource;
  version: Version;
}

/** What became of a write: the object as it is now, and whether it is new. */
export interface Written {
  object: KubeObject;
  isNew: boolean;
  /** The object as the store has it, where it is in the version asked for: put into text once. */
  text?: string;
}

export const nameOf = ({ resource }: Place) => ({ group: resource.group, resource: resource.resource });

/** Creates `object`, whose kind and fields were checked. Server-side apply has recorded its managers already (`isTracked`). */
export async function create(place: Place, object: KubeObject, isTracked = false): Promise<Result<Written>> {
  const { cluster, call, resource } = place;
  const managers = object.metadata.managedFields;
  const started = startMetadata(place, object);
  if (!started.ok) return started;
  startStatus(place, object);
  settle(place, object, undefined);
  const open = checkNamespace(place, object);
  if (!open.ok) return open;
  const reviewed = await reviewedWrite(place, object, undefined);
  if (!reviewed.ok) return reviewed;
  const next = reviewed.value;
  call.warnings.push(...(resource.rules.warnings?.(next) ?? []));
  if (isTracked && managers) next.metadata.managedFields = managers;
  else track(place, undefined, next);
  const key = keyOf(resource, next.metadata.namespace, next.metadata.name);
  return cluster.store.locked(key, async () => {
    if (cluster.store.get(key)) return refuse(alreadyExists(nameOf(place), next.metadata.name ?? ''));
    const given = giveAddresses(place, next, undefined);
    if (!given.ok) return given;
    if (isDryRun(call)) return ok({ object: next, isNew: true });
    const stored = asStored(next, resource, place.version);
    const { text } = await cluster.store.put(key, stored);
    if (stored === next) return ok({ object: next, isNew: true, text });
    return ok({ object: inVersion(stored, resource, place.version), isNew: true });
  });
}

/*
   mutating webhooks and in-process checks → defaults → grants → schema, rules, kind → validating webhooks
   The object as it may be kept, or the first refusal on that way.
*/
async function reviewedWrite(
  place: Place,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<Result<KubeObject>> {
  const { cluster, call, resource, version } = place;
  const { name = '', namespace = '' } = (old ?? object).metadata;
  const problems = (one: KubeObject): Cause[] =>
    problemsOf({ cluster, resource, version, object: one, old, subresource: call.target.subresource });
  const asked: Attributes = {
    operation: old ? 'UPDATE' : 'CREATE',
    resource,
    name,
    namespace,
    object,
    oldObject: old,
    isDryRun: isDryRun(call),
    problems,
  };
  const important = givePriority({ cluster, resource, object, old });
  if (!important.ok) return important;
  const admission = await admitted(cluster, call, asked);
  if (!admission.ok) return admission;
  const next = admission.value ?? object;
  if (old) keepServerFields(next, old);
  settle(place, next, old);
  if (old) countGeneration(place, next, old);
  const granted = checkEscalation({ cluster, user: call.user, resource, object: next, old });
  if (!granted.ok) return granted;
  const causes = problems(next);
  if (causes.length > 0) return refuse(invalid(resource.rules.refusedAs ?? resource, next.metadata.name ?? '', causes));
  const approval = await approved(cluster, call, { ...asked, object: next });
  return approval.ok ? ok(next) : approval;
}

/** Brings an object into its stored shape: what a writer may not set, schema defaults, the kind's own. Safe to repeat. */
function settle({ resource, version }: Place, object: KubeObject, old: KubeObject | undefined): void {
  dropEmpty(object.metadata);
  resource.rules.prepare?.(object, old);
  if (resource.isCustom) dropForbiddenNulls(object, version.schema);
  fillDefaults(object, version.schema);
  if (!resource.isCustom) canonicalize(object, version.schema);
  resource.rules.fill?.(object, old);
}

const collections = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Metadata does not tell an empty map or list from none. */
function dropEmpty(metadata: Metadata): void {
  for (const field of collections) {
    const value = metadata[field];
    if (value !== undefined && (value === null || Object.keys(value).length === 0)) delete metadata[field];
  }
}

function giveAddresses(
  { cluster, call, resource }: Place,
  object: KubeObject,
  old: KubeObject | undefined,
): Result<void> {
  if (resource.resource !== 'services' || resource.group !== '') return ok(undefined);
  const given = cluster.addresses.give(object, old);
  if (!given.ok) return given;
  if (isDryRun(call)) cluster.addresses.release(object, old);
  else if (old) cluster.addresses.release(old, object);
  return given;
}

function track({ cluster, call, resource, version }: Place, old: KubeObject | undefined, next: KubeObject): void {
  trackUpdate(old, next, version.schema, {
    manager: managerOf(call),
    apiVersion: resource.group ? `${resource.group}/${version.name}` : version.name,
    subresource: call.target.subresource === 'scale' ? 'scale' : call.target.subresource,
    isCustom: resource.isCustom,
    time: timeText(cluster.clock.now()),
  });
}

export interface Update {
  /** The object wanted, from the one there is, which it may change. */
  change(old: KubeObject): Result<KubeObject>;
  /** Server-side apply has recorded its managers already. */
  isTracked?: boolean;
}

/** Changes the object the call names. Nothing else writes it between reading and writing. */
export async function update(place: Place, wanted: Update): Promise<Result<Written>> {
  const { cluster, call, resource } = place;
  const key = keyOf(resource, call.target.namespace, call.target.name);
  return cluster.store.locked(key, async () => {
    const entry = cluster.store.get(key);
    if (!entry) return refuse(notFound(nameOf(place), call.target.name));
    const old = named(place, decode(entry.text));
    const changed = wanted.change(decode(entry.text));
    if (!changed.ok) return changed;
    return finish(place, { key, old, next: named(place, changed.value), isTracked: wanted.isTracked === true });
  });
}

/** The object under the version of the URL, with all that is stored of it: what that version does not tell, it keeps. */
function named({ resource, version }: Place, object: KubeObject): KubeObject {
  object.apiVersion = resource.group ? `${resource.group}/${version.name}` : version.name;
  return object;
}

interface Pending {
  key: string;
  old: KubeObject;
  next: KubeObject;
  isTracked: boolean;
}

async function finish(place: Place, { key, old, next: wanted, isTracked }: Pending): Promise<Result<Written>> {
  const { cluster, call, resource } = place;
  const expected = checkPreconditions(place, wanted, old);
  if (!expected.ok) return expected;
  keepServerFields(wanted, old);
  const scoped = bySubresource(place, wanted, old);
  settle(place, scoped, old);
  const reviewed = await reviewedWrite(place, scoped, old);
  if (!reviewed.ok) return reviewed;
  const next = reviewed.value;
  if (!isTracked) track(place, old, next);
  const given = giveAddresses(place, next, old);
  if (!given.ok) return given;
  if (isSame(old, next)) return ok({ object: old, isNew: false });
  if (isDryRun(call)) return ok({ object: next, isNew: false });
  next.apiVersion = storedApiVersion(resource);
  const isOver =
    next.metadata.deletionTimestamp &&
    !next.metadata.finalizers?.length &&
    next.metadata.deletionGracePeriodSeconds === 0 &&
    !isHeld(next);
  // The last finalizer is off an object that was waiting for just that.
  const { text } = isOver ? await cluster.store.remove(key, next) : await cluster.store.put(key, next);
  const isStored = place.version.name === resource.storageVersion;
  return ok({ object: inVersion(next, resource, place.version), isNew: false, ...(isStored ? { text } : {}) });
}

/** A namespace is held by spec.finalizers, which are not metadata's. */
export const isHeld = (object: KubeObject): boolean =>
  object.kind === 'Namespace' &&
  object.apiVersion === 'v1' &&
  ((object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []).length > 0;

const storedApiVersion = (resource: Resource): string =>
  resource.group ? `${resource.group}/${resource.storageVersion}` : resource.storageVersion;
