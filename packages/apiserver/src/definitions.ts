// Keeps the registry in step with the custom resource definitions that are stored, and says so in their status.
import type { Cluster } from './cluster.ts';
import { resourceOf } from './crd.ts';
import { acceptNames, type TakenNames } from './accepted-names.ts';
import { cleanup } from './definition-rules.ts';
import { listOf, textOf, timeText, treeOf, type KubeObject, type Tree } from './object.ts';
import { keyOf, part } from './resource.ts';
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

/** Serves what a definition describes, once its names are its own; those it was served under stay, whatever it asks for now. */
function register(cluster: Cluster, definition: KubeObject): void {
  if (conditionStatus(definition, 'Established') !== 'True') return;
  const resource = resourceOf(definition);
  const served = cluster.registry
    .all()
    .find((one) => one.group === resource.group && one.resource === resource.resource);
  // Documents, and what webhooks converted, hold as long as the resource does.
  if (served?.definedBy === resource.definedBy) return;
  // Whatever happened before a kind was served, nobody can have seen.
  if (!served) cluster.store.table(keyOf(resource)).forget(cluster.store.revision());
  cluster.registry.put(resource);
}

/** The names that other definitions of the group have been given. */
function othersNames(cluster: Cluster, definition: KubeObject): TakenNames {
  const taken: TakenNames = { resources: new Set(), kinds: new Set() };
  for (const entry of cluster.store.table(keyOf(definitionKey)).range(keyOf(definitionKey))) {
    const other = decode(entry.text);
    const isOther = other.metadata.name !== definition.metadata.name;
    if (!isOther || part(other, 'spec').group !== part(definition, 'spec').group) continue;
    const names = treeOf(part(other, 'status').acceptedNames);
    for (const name of [names.plural, names.singular, ...listOf(names.shortNames)]) taken.resources.add(textOf(name));
    for (const kind of [names.kind, names.listKind]) taken.kinds.add(textOf(kind));
  }
  return taken;
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
  const status = statusOf(cluster, definition);
  register(cluster, { ...definition, status });
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

const condition = (type: string, isTrue: boolean, why: { reason: string; message: string }): Tree => ({
  type,
  status: isTrue ? 'True' : 'False',
  ...why,
});

function statusOf(cluster: Cluster, definition: KubeObject): Tree {
  const old = part(definition, 'status');
  const { accepted, conflict } = acceptNames(definition, othersNames(cluster, definition));
  const wasEstablished = conditionStatus(definition, 'Established') === 'True';
  const isEstablished = wasEstablished || !conflict;
  const conditions = [
    condition('NamesAccepted', !conflict, conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' }),
    condition(
      'Established',
      isEstablished,
      isEstablished
        ? { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
        : { reason: 'NotAccepted', message: 'not all names are accepted' },
    ),
  ];
  const now = timeText(cluster.clock.now());
  return {
    ...old,
    conditions: conditions.map(({ type, status, reason, message }) => {
      const before = listOf(old.conditions)
        .map(treeOf)
        .find((one) => one.type === type);
      const since = before?.status === status ? before?.lastTransitionTime : now;
      return { type, status, lastTransitionTime: since, reason, message };
    }),
    acceptedNames: accepted,
  };
}
