// Which objects depend on which, and what is to go when an owner goes: the part of garbage collection that decides.
import type { Cluster } from './cluster.ts';
import type { KubeObject, OwnerReference } from './object.ts';
import type { Own } from './own.ts';
import type { Resource } from './resource.ts';
import { decode, type StoreEvent } from './store.ts';

export interface Owners {
  /** Takes in a change; the keys to look at because of it. */
  note(type: StoreEvent['type'], key: string, object: KubeObject): string[];
  keyOf(uid: string): string | undefined;
  dependents(uid: string): string[];
}

/** An index of objects by uid and of dependents by their owners' uid. */
export function owners(): Owners {
  const keys = new Map<string, string>();
  const dependents = new Map<string, Set<string>>();
  const known = new Map<string, string[]>();

  function link(key: string, uids: string[]): void {
    for (const uid of known.get(key) ?? []) {
      const set = dependents.get(uid);
      set?.delete(key);
      if (set?.size === 0) dependents.delete(uid);
    }
    if (uids.length === 0) known.delete(key);
    else known.set(key, uids);
    for (const uid of uids) {
      const set = dependents.get(uid) ?? new Set();
      dependents.set(uid, set.add(key));
    }
  }

  return {
    note(type, key, { metadata }) {
      const { uid = '', ownerReferences = [], finalizers = [], deletionTimestamp } = metadata;
      const uids = ownerReferences.map((owner) => owner.uid);
      if (type === 'DELETED') {
        const owned = [...(dependents.get(uid) ?? [])];
        keys.delete(uid);
        link(key, []);
        // An owner that waits for its dependents may have been waiting for this one.
        return [...owned, ...uids.flatMap((owner) => keys.get(owner) ?? [])];
      }
      keys.set(uid, key);
      const isNewlyOwned = uids.some((owner) => !known.get(key)?.includes(owner));
      link(key, uids);
      const waits =
        deletionTimestamp !== undefined && finalizers.some((one) => one === 'foregroundDeletion' || one === 'orphan');
      return waits || isNewlyOwned ? [key] : [];
    },
    keyOf: (uid) => keys.get(uid),
    dependents: (uid) => [...(dependents.get(uid) ?? [])],
  };
}

interface Collecting {
  cluster: Cluster;
  own: Own;
  index: Owners;
}

/*
   the object                           | then
   -------------------------------------+---------------------------------------------------
   has the orphan finalizer, deleted    | its dependents lose it as owner, then it may go
   has foregroundDeletion, deleted      | its dependents are deleted; it goes when none block it
   has owners, none of which exist      | is deleted
   has owners, some of which exist      | loses those that do not
*/
export async function collect({ cluster, own, index }: Collecting, key: string): Promise<void> {
  const entry = cluster.store.get(key);
  if (!entry) return;
  const object = decode(entry.text);
  const resource = resourceAt(cluster, key);
  if (!resource) return;
  const { finalizers = [], deletionTimestamp, ownerReferences = [], uid = '' } = object.metadata;
  if (deletionTimestamp && finalizers.includes('orphan')) return orphan({ cluster, own, index }, resource, object);
  if (deletionTimestamp && finalizers.includes('foregroundDeletion'))
    return foreground({ cluster, own, index }, resource, object);
  const gone = ownerReferences.filter((owner) => !isThere({ cluster, index }, owner, object));
  if (gone.length === 0) return;
  if (gone.length < ownerReferences.length)
    return dropOwners(
      own,
      resource,
      object,
      gone.map((owner) => owner.uid),
    );
  await own.remove(resource, object, index.dependents(uid).length > 0 ? { propagationPolicy: 'Background' } : {});
}

/** An owner in another namespace owns nothing here, whatever its uid. */
function isThere(
  { cluster, index }: Pick<Collecting, 'cluster' | 'index'>,
  owner: OwnerReference,
  dependent: KubeObject,
): boolean {
  const key = index.keyOf(owner.uid);
  const entry = key === undefined ? undefined : cluster.store.get(key);
  if (!entry) return false;
  const { namespace } = decode(entry.text).metadata;
  return namespace === undefined || namespace === dependent.metadata.namespace;
}

async function orphan({ cluster, own, index }: Collecting, resource: Resource, object: KubeObject): Promise<void> {
  for (const key of index.dependents(object.metadata.uid ?? '')) {
    const entry = cluster.store.get(key);
    const kind = resourceAt(cluster, key);
    if (entry && kind) await dropOwners(own, kind, decode(entry.text), [object.metadata.uid ?? '']);
  }
  await dropFinalizer(own, resource, object, 'orphan');
}

async function foreground({ cluster, own, index }: Collecting, resource: Resource, object: KubeObject): Promise<void> {
  const uid = object.metadata.uid ?? '';
  let isBlocked = false;
  for (const key of index.dependents(uid)) {
    const entry = cluster.store.get(key);
    const kind = resourceAt(cluster, key);
    if (!entry || !kind) continue;
    const dependent = decode(entry.text);
    const blocks = dependent.metadata.ownerReferences?.some(
      (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
    );
    if (!dependent.metadata.deletionTimestamp) await own.remove(kind, dependent, { propagationPolicy: 'Foreground' });
    if (blocks && cluster.store.get(key)) isBlocked = true;
  }
  if (!isBlocked) await dropFinalizer(own, resource, object, 'foregroundDeletion');
}

const versionOf = (resource: Resource): string =>
  resource.group ? `${resource.group}/${resource.storageVersion}` : resource.storageVersion;
const nameOf = ({ metadata }: KubeObject) => ({ name: metadata.name ?? '', namespace: metadata.namespace ?? '' });

async function dropOwners(own: Own, resource: Resource, object: KubeObject, uids: string[]): Promise<void> {
  await own.change(versionOf(resource), resource.resource, {
    ...nameOf(object),
    change: ({ metadata }) => {
      const left = (metadata.ownerReferences ?? []).filter((owner) => !uids.includes(owner.uid));
      if (left.length > 0) metadata.ownerReferences = left;
      else delete metadata.ownerReferences;
    },
  });
}

async function dropFinalizer(own: Own, resource: Resource, object: KubeObject, finalizer: string): Promise<void> {
  await own.change(versionOf(resource), resource.resource, {
    ...nameOf(object),
    change: ({ metadata }) => {
      const left = (metadata.finalizers ?? []).filter((one) => one !== finalizer);
      if (left.length > 0) metadata.finalizers = left;
      else delete metadata.finalizers;
    },
  });
}

function resourceAt(cluster: Cluster, key: string): Resource | undefined {
  const [, , group = '', name = ''] = key.split('/');
  return cluster.registry.all().find((one) => (one.group || 'core') === group && one.resource === name);
}
