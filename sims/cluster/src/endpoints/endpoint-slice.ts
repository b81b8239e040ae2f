// EndpointSlices of every Service that selects pods. A pod's change is written at once: nothing is collected or delayed.
import { timestamp } from '../clock.ts';
import type { Controller, Kit } from '../kit.ts';
import { kinds } from '../kube/kinds.ts';
import type { EndpointSlice, Labels, Service } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { ownerReference } from '../workloads/owners.ts';
import { differs } from '../workloads/status.ts';
import { groupsOf, isSelecting } from './endpoint.ts';
import { podsOf, servicesOf, zones } from './selection.ts';
import type { Packed } from './slices.ts';
import { pack } from './slices.ts';

/** Ms without another turn, for each pod: a Service of ten rests 1 ms, one of three thousand 300 ms. */
const restWritten = 0.1;
/** Looking at a large Service costs time even when nothing is to be written. */
const restUnchanged = 0.02;

const writer = 'endpointslice-controller.k8s.io';
const writerLabel = 'endpointslice.kubernetes.io/managed-by';

export function endpointSlices(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'endpointslice', timers, log, turn: (key) => turn(kit, key) });
  stores.services.onChange(({ key }) => turns.add(key));
  stores.pods.onChange((change) => {
    for (const key of servicesOf(stores, change)) turns.add(key);
  });
  stores.endpointslices.onChange(({ before, after }) => {
    const { labels, namespace } = (after ?? before)!.metadata;
    if (labels?.[writerLabel] === writer) turns.add(`${namespace}/${labels['kubernetes.io/service-name']}`);
  });
  return turns;
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { stores, client } = kit;
  const service = stores.services.get(key);
  // The slices of a deleted Service go by garbage collection: it owns them.
  if (!service || service.metadata.deletionTimestamp || !isSelecting(service)) return { after: 'change' };
  const found = stores.endpointslices
    .by('service', key)
    .filter((slice) => slice.metadata.labels?.[writerLabel] === writer && !slice.metadata.deletionTimestamp);
  const pods = podsOf(stores, service);
  const packing = pack(groupsOf(service, pods, zones(stores)), found);
  const labels = labelsOf(service);
  const relabelled = found.filter(
    (slice) =>
      differs(slice.metadata.labels, labels) &&
      !packing.remove.includes(slice) &&
      !packing.write.some((one) => one.found === slice),
  );
  const writes = [
    ...packing.write,
    ...relabelled.map((slice) => ({ ports: slice.ports ?? [], endpoints: slice.endpoints ?? [], found: slice })),
  ];
  const results = await Promise.all([
    ...writes.map((one) => write(kit, service, one)),
    ...packing.remove.map((slice) => client.remove(kinds.endpointSlice, slice.metadata, { uid: slice.metadata.uid })),
  ]);
  const failed = results.find((result) => !result.ok);
  return failed && !failed.ok
    ? { problem: failed.problem }
    : { after: 'change', rest: pods.length * (results.length > 0 ? restWritten : restUnchanged) };
}

function write(kit: Kit, service: Service, { ports, endpoints, found }: Packed) {
  const labels = labelsOf(service);
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': timestamp(kit.clock.now()) };
  if (found) {
    const metadata = { ...found.metadata, labels, annotations: { ...found.metadata.annotations, ...annotations } };
    return kit.client.replace<EndpointSlice>(kinds.endpointSlice, { ...found, metadata, endpoints, ports });
  }
  return kit.client.create<EndpointSlice>(kinds.endpointSlice, {
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace,
      labels,
      annotations,
      ownerReferences: [ownerReference(kinds.service, service)],
    },
    addressType: 'IPv4',
    endpoints,
    ports,
  });
}

function labelsOf(service: Service): Labels {
  return {
    ...service.metadata.labels,
    'kubernetes.io/service-name': service.metadata.name,
    [writerLabel]: writer,
    ...(service.spec.clusterIP === 'None' && { 'service.kubernetes.io/headless': '' }),
  };
}
