// From a Service and its pods to endpoints, grouped by the ports they have in common. Pure.
import type { Endpoint, EndpointPort, Pod, Service, ServicePort } from '../kube/objects.ts';
import { isEnded, isReady } from '../workloads/pod-state.ts';

/** Endpoints that share a list of ports: named target ports may differ from pod to pod. */
export interface EndpointGroup {
  ports: EndpointPort[];
  endpoints: Endpoint[];
}

/** Kubernetes makes endpoints only for a Service that selects pods. */
export function isSelecting(service: Service): boolean {
  const { selector, type } = service.spec;
  return type !== 'ExternalName' && selector !== undefined && Object.keys(selector).length > 0;
}

/** The zone of a node by its name. */
export type ZoneOf = (nodeName: string) => string | undefined;

/** Pods without an address and pods that have ended are no endpoints; terminating ones are, until they are gone. */
export function groupsOf(service: Service, pods: Pod[], zoneOf: ZoneOf): EndpointGroup[] {
  const groups = new Map<string, EndpointGroup>();
  for (const pod of pods) {
    if (!pod.status?.podIP || isEnded(pod)) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(service, pod, zoneOf));
    groups.set(key, group);
  }
  return [...groups.values()];
}

/**
 *  pod                     | publishNotReadyAddresses | ready | serving | terminating
 *  ------------------------+--------------------------+-------+---------+------------
 *  Ready                   | any                      | yes   | yes     | no
 *  not Ready               | no                       | no    | no      | no
 *  not Ready               | yes                      | yes   | no      | no
 *  being deleted, Ready    | no                       | no    | yes     | yes
 *  being deleted, not Ready| no                       | no    | no      | yes
 *  being deleted           | yes                      | yes   | by Ready| yes
 */
export function conditionsOf(service: Service, pod: Pod): Required<Endpoint['conditions']> {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  return { ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating };
}

function endpointOf(service: Service, pod: Pod, zoneOf: ZoneOf): Endpoint {
  const { name, namespace, uid } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec;
  const zone = nodeName && zoneOf(nodeName);
  return {
    addresses: [pod.status!.podIP!],
    conditions: conditionsOf(service, pod),
    ...(hostname && subdomain === service.metadata.name && { hostname }),
    ...(nodeName && { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(zone && { zone }),
  };
}

/** The Service's ports as this pod has them; a named target port the pod does not have is left out. */
function portsOf(service: Service, pod: Pod): EndpointPort[] {
  const found: EndpointPort[] = [];
  for (const port of service.spec.ports ?? []) {
    const number = targetPort(port, pod);
    if (number === undefined) continue;
    found.push({
      name: port.name ?? '',
      port: number,
      protocol: port.protocol ?? 'TCP',
      ...(port.appProtocol && { appProtocol: port.appProtocol }),
    });
  }
  return found;
}

/** The container port a Service port leads to: its number, or the pod's port of that name and protocol. */
export function targetPort(
  { port, targetPort: target = port, protocol = 'TCP' }: ServicePort,
  pod: Pod,
): number | undefined {
  if (typeof target === 'number') return target === 0 ? port : target;
  if (/^\d+$/.test(target)) return Number(target);
  const sidecars = (pod.spec.initContainers ?? []).filter((one) => one.restartPolicy === 'Always');
  for (const container of [...pod.spec.containers, ...sidecars]) {
    const named = container.ports?.find((one) => one.name === target && (one.protocol ?? 'TCP') === protocol);
    if (named) return named.containerPort;
  }
  return undefined;
}
