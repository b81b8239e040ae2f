// Who owns what: owner references, and taking in or letting go of objects by selector.
import type { Client, Problem } from '../kube/client.ts';
import type { Kind } from '../kube/kinds.ts';
import { matches } from '../kube/selector.ts';
import type { KubeObject, LabelSelector, OwnerReference } from '../kube/objects.ts';

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((one) => one.controller);
}

export function ownerReference(kind: Kind, owner: KubeObject): OwnerReference {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export interface Claim<T extends KubeObject> {
  client: Client;
  ownerKind: Kind;
  owner: KubeObject & { spec: { selector: LabelSelector } };
  kind: Kind<T>;
  /** Objects with our reference, and those of the namespace with none. */
  candidates: T[];
}

/**
 * The objects that belong to an owner, after adopting and releasing:
 *
 *  controlled by | selector | object or owner is being deleted | then
 *  --------------+----------+----------------------------------+---------
 *  us            | matches  | any                              | keep
 *  us            | not      | no                               | release
 *  us            | not      | yes                              | leave out
 *  nobody        | matches  | no                               | adopt
 *  nobody        | matches  | yes                              | leave out
 *  nobody        | not      | any                              | leave out
 *  another       | any      | any                              | leave out
 */
export async function claim<T extends KubeObject>({
  client,
  ownerKind,
  owner,
  kind,
  candidates,
}: Claim<T>): Promise<{ owned: T[]; problem?: Problem }> {
  const owned: T[] = [];
  let failed: Problem | undefined;
  for (const object of candidates) {
    const controller = controllerOf(object);
    if (controller && controller.uid !== owner.metadata.uid) continue;
    const isMatch = matches(owner.spec.selector, object.metadata.labels);
    if (controller && isMatch) owned.push(object);
    else if (controller === undefined && !isMatch) continue;
    else if (object.metadata.deletionTimestamp || owner.metadata.deletionTimestamp) continue;
    else {
      const others = (object.metadata.ownerReferences ?? []).filter((one) => one.uid !== owner.metadata.uid);
      const references = isMatch ? [...others, ownerReference(ownerKind, owner)] : others;
      const { uid, resourceVersion } = object.metadata;
      const patch = { metadata: { uid, resourceVersion, ownerReferences: references } };
      const result = await client.patch(kind, object.metadata, patch);
      if (!result.ok && result.problem.status !== 404) failed = result.problem;
      if (result.ok && isMatch) owned.push(result.value);
    }
  }
  return failed ? { owned, problem: failed } : { owned };
}
