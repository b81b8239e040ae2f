// Creating and changing objects: one pipeline for POST, PUT, PATCH, apply, and the status and scale subresources.
import { checkEscalation } from './access/escalation.ts';
import { parameterCauses } from './access/parameters.ts';
import { admitted, approved } from './admission/admit.ts';
import type { Attributes, View } from './admission/attributes.ts';
import { mayBeAsked } from './admission/webhook.ts';
import { givePriority } from './admission/priority.ts';
import type { Cluster } from './cluster.ts';
import { copyOf, timeText, type KubeObject, type Metadata } from './object.ts';
import { checkNamespace, startMetadata, startStatus } from './object-start.ts';
import { asStored, converted, entryIn, headOf, isConverted } from './conversion.ts';
import { bySubresource, checkPreconditions, countGeneration, keepServerFields } from './object-change.ts';
import { unsignedProblem } from './number.ts';
import { isDryRun } from './options.ts';
import { dropDoubleOwners } from './owners.ts';
import { isSame, trackUpdate } from './patch/managed-fields.ts';
import { managerOf, type Call } from './request.ts';
import { keyOf, type Resource, type Version } from './resource.ts';
import { canonicalize } from './quantity.ts';
import { dropForbiddenNulls } from './schema/nulls.ts';
import { fillDefaults } from './schema/prune.ts';
import { decode } from './store.ts';
import {
  alreadyExists,
  invalid,
  modified,
  notFound,
  ok,
  refuse,
  stillExists,
  unexplained,
  type Cause,
  type Result,
} from './status.ts';
import { turn, type Keep } from './turn.ts';
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
  if (!isTracked) dropDoubleOwners(call, object.metadata, 'before');
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
  const asked = next.metadata.resourceVersion ?? '';
  delete next.metadata.resourceVersion;
  // Found out by the storage alone, so told as it comes. An apply may name a version of what is not there.
  if (!isTracked && !isDryRun(call) && /[1-9]/.test(asked) && unsignedProblem(asked) === undefined)
    return refuse(unexplained('resourceVersion should not be set on objects to be created'));
  const key = keyOf(resource, next.metadata.namespace, next.metadata.name);
  return cluster.store.locked(key, async () => {
    const present = cluster.store.get(key);
    if (present) {
      const isGoing = decode(present.text).metadata.deletionTimestamp !== undefined;
      return refuse((isGoing ? stillExists : alreadyExists)(nameOf(place), next.metadata.name ?? ''));
    }
    const given = giveAddresses(place, next, undefined);
    if (!given.ok) return given;
    if (isDryRun(call)) return ok({ object: next, isNew: true });
    const stored = await asStored(place, next);
    if (!stored.ok) return stored;
    const { text } = await cluster.store.put(key, stored.value);
    if (stored.value === next) return ok({ object: next, isNew: true, text });
    const read = await converted(place, stored.value);
    return read.ok ? ok({ object: read.value, isNew: true }) : read;
  });
}

/*
   mutating webhooks and in-process checks → defaults → grants → schema, rules, kind → policies → validating webhooks
   The object as it may be kept, or the first refusal on that way.
*/
async function reviewedWrite(
  place: Place,
  object: KubeObject,
  old: KubeObject | undefined,
  { view }: Pick<Update, 'view'> = {},
): Promise<Result<KubeObject>> {
  const { cluster, call, resource, version } = place;
  const { name = '', namespace = '' } = (old ?? object).metadata;
  const problems = (one: KubeObject, warn?: (text: string) => void): Cause[] =>
    problemsOf({ cluster, resource, version, object: one, old, subresource: call.target.subresource, warn });
  const asked: Attributes = {
    operation: old ? 'UPDATE' : 'CREATE',
    resource,
    name,
    namespace,
    object: view ? view.of(object) : object,
    oldObject: view && old ? view.of(old) : old,
    isDryRun: isDryRun(call),
    ...(view ? { kind: view.kind } : { problems }),
  };
  const important = givePriority({ cluster, resource, object, old });
  if (!important.ok) return important;
  const admission = await admitted(cluster, call, asked);
  if (!admission.ok) return admission;
  const next = view ? view.back(object, admission.value ?? object) : (admission.value ?? object);
  dropDoubleOwners(call, next.metadata, 'after');
  if (old) keepServerFields(next, old);
  // A custom object that admission left as it is has been settled before.
  if (next !== object || view || !resource.isCustom) settle(place, next, old);
  if (old) countGeneration(place, next, old);
  const granted = checkEscalation({ cluster, user: call.user, resource, object: next, old });
  if (!granted.ok) return granted;
  const causes = problems(next, (text) => call.warnings.push(text));
  if (causes.length === 0) causes.push(...parameterCauses({ cluster, user: call.user, resource, object: next, old }));
  if (causes.length > 0) return refuse(invalid(resource.rules.refusedAs ?? resource, next.metadata.name ?? '', causes));
  const approval = await approved(cluster, call, { ...asked, object: view ? view.of(next) : next });
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
    time: call.target.subresource === 'scale' ? undefined : timeText(cluster.clock.now()),
  });
}

