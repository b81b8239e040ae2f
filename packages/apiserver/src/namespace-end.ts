// The end of a namespace: all that is in it is deleted, and what stays is told in its status, as Kubernetes' own controller
// does it (pkg/controller/namespace/deletion).
import type { Cluster } from './cluster.ts';
import { listOf, timeText, treeOf, type KubeObject, type Tree } from './object.ts';
import type { Own } from './own.ts';
import { keyOf, type Resource } from './resource.ts';
import { decode } from './store.ts';

/** `own`: writes as the namespace controller. */
export interface Ending {
  cluster: Cluster;
  own: Own;
}

/** Deletes what is in the namespace, and the namespace when nothing is left. Gives how many deletes were refused: they are to be tried again. */
export async function endNamespace({ cluster, own }: Ending, namespace: KubeObject): Promise<number> {
  const name = namespace.metadata.name ?? '';
  const refusals = await emptyOut({ cluster, own }, name);
  const left = namespaced(cluster).flatMap((resource) => objectsIn(cluster, resource, name));
  if (left.length === 0) await finalize(own, name);
  else await tell({ cluster, own }, namespace, conditionsOf(refusals, left));
  return refusals.length;
}

interface Left {
  resource: Resource;
  object: KubeObject;
}

const namespaced = (cluster: Cluster) =>
  cluster.registry
    .all()
    .filter((resource) => resource.isNamespaced && !resource.twin && resource.verbs.includes('list'));

const objectsIn = (cluster: Cluster, resource: Resource, namespace: string): Left[] =>
  [...cluster.store.table(keyOf(resource)).range(keyOf(resource, namespace))].map((entry) => ({
    resource,
    object: decode(entry.text),
  }));

/** One that admission keeps is no reason to keep the others. */
async function emptyOut({ cluster, own }: Ending, name: string): Promise<string[]> {
  const refusals: string[] = [];
  for (const resource of namespaced(cluster)) {
    for (const { object } of objectsIn(cluster, resource, name)) {
      const refused = object.metadata.deletionTimestamp ? undefined : await own.tryRemove(resource, object);
      if (refused) refusals.push(refused.message);
    }
  }
  return refusals;
}

/** A condition: whether something is in the way, and why. */
type Said = [type: string, isInTheWay: boolean, reason: string, message: string];

/** In the real controller's order, reasons and words. */
function conditionsOf(refusals: readonly string[], left: readonly Left[]): Said[] {
  const kinds = counted(left.map(({ resource }) => `${resource.resource}.${resource.group}`));
  const finalizers = counted(left.flatMap(({ object }) => object.metadata.finalizers ?? []));
  const those = (counts: [string, number][], verb: string) =>
    counts.map(([name, count]) => `${name} ${verb} ${count} resource instances`).join(', ');
  const failed = `Failed to delete all resource types, ${refusals.length} remaining: ${refusals.toSorted().join(', ')}`;
  return [
    ['NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'All resources successfully discovered'],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    refusals.length > 0
      ? ['NamespaceDeletionContentFailure', true, 'ContentDeletionFailed', failed]
      : [
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ],
    ['NamespaceContentRemaining', true, 'SomeResourcesRemain', `Some resources are remaining: ${those(kinds, 'has')}`],
    finalizers.length > 0
      ? [
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${those(finalizers, 'in')}`,
        ]
      : ['NamespaceFinalizersRemaining', false, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
  ];
}

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Writes the conditions, unless they stand there already: a write is a change, and a change is looked at again. */
async function tell({ cluster, own }: Ending, { metadata, status }: KubeObject, said: readonly Said[]): Promise<void> {
  const before = listOf(treeOf(status).conditions).map(treeOf);
  const now = timeText(cluster.clock.now());
  const after = said.map(([type, isInTheWay, reason, message]): Tree => {
    const is = isInTheWay ? 'True' : 'False';
    const old = before.find((one) => one.type === type);
    const lastTransitionTime = old?.status === is ? old.lastTransitionTime : now;
    return { type, status: is, lastTransitionTime, reason, message };
  });
  const isTold = after.every((one) =>
    before.some(({ type, reason, message }) => type === one.type && reason === one.reason && message === one.message),
  );
  if (isTold) return;
  const others = before.filter((one) => !after.some(({ type }) => type === one.type));
  await own.change('v1', 'namespaces', {
    name: metadata.name ?? '',
    subresource: 'status',
    change: (object) => void (object.status = { ...treeOf(object.status), conditions: [...others, ...after] }),
  });
}

const finalize = (own: Own, name: string): Promise<void> =>
  own.change('v1', 'namespaces', {
    name,
    subresource: 'finalize',
    change: (object) => {
      object.spec = {};
    },
  });
