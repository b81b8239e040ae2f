// The life of a namespace after it is made and after it is deleted.
//   made → has a default service account        deleted → Terminating → emptied → finalized → gone
import { initialRoles } from './access/roles.ts';
import type { Cluster } from './cluster.ts';
import { endNamespace } from './namespace-end.ts';
import { namespaceController, own as ownAs, type Own } from './own.ts';
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

/**
 * Brings one namespace a step on: a default account for a new one, emptying and end for a deleted one.
 * Gives how much of a deleted one may not be deleted now.
 */
export async function settleNamespace(cluster: Cluster, own: Own, name: string): Promise<number> {
  const entry = cluster.store.get(keyOf(namespaceKey, '', name));
  if (!entry) return 0;
  const namespace = decode(entry.text);
  if (namespace.metadata.deletionTimestamp)
    return endNamespace({ cluster, own: ownAs(cluster, namespaceController) }, namespace);
  await furnish(cluster, own, name);
  return 0;
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
