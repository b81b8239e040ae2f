// Every reason to refuse an object, from its metadata, its schema, its rules in CEL, and its kind.
import type { Cluster } from './cluster.ts';
import { ruleProblems } from './cel/rules.ts';
import type { KubeObject } from './object.ts';
import { plainFinalizerCauses, subdomainProblems, validateMetadata, validateMetadataUpdate } from './names.ts';
import type { Resource, Version } from './resource.ts';
import { unlisted } from './schema/enums.ts';
import { validate } from './schema/validate.ts';
import type { Cause } from './status.ts';

export interface Subject {
  cluster: Cluster;
  resource: Resource;
  version: Version;
  object: KubeObject;
  old: KubeObject | undefined;
}

export function problemsOf({ resource, version, object, old }: Subject): Cause[] {
  const causes = validateMetadata(object, resource.rules.nameProblems ?? subdomainProblems);
  // Extensions' kinds follow the general rules of metadata only.
  if (!resource.isCustom && resource.group !== 'apiextensions.k8s.io') causes.push(...plainFinalizerCauses(object));
  if (old) causes.push(...validateMetadataUpdate(object, old));
  if (resource.isCustom) causes.push(...customProblems(object, old, version));
  // Built-in kinds check required fields by hand, in their own words; what may only be one of a few words is in the schema.
  else causes.push(...unlisted(object, version.schema));
  causes.push(...(resource.rules.validate?.(object, old) ?? []));
  return unique(causes);
}

function customProblems(object: KubeObject, old: KubeObject | undefined, version: Version): Cause[] {
  const causes = validate(object, version.schema);
  // Rules may rely on the schema: they are not run on an object that breaks it.
  return causes.length > 0 ? causes : ruleProblems(object, old, version.schema);
}

function unique(causes: Cause[]): Cause[] {
  const seen = new Set<string>();
  return causes.filter((cause) => {
    const text = JSON.stringify(cause);
    return !seen.has(text) && seen.add(text);
  });
}
