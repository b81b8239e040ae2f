// Parameters of policies: the objects of any kind that a binding names or selects, as the policy's expressions see them.
import type { Cluster } from '../cluster.ts';
import { converted } from '../conversion.ts';
import { splitApiVersion, type KubeObject } from '../object.ts';
import { keyOf, type Resource, type Version } from '../resource.ts';
import { matchesSelector } from '../selector.ts';
import { decode, type Entry } from '../store.ts';
import type { ParamRef, Policy } from './policy.ts';

export type Parameters = { ok: true; value: (KubeObject | null)[] } | { ok: false; why: string };

const failed = (why: string): { ok: false; why: string } => ({ ok: false, why });

/** The kind of a policy's parameters; undefined when it is not served. */
export function paramResource(
  cluster: Cluster,
  { apiVersion, kind }: NonNullable<Policy['paramKind']>,
): { resource: Resource; version: Version } | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  const resource = cluster.registry.findKind(group, kind);
  return resource && cluster.registry.find(group, version, resource.resource);
}

/**
 * By each of these the policy judges: by null where it has no parameters or its binding says nothing of them, by nothing
 * where none is found and the binding allows that. `namespace` is that of the write.
 */
export async function parametersOf(
  cluster: Cluster,
  { paramKind }: Policy,
  ref: ParamRef | undefined,
  namespace: string,
): Promise<Parameters> {
  if (!paramKind || !ref) return { ok: true, value: [null] };
  const found = paramResource(cluster, paramKind);
  if (!found) return failed(`paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known`);
  const { isNamespaced } = found.resource;
  const space = isNamespaced ? ref.namespace || namespace : '';
  if (isNamespaced && space === '')
    return failed('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  if (!isNamespaced && ref.namespace !== '')
    return failed('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const entries = entriesOf(cluster, found.resource, ref, space);
  if (entries.length === 0 && !ref.isLossAllowed)
    return failed('no params found for policy binding with `Deny` parameterNotFoundAction');
  const value: KubeObject[] = [];
  for (const entry of entries) {
    const read = await converted({ cluster, ...found }, decode(entry.text));
    if (!read.ok) return failed(read.status.message);
    value.push(read.value);
  }
  return { ok: true, value };
}

function entriesOf({ store }: Cluster, resource: Resource, { name, selector }: ParamRef, namespace: string): Entry[] {
  if (name === '') {
    const entries = store.table(keyOf(resource)).range(keyOf(resource, namespace));
    return entries.filter((entry) => matchesSelector(selector ?? {}, { ...entry.labels }));
  }
  const entry = store.get(keyOf(resource, namespace, name));
  return entry ? [entry] : [];
}
