// Creating and changing objects: one pipeline for POST, PUT, PATCH, apply, and the status and scale subresources.
import { admitted } from './admit.ts';
import { nameSuffix, uuid, type Cluster } from './cluster.ts';
import { invalidValue } from './field-error.ts';
import { isEqual, timeText, without, type KubeObject } from './object.ts';
import { isSame, trackUpdate } from './patch/managed-fields.ts';
import { managerOf, type Call } from './request.ts';
import { keyOf, type Resource, type Version } from './resource.ts';
import { fillDefaults } from './schema/prune.ts';
import { decode } from './store.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  invalid,
  modified,
  notFound,
  ok,
  refuse,
  type Result,
} from './status.ts';
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
}

export const isDryRun = (call: Call): boolean => call.query.getAll('dryRun').includes('All');

/** Refuses a `dryRun` the server does not know. */
export function checkDryRun(call: Call): Result<void> {
  const wrong = call.query.getAll('dryRun').find((value) => value !== 'All' && value !== '');
  if (wrong === undefined) return ok(undefined);
  return refuse(badRequest(`dryRun: Unsupported value: ${JSON.stringify(wrong)}: supported values: "All"`));
}

export const nameOf = ({ resource }: Place) => ({ group: resource.group, resource: resource.resource });

/** Creates `object`, whose kind and fields were checked. Server-side apply has recorded its managers already (`isTracked`). */
export async function create(place: Place, object: KubeObject, isTracked = false): Promise<Result<Written>> {
  const { cluster, call, resource, version } = place;
  const managers = object.metadata.managedFields;
  const started = startMetadata(place, object);
  if (!started.ok) return started;
  startStatus(place, object);
  settle(place, object, undefined);
  const open = checkNamespace(place, object);
  if (!open.ok) return open;
  const name = object.metadata.name ?? '';
  const namespace = object.metadata.namespace ?? '';
  const admission = await admitted(cluster, call, {
    operation: 'CREATE',
    resource,
    name,
    namespace,
    object,
    isDryRun: isDryRun(call),
  });
  if (!admission.ok) return admission;
  const next = admission.value ?? object;
  settle(place, next, undefined);
  const causes = problemsOf({ cluster, resource, version, object: next, old: undefined });
  if (causes.length > 0) return refuse(invalid(resource, next.metadata.name ?? '', causes));
  if (isTracked && managers) next.metadata.managedFields = managers;
  else track(place, undefined, next);
  const key = keyOf(resource, next.metadata.namespace, next.metadata.name);
  return cluster.store.locked(key, async () => {
    if (cluster.store.get(key)) return refuse(alreadyExists(nameOf(place), next.metadata.name ?? ''));
    const given = giveAddresses(place, next, undefined);
    if (!given.ok) return given;
    if (isDryRun(call)) return ok({ object: next, isNew: true });
    await cluster.store.put(key, next);
    return ok({ object: next, isNew: true });
  });
}

function startMetadata(place: Place, object: KubeObject): Result<void> {
  const { cluster, call, resource } = place;
  const { metadata } = object;
  if (metadata.resourceVersion) return refuse(badRequest('resourceVersion should not be set on objects to be created'));
  const named = checkNamespaceName(place, object);
  if (!named.ok) return named;
  if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName.slice(0, 58) + nameSuffix(cluster);
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const) delete metadata[field];
  metadata.uid = uuid(cluster);
  metadata.creationTimestamp = timeText(cluster.clock.now());
  delete metadata.generation;
  if (resource.isCustom || resource.rules.hasGeneration) metadata.generation = 1;
  delete metadata.managedFields;
  if (call.target.name && metadata.name !== call.target.name) {
    return refuse(
      badRequest(
        `the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${call.target.name})`,
      ),
    );
  }
  return ok(undefined);
}

/** A new object has no status of its writer's making; a node alone comes with what its kubelet knows. */
function startStatus({ resource, version }: Place, object: KubeObject): void {
  if (!version.hasStatus || resource.resource === 'nodes') return;
  if (resource.isCustom) delete object.status;
  else object.status = {};
}

function checkNamespaceName({ call, resource }: Place, object: KubeObject): Result<void> {
  const { metadata } = object;
  if (!resource.isNamespaced) {
    delete metadata.namespace;
    return ok(undefined);
  }
  const wanted = call.target.namespace;
  if (metadata.namespace && metadata.namespace !== wanted) {
    return refuse(badRequest('the namespace of the provided object does not match the namespace sent on the request'));
  }
  if (!wanted) return refuse(badRequest('an empty namespace may not be set during creation'));
  metadata.namespace = wanted;
  return ok(undefined);
}

