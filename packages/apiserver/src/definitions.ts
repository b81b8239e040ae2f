// Keeps the registry in step with the custom resource definitions that are stored, and says so in their status.
import type { Cluster } from './cluster.ts';
import { cleanup, resourceOf } from './crd.ts';
import { listOf, timeText, treeOf, type KubeObject, type Tree } from './object.ts';
import { keyOf, part, type Resource } from './resource.ts';
import { decode } from './store.ts';
import type { Own } from './own.ts';

export const definitionKey = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  isNamespaced: false,
};

/** Registers every stored definition: called once, before the first request. */
export function loadDefinitions(cluster: Cluster): void {
  for (const entry of cluster.store.table(keyOf(definitionKey)).range(keyOf(definitionKey)))
    register(cluster, decode(entry.text));
}

function register(cluster: Cluster, definition: KubeObject): Resource | undefined {
  if (conditionStatus(definition, 'Established') !== 'True' && clash(cluster, definition)) return undefined;
  const resource = resourceOf(definition);
  cluster.registry.put(resource);
  return resource;
}

/** Another kind that already has the definition's kind name in its group. */
function clash(cluster: Cluster, definition: KubeObject): Resource | undefined {
  const wanted = resourceOf(definition);
  const found = cluster.registry.findKind(wanted.group, wanted.kind);
  return found && found.resource !== wanted.resource ? found : undefined;
}

const conditionStatus = (definition: KubeObject, type: string): unknown =>
  listOf(part(definition, 'status').conditions)
    .map(treeOf)
    .find((condition) => condition.type === type)?.status;

/** Brings one definition up to date: registered and established, or, when it is being deleted, emptied and let go. */
export async function settleDefinition(cluster: Cluster, own: Own, name: string): Promise<void> {
  const entry = cluster.store.get(keyOf(definitionKey, '', name));
  if (!entry) {
    const dot = name.indexOf('.');
    cluster.registry.remove(name.slice(dot + 1), name.slice(0, dot));
    return;
  }
  const definition = decode(entry.text);
  if (definition.metadata.deletionTimestamp) return emptyOut(cluster, own, definition);
  const resource = register(cluster, definition);
  const status = statusOf(cluster, definition, resource);
  await own.putStatus('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name, status });
}

async function emptyOut(cluster: Cluster, own: Own, definition: KubeObject): Promise<void> {
  const resource = resourceOf(definition);
  const left = cluster.store.table(keyOf(resource)).range(keyOf(resource));
  for (const entry of left) await own.remove(resource, decode(entry.text));
  if (cluster.store.table(keyOf(resource)).count(keyOf(resource)) > 0) return;
  cluster.registry.remove(resource.group, resource.resource);
  const name = definition.metadata.name ?? '';
  await own.change('apiextensions.k8s.io/v1', 'customresourcedefinitions', {
    name,
    change: (object) => {
      object.metadata.finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== cleanup);
    },
  });
}

function statusOf(cluster: Cluster, definition: KubeObject, resource: Resource | undefined): Tree {
  const old = part(definition, 'status');
  const now = timeText(cluster.clock.now());
  const condition = (type: string, isTrue: boolean, reason: string, message: string) => {
    const before = listOf(old.conditions)
      .map(treeOf)
      .find((one) => one.type === type);
    const status = isTrue ? 'True' : 'False';
    const since = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, lastTransitionTime: since, reason, message };
  };
  const isFree = resource !== undefined;
  const stored = new Set([...listOf(old.storedVersions), ...(resource ? [resource.storageVersion] : [])]);
  return {
    conditions: [
      condition(
        'NamesAccepted',
        isFree,
        isFree ? 'NoConflicts' : 'KindConflict',
        isFree ? 'no conflicts found' : 'the kind is already in use',
      ),
      condition(
        'Established',
        isFree,
        isFree ? 'InitialNamesAccepted' : 'NotAccepted',
        isFree ? 'the initial names have been accepted' : 'not all names are accepted',
      ),
    ],
    acceptedNames: isFree ? part(definition, 'spec').names : { plural: '', kind: '' },
    storedVersions: [...stored],
  };
}
