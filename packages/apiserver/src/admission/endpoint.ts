// Where a Service's pods listen, for calls the server makes itself: nothing in front of it would turn a cluster address into theirs.
import type { Cluster } from '../cluster.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { keyOf, part } from '../resource.ts';
import { decode } from '../store.ts';

export type Endpoint = { ok: true; value: { host: string; port: number } } | { ok: false; why: string };

const serviceKey = { group: '', resource: 'services', isNamespaced: true };
const sliceKey = { group: 'discovery.k8s.io', resource: 'endpointslices', isNamespaced: true };

/** A ready endpoint of a Service's port. */
export function endpointOf(cluster: Cluster, wanted: { namespace: string; name: string; port: number }): Endpoint {
  const { namespace, name, port } = wanted;
  const entry = cluster.store.get(keyOf(serviceKey, namespace, name));
  if (!entry) return { ok: false, why: `service ${JSON.stringify(name)} not found` };
  const spec = part(decode(entry.text), 'spec');
  if (spec.type === 'ExternalName') return { ok: true, value: { host: textOf(spec.externalName), port } };
  const found = listOf(spec.ports)
    .map(treeOf)
    .find((one) => one.port === port);
  if (!found) return { ok: false, why: `no service port ${port} found for service ${JSON.stringify(name)}` };
  for (const slice of slicesOf(cluster, namespace, name)) {
    const endpoint = readyIn(slice, textOf(found.name));
    if (endpoint) return { ok: true, value: endpoint };
  }
  return { ok: false, why: `no endpoints available for service ${JSON.stringify(name)}` };
}

const slicesOf = (cluster: Cluster, namespace: string, name: string): Tree[] =>
  cluster.store
    .table(keyOf(sliceKey))
    .range(keyOf(sliceKey, namespace))
    .filter((entry) => entry.labels['kubernetes.io/service-name'] === name)
    .map((entry) => decode(entry.text));

function readyIn(slice: Tree, portName: string): { host: string; port: number } | undefined {
  const port = listOf(slice.ports)
    .map(treeOf)
    .find((one) => textOf(one.name) === portName)?.port;
  if (typeof port !== 'number') return undefined;
  const ready = listOf(slice.endpoints)
    .filter(isTree)
    .find((one) => treeOf(one.conditions).ready !== false);
  const host = listOf(ready?.addresses)[0];
  return typeof host === 'string' ? { host, port } : undefined;
}
