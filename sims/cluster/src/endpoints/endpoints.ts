// Endpoints (v1), the older form: one object for each Service, ready and not ready addresses, at most a thousand.
import type { Controller, Kit } from '../kit.ts';
import { kinds } from '../kube/kinds.ts';
import type { EndpointAddress, Endpoints, EndpointSubset, Service } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { canonical } from '../workloads/template.ts';
import type { EndpointGroup } from './endpoint.ts';
import { groupsOf, isSelecting } from './endpoint.ts';
import { podsOf, servicesOf } from './selection.ts';

const capacity = 1000;
/** Ms without another turn, for each address: the whole object is written each time, and nothing new reads it. */
const restPerAddress = 1;
const overCapacity = 'endpoints.kubernetes.io/over-capacity';

export function endpoints(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'endpoints', timers, log, turn: (key) => turn(kit, key), width: 4 });
  stores.services.onChange(({ key }) => turns.add(key));
  stores.endpoints.onChange(({ key }) => turns.add(key));
  stores.pods.onChange((change) => {
    for (const key of servicesOf(stores, change)) turns.add(key);
  });
  return turns;
}

async function turn(kit: Kit, key: string): Promise<Next> {
  const { stores, client } = kit;
  const service = stores.services.get(key);
  const found = stores.endpoints.get(key);
  if (!service || service.metadata.deletionTimestamp) {
    // Endpoints have no owner reference: whoever writes them for a Service takes them away with it.
    const isOurs = found?.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller';
    const gone = !service && found && isOurs ? await client.remove(kinds.endpoints, found.metadata) : undefined;
    return gone && !gone.ok ? { problem: gone.problem } : { after: 'change' };
  }
  if (!isSelecting(service)) return { after: 'change' };
  const pods = podsOf(stores, service);
  const rest = Math.min(pods.length, capacity) * restPerAddress;
  const { subsets, isCut } = subsetsOf(
    service,
    groupsOf(service, pods, () => undefined),
  );
  const metadata = {
    name: service.metadata.name,
    namespace: service.metadata.namespace,
    labels: { ...service.metadata.labels, 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    ...(isCut && { annotations: { [overCapacity]: 'truncated' } }),
  };
  if (found && canonical([found.subsets ?? [], found.metadata.labels ?? {}]) === canonical([subsets, metadata.labels]))
    return { after: 'change', rest };
  const { uid = '', resourceVersion = '' } = found?.metadata ?? {};
  const result = found
    ? await client.replace<Endpoints>(kinds.endpoints, { metadata: { ...metadata, uid, resourceVersion }, subsets })
    : await client.create<Endpoints>(kinds.endpoints, { metadata, subsets });
  return result.ok ? { after: 'change', rest } : { problem: result.problem };
}

/** Terminating pods are no addresses here, unless the Service publishes what is not ready. */
function subsetsOf(service: Service, groups: EndpointGroup[]): { subsets: EndpointSubset[]; isCut: boolean } {
  let room = capacity;
  const subsets: EndpointSubset[] = [];
  const total = groups.reduce((sum, group) => sum + group.endpoints.length, 0);
  for (const { ports, endpoints } of groups) {
    const shown = endpoints.filter((one) => !one.conditions.terminating || service.spec.publishNotReadyAddresses);
    const byIp = shown.sort((a, b) => (a.addresses[0]! < b.addresses[0]! ? -1 : 1)).slice(0, room);
    room -= byIp.length;
    const address = ({ addresses, hostname, nodeName, targetRef }: (typeof byIp)[number]): EndpointAddress => ({
      ip: addresses[0]!,
      ...(hostname && { hostname }),
      ...(nodeName && { nodeName }),
      ...(targetRef && { targetRef }),
    });
    const ready = byIp.filter((one) => one.conditions.ready).map(address);
    const notReady = byIp.filter((one) => !one.conditions.ready).map(address);
    if (byIp.length === 0) continue;
    subsets.push({
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ports: ports.map(({ name, ...rest }) => (name === '' ? (rest as (typeof ports)[number]) : { name, ...rest })),
    });
  }
  return { subsets, isCut: total > capacity };
}