/** New objects need a namespace that is there and is not being deleted. */
function checkNamespace(place: Place, object: KubeObject): Result<void> {
  const { namespace } = object.metadata;
  if (!place.resource.isNamespaced || !namespace) return ok(undefined);
  const entry = place.cluster.store.get(
    keyOf({ group: '', resource: 'namespaces', isNamespaced: false }, '', namespace),
  );
  if (!entry) return refuse(notFound({ group: '', resource: 'namespaces' }, namespace));
  if (!decode(entry.text).metadata.deletionTimestamp) return ok(undefined);
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const status = forbidden(nameOf(place), object.metadata.name ?? '', why);
  return refuse({
    ...status,
    details: {
      ...status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}

/** Brings an object into its stored shape: what a writer may not set, schema defaults, the kind's own. Safe to repeat. */
function settle({ resource, version }: Place, object: KubeObject, old: KubeObject | undefined): void {
  resource.rules.prepare?.(object, old);
  fillDefaults(object, version.schema);
  resource.rules.fill?.(object);
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
    const old = inVersion(place, decode(entry.text));
    const changed = wanted.change(decode(entry.text));
    if (!changed.ok) return changed;
    return finish(place, { key, old, next: inVersion(place, changed.value), isTracked: wanted.isTracked === true });
  });
}

/** The object under the version of the URL: with conversion None only its apiVersion differs. */
function inVersion({ resource, version }: Place, object: KubeObject): KubeObject {
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
  const { cluster, call, resource, version } = place;
  const expected = checkPreconditions(place, wanted, old);
  if (!expected.ok) return expected;
  keepServerFields(wanted, old);
  const scoped = bySubresource(place, wanted, old);
  settle(place, scoped, old);
  const { name = '', namespace = '' } = old.metadata;
  const admission = await admitted(cluster, call, {
    operation: 'UPDATE',
    resource,
    name,
    namespace,
    object: scoped,
    oldObject: old,
    isDryRun: isDryRun(call),
  });
  if (!admission.ok) return admission;
  const next = admission.value ?? scoped;
  keepServerFields(next, old);
  settle(place, next, old);
  countGeneration(place, next, old);
  const causes = problemsOf({ cluster, resource, version, object: next, old });
  if (causes.length > 0) return refuse(invalid(resource, name, causes));
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
  if (isOver) await cluster.store.remove(key, next);
  else await cluster.store.put(key, next);
  return ok({ object: inVersion(place, next), isNew: false });
}

/** A namespace is held by spec.finalizers, which are not metadata's. */
export const isHeld = (object: KubeObject): boolean =>
  object.kind === 'Namespace' &&
  object.apiVersion === 'v1' &&
  ((object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []).length > 0;

const storedApiVersion = (resource: Resource): string =>
  resource.group ? `${resource.group}/${resource.storageVersion}` : resource.storageVersion;

function checkPreconditions(place: Place, next: KubeObject, old: KubeObject): Result<void> {
  const { metadata } = next;
  const name = old.metadata.name ?? '';
  if (metadata.uid && metadata.uid !== old.metadata.uid) {
    return refuse(
      conflict(
        nameOf(place),
        name,
        `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
      ),
    );
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== old.metadata.resourceVersion)
    return refuse(modified(nameOf(place), name));
  if (!metadata.resourceVersion && place.resource.isCustom && place.call.target.verb === 'update') {
    return refuse(
      invalid(place.resource, name, [
        {
          ...invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
          message: 'Invalid value: 0x0: must be specified for an update',
        },
      ]),
    );
  }
  if (metadata.name && metadata.name !== name) {
    return refuse(badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`));
  }
  if (metadata.namespace && metadata.namespace !== old.metadata.namespace) {
    return refuse(badRequest('the namespace of the provided object does not match the namespace sent on the request'));
  }
  return ok(undefined);
}

const serverFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
] as const;

function keepServerFields({ metadata }: KubeObject, old: KubeObject): void {
  for (const field of serverFields) {
    if (old.metadata[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old.metadata[field] });
  }
}

/** A write to the object leaves its status alone; a write to its status leaves the rest alone. */
function bySubresource({ call, version, resource }: Place, next: KubeObject, old: KubeObject): KubeObject {
  if (call.target.subresource === 'status') {
    const { managedFields, ...metadata } = resource.isCustom
      ? old.metadata
      : { ...next.metadata, labels: old.metadata.labels };
    const kept = {
      ...old,
      metadata: {
        ...metadata,
        ...(managedFields || next.metadata.managedFields
          ? { managedFields: next.metadata.managedFields ?? managedFields }
          : {}),
      },
    } as KubeObject;
    if (!('labels' in old.metadata)) delete kept.metadata.labels;
    if (next.status === undefined) delete kept.status;
    else kept.status = next.status;
    return kept;
  }
  const isNamespace = resource.group === '' && resource.resource === 'namespaces';
  // The finalizers of a namespace's spec are the emptying of it: only /finalize takes them off.
  if (isNamespace && call.target.subresource === 'finalize')
    return { ...old, metadata: next.metadata, spec: next.spec };
  if (isNamespace) next.spec = old.spec;
  if (!version.hasStatus) return next;
  if (old.status === undefined) delete next.status;
  else next.status = old.status;
  return next;
}

/** A change of what is wanted is a new generation; metadata and status are not what is wanted. */
function countGeneration({ resource, version }: Place, next: KubeObject, old: KubeObject): void {
  if (!resource.isCustom && !resource.rules.hasGeneration) return;
  const aside = version.hasStatus ? ['metadata', 'apiVersion', 'status'] : ['metadata', 'apiVersion'];
  const wanted = (object: KubeObject) => without(object, ...aside);
  if (!isEqual(wanted(next), wanted(old))) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
