// What a new object starts with: its name, its identity, the namespace it goes into.
import { nameSuffix, uuid } from './cluster.ts';
import { timeText, type KubeObject } from './object.ts';
import { keyOf } from './resource.ts';
import { decode } from './store.ts';
import { badRequest, forbidden, notFound, ok, refuse, type Result } from './status.ts';
import { nameOf, type Place } from './write.ts';

export function startMetadata(place: Place, object: KubeObject): Result<void> {
  const { cluster, call, resource } = place;
  const { metadata } = object;
  const named = inNamespace(place, object);
  if (!named.ok) return named;
  if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName.slice(0, 58) + nameSuffix(cluster);
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const) delete metadata[field];
  metadata.uid = uuid(cluster);
  metadata.creationTimestamp = timeText(cluster.clock.now());
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
export function startStatus({ resource, version }: Place, object: KubeObject): void {
  if (!version.hasStatus || resource.resource === 'nodes') return;
  if (resource.isCustom) delete object.status;
  else object.status = {};
}

/** Puts a new object into the namespace of its URL; refuses one that says it is in another. */
export function inNamespace({ call, resource }: Place, object: KubeObject): Result<void> {
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
export function checkNamespace(place: Place, object: KubeObject): Result<void> {
  const { namespace } = object.metadata;
  if (!place.resource.isNamespaced || !namespace) return ok(undefined);
  const entry = place.cluster.store.get(
    keyOf({ group: '', resource: 'namespaces', isNamespaced: false }, '', namespace),
  );
  if (!entry) return refuse(notFound({ group: '', resource: 'namespaces' }, namespace));
  // Mostly the word is nowhere in it, and that is seen sooner than what it is made of.
  const isGoing = entry.text.includes('"deletionTimestamp"') && decode(entry.text).metadata.deletionTimestamp;
  if (!isGoing) return ok(undefined);
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
