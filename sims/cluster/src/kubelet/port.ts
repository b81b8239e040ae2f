// What a container's port speaks. Pure.
import type { Container, ContainerPort, Pod, Service } from '../kube/objects.ts';
import { targetPort } from '../endpoints/endpoint.ts';
import { annotation } from './annotations.ts';

export type Protocol = 'http' | 'https' | 'tcp' | 'udp';

export interface Port {
  number: number;
  protocol: Protocol;
}

/**
 * The first row that applies:
 *
 *  annotation sim.fairlead.io/protocol.<name or number> | as it says
 *  protocol UDP                                         | udp
 *  appProtocol of a Service that leads here             | http or https, when it is one of them
 *  port named https or https-…                          | https
 *  port named http… or web                              | http
 *  otherwise                                            | tcp
 */
export function portsOf(pod: Pod, container: Container, services: Service[]): Port[] {
  return (container.ports ?? []).map((port) => ({
    number: port.containerPort,
    protocol: protocolOf(pod, port, services),
  }));
}

function protocolOf(pod: Pod, port: ContainerPort, services: Service[]): Protocol {
  const told = annotation(pod, `protocol.${port.name}`) ?? annotation(pod, `protocol.${port.containerPort}`);
  if (told === 'http' || told === 'https' || told === 'tcp' || told === 'udp') return told;
  if (port.protocol === 'UDP') return 'udp';
  const leading = services
    .flatMap((service) => service.spec.ports ?? [])
    .filter((one) => targetPort(one, pod) === port.containerPort);
  const app = leading.map((one) => one.appProtocol?.toLowerCase()).find((one) => one === 'http' || one === 'https');
  if (app) return app as Protocol;
  if (/^https($|-)/.test(port.name ?? '')) return 'https';
  return /^(http|web$)/.test(port.name ?? '') ? 'http' : 'tcp';
}
