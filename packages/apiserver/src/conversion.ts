// A custom kind's versions (conversion None): one is stored, and each is read with the fields and defaults of its own schema.
import { apiVersionOf, copyOf, type KubeObject } from './object.ts';
import { storageVersionOf, type Resource, type Version } from './resource.ts';
import { fillDefaults, prune } from './schema/prune.ts';

/** `object` as it is read in `version`: changed in place, and given back. */
export function inVersion(object: KubeObject, resource: Resource, version: Version): KubeObject {
  object.apiVersion = apiVersionOf(resource.group, version.name);
  if (!resource.isCustom || version.name === resource.storageVersion) return object;
  prune(object, version.schema);
  fillDefaults(object, version.schema);
  return object;
}

/** `object`, written in `version`, as it is stored: a copy where that is another version. */
export function asStored(object: KubeObject, resource: Resource, version: Version): KubeObject {
  if (version.name === resource.storageVersion) return object;
  const stored = copyOf(object);
  stored.apiVersion = apiVersionOf(resource.group, resource.storageVersion);
  if (resource.isCustom) fillDefaults(stored, storageVersionOf(resource).schema);
  return stored;
}
