// What a change of an object may touch: the version it expects, the fields that are the server's, the part its subresource has.
import { invalidValue } from './field-error.ts';
import { isEqualBut, type KubeObject, type Metadata } from './object.ts';
import { etcdKey, part, type Resource } from './resource.ts';
import {
  badRequest,
  conflict,
  invalid,
  modified,
  ok,
  qualified,
  refuse,
  unexplained,
  unnamed,
  type Result,
} from './status.ts';
import { unsignedProblem } from './number.ts';
import { nameOf, type Place } from './write.ts';

/** Kinds of which nobody replaces what he has not read. */
const conditional = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'leases.coordination.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'poddisruptionbudgets.policy',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
]);
const isConditional = (resource: Resource): boolean => resource.isCustom || conditional.has(qualified(resource));

export function checkPreconditions(place: Place, next: KubeObject, old: KubeObject): Result<void> {
  const { metadata } = next;
  const name = old.metadata.name ?? '';
  const isReplace = place.call.target.verb === 'update';
  if (isReplace && metadata.uid && metadata.uid !== old.metadata.uid) {
    const about = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid ?? ''}`;
    const key = etcdKey(place.resource, old.metadata.namespace, name);
    const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${about}`;
    return refuse(conflict(nameOf(place), name, why));
  }
  const problem = metadata.resourceVersion ? unsignedProblem(metadata.resourceVersion) : undefined;
  if (problem !== undefined) return refuse(unexplained(problem));
  const version = BigInt(metadata.resourceVersion ?? 0);
  if (version !== 0n && version !== BigInt(old.metadata.resourceVersion ?? 0))
    return refuse(modified(nameOf(place), name));
  if (version === 0n && isReplace && isConditional(place.resource)) {
    return refuse(
      // The real server names the resource here, where it names the kind elsewhere.
      invalid({ group: place.resource.group, kind: place.resource.resource }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]),
    );
  }
  if (!metadata.name) return refuse(unnamed(name));
  if (metadata.name !== name) {
    return refuse(badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`));
  }
  if (metadata.namespace && metadata.namespace !== old.metadata.namespace) {
    return refuse(badRequest('the namespace of the provided object does not match the namespace sent on the request'));
  }
  return ok(undefined);
}

const serverFields = ['name', 'namespace', 'resourceVersion', 'generation', 'creationTimestamp', 'selfLink'] as const;

/** Of what else is the server's, what a writer does not say is kept, and what he says otherwise is refused later. */
export function keepServerFields({ metadata }: KubeObject, { metadata: old }: KubeObject): void {
  for (const field of serverFields) keepField(field, metadata, old);
  if (!metadata.uid && old.uid) metadata.uid = old.uid;
  if (old.deletionTimestamp) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined)
    metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

function keepField<Field extends keyof Metadata>(field: Field, metadata: Metadata, old: Metadata): void {
  if (old[field] !== undefined) metadata[field] = old[field];
  else if (field in metadata) delete metadata[field];
}

/** A write to the object leaves its status alone; a write to its status leaves the rest alone. */
export function bySubresource({ call, version, resource }: Place, next: KubeObject, old: KubeObject): KubeObject {
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
  // Only the subresource adds ephemeral containers, and it changes nothing else.
  if (call.target.subresource === 'ephemeralcontainers') return withEphemeral(next, old);
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

function withEphemeral(next: KubeObject, old: KubeObject): KubeObject {
  const { ephemeralContainers } = part(next, 'spec');
  const spec = { ...part(old, 'spec'), ...(ephemeralContainers === undefined ? {} : { ephemeralContainers }) };
  const { managedFields } = next.metadata;
  return { ...old, metadata: { ...old.metadata, ...(managedFields ? { managedFields } : {}) }, spec };
}

/** A change of what is wanted is a new generation; metadata and status are not what is wanted. */
export function countGeneration({ resource, version }: Place, next: KubeObject, old: KubeObject): void {
  if (!resource.isCustom && !resource.rules.hasGeneration) return;
  const aside = version.hasStatus ? ['metadata', 'apiVersion', 'status'] : ['metadata', 'apiVersion'];
  if (!isEqualBut(next, old, ...aside)) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
