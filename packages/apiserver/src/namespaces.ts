// The life of a namespace after it is made and after it is deleted.
//   made → has a default service account        deleted → Terminating → emptied → finalized → gone
import { initialRoles } from './access/roles.ts';
import type { Cluster } from './cluster.ts';
import type { KubeObject } from './object.ts';
import type { Own } from './own.ts';
import { keyOf } from './resource.ts';
import { decode } from './store.ts';

export const namespaceKey = { group: '', resource: 'namespaces', isNamespaced: false };
const initial = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Makes what every cluster starts with: its first namespaces and the service of the server itself, at the first address of the range. */
export async function bootstrap(own: Own, serverAddress: string): Promise<void> {
  await Promise.all(initial.map((name) => own.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
  await Promise.all(initialRoles().map((role) => own.create(role)));
  await own.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP: serverAddress, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
  });
}

/** Brings one namespace a step on: a default account for a new one, emptying and end for a deleted one. */
export async function settleNamespace(cluster: Cluster, own: Own, name: string): Promise<void> {
  const entry = cluster.store.get(keyOf(namespaceKey, '', name));
  if (!entry) return;
  const namespace = decode(entry.text);
  if (!namespace.metadata.deletionTimestamp) return furnish(cluster, own, name);
  await emptyOut(cluster, own, name);
  if (isEmpty(cluster, name)) await finalize(own, namespace);
}

const rootNote = 'The authority that vouches for this API server, for pods to check it by.';

/** What every namespace has: an account for its pods, and the authority they are to believe. */
async function furnish(cluster: Cluster, own: Own, namespace: string): Promise<void> {
  await own.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } });
  if (cluster.authority === undefined) return;
  await own.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt', namespace, annotations: { 'kubernetes.io/description': rootNote } },
    data: { 'ca.crt': cluster.authority },
  });
}

const namespaced = (cluster: Cluster) =>
  cluster.registry
    .all()
    .filter((resource) => resource.isNamespaced && !resource.twin && resource.verbs.includes('list'));

async function emptyOut(cluster: Cluster, own: Own, name: string): Promise<void> {
  for (const resource of namespaced(cluster)) {
    for (const entry of cluster.store.table(keyOf(resource)).range(keyOf(resource, name))) {
      const object = decode(entry.text);
      if (!object.metadata.deletionTimestamp) await own.remove(resource, object);
    }
  }
}

const isEmpty = (cluster: Cluster, name: string): boolean =>
  namespaced(cluster).every((resource) => cluster.store.table(keyOf(resource)).count(keyOf(resource, name)) === 0);

const finalize = (own: Own, { metadata }: KubeObject): Promise<void> =>
  own.change('v1', 'namespaces', {
    name: metadata.name ?? '',
    subresource: 'finalize',
    change: (object) => {
      object.spec = {};
    },
  });