export interface Update {
  /** The object wanted, from the one there is, which it may change; `again` reads that anew. */
  change(old: KubeObject, again: () => KubeObject): Result<KubeObject>;
  /** Server-side apply has recorded its managers already. */
  isTracked?: boolean;
  /** What admission sees of the object; the whole unless given. */
  view?: View;
}

/** Changes the object the call names. Nothing else writes it between reading and writing. */
export async function update(place: Place, wanted: Update): Promise<Result<Written>> {
  const { cluster, call, resource } = place;
  const key = keyOf(resource, call.target.namespace, call.target.name);
  const isFree = mayBeAsked(cluster, call, { operation: 'UPDATE', resource });
  const written = await turn<Result<Written>>(cluster.store, key, isFree, async (entry, keep) => {
    if (!entry) return refuse(notFound(nameOf(place), call.target.name));
    const read = await entryIn(place, entry);
    if (!read.ok) return read;
    const { text } = read.value;
    const found = decode(text);
    // Sooner than to decode it twice.
    const old = named(place, copyOf(found));
    const changed = wanted.change(found, () => decode(text));
    if (!changed.ok) return changed;
    const isCurrent = !resource.isCustom || entry.text.startsWith(headOf(resource, resource.storageVersion));
    return finish(place, { key, old, next: named(place, changed.value), isCurrent, wanted, keep });
  });
  return written ?? refuse(modified(nameOf(place), call.target.name));
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
  /** Whether the object is stored in the version that is now the stored one. */
  isCurrent: boolean;
  wanted: Update;
  keep: Keep;
}

async function finish(place: Place, pending: Pending): Promise<Result<Written> | undefined> {
  const { old, next: changed, wanted, keep } = pending;
  const { call } = place;
  if (call.target.verb === 'update') dropDoubleOwners(call, changed.metadata, 'before');
  const expected = checkPreconditions(place, changed, old);
  if (!expected.ok) return expected;
  keepServerFields(changed, old);
  const scoped = bySubresource(place, changed, old);
  settle(place, scoped, old);
  const reviewed = await reviewedWrite(place, scoped, old, wanted);
  if (!reviewed.ok) return reviewed;
  const next = reviewed.value;
  if (!wanted.isTracked) track(place, old, next);
  return keep(() => commit(place, { ...pending, next }));
}

async function commit(place: Place, { key, old, next, isCurrent }: Pending): Promise<Result<Written>> {
  const { cluster, call, resource } = place;
  const given = giveAddresses(place, next, old);
  if (!given.ok) return given;
  if (isCurrent && isSame(old, next)) return ok({ object: old, isNew: false });
  if (isDryRun(call)) return ok({ object: next, isNew: false });
  const stored = await storedForm(place, next);
  if (!stored.ok) return stored;
  const isOver =
    next.metadata.deletionTimestamp &&
    !next.metadata.finalizers?.length &&
    next.metadata.deletionGracePeriodSeconds === 0 &&
    !isHeld(next);
  if (isOver) {
    // The last finalizer is off an object that was waiting for just that: what ends is the object as it was stored.
    const last = await storedForm(place, { ...old, metadata: { ...old.metadata } });
    if (!last.ok) return last;
    await cluster.store.remove(key, last.value);
  }
  const kept = isOver ? undefined : await cluster.store.put(key, stored.value);
  const isStored = place.version.name === resource.storageVersion && !resource.twin;
  if (isStored) return ok({ object: stored.value, isNew: false, ...(kept ? { text: kept.text } : {}) });
  const read = await converted(place, stored.value);
  return read.ok ? ok({ object: read.value, isNew: false }) : read;
}

/** Nothing of an object is lost by a write in a version that does not tell all of it, unless a webhook says so. */
async function storedForm(place: Place, object: KubeObject): Promise<Result<KubeObject>> {
  if (isConverted(place.resource)) return asStored(place, object);
  object.apiVersion = storedApiVersion(place.resource);
  return ok(object);
}

/** A namespace is held by spec.finalizers, which are not metadata's. */
export const isHeld = (object: KubeObject): boolean =>
  object.kind === 'Namespace' &&
  object.apiVersion === 'v1' &&
  ((object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []).length > 0;

const storedApiVersion = (resource: Resource): string =>
  resource.group ? `${resource.group}/${resource.storageVersion}` : resource.storageVersion;
