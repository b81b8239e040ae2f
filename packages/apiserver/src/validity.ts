// Every reason to refuse an object, from its metadata, its schema, its rules in CEL, and its kind.
import type { Cluster } from './cluster.ts';
import { customProblems } from './custom-validity.ts';
import type { KubeObject } from './object.ts';
import { metadataCauses } from './metadata-validity.ts';
import type { Resource, Version } from './resource.ts';
import { unlisted } from './schema/enums.ts';
import type { Cause } from './status.ts';

export interface Subject {
  cluster: Cluster;
  resource: Resource;
  version: Version;
  object: KubeObject;
  old: KubeObject | undefined;
  subresource: string;
  /** Told of what may stay although it would be refused today. */
  warn?: ((text: string) => void) | undefined;
}

export function problemsOf({ resource, version, object, old, subresource, warn }: Subject): Cause[] {
  const causes = metadataCauses({ resource, object, old, subresource });
  if (resource.isCustom) causes.push(...customProblems({ object, old, version, subresource, found: causes, warn }));
  // Built-in kinds check required fields by hand, in their own words; what may only be one of a few words is in the schema.
  else causes.push(...unlisted(object, version.schema));
  const { validate, validateStatus } = resource.rules;
  const isStatus = subresource === 'status' && validateStatus !== undefined && old !== undefined;
  causes.push(...(isStatus ? validateStatus(object, old) : (validate?.(object, old, subresource) ?? [])));
  return causes;
}
