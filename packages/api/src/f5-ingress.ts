// What controller, agent and admission agree on about F5 Ingresses (spec/tickets.md §8): whose they are, and the
// annotations in which controller and agent talk to each other. Pure; takes any object of the shape.
import type { IngressUse } from './checks/world.ts';

interface Backend {
  service?: { name: string } | undefined;
}

/** The fields of a networking.k8s.io/v1 Ingress that are looked at here. */
export interface IngressObject {
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  spec?: {
    ingressClassName?: string;
    defaultBackend?: Backend;
    rules?: { http?: { paths: { backend: Backend }[] } }[];
  };
}

export const ingressAnnotations = {
  /** By the user: the ticket whose addresses it wants, as `namespace/name`. */
  ticket: 'fairlead.io/ticket',
  /** Filled in by the controller, from the ticket, for CIS and for people. */
  ip: 'virtual-server.f5.com/ip',
  partition: 'virtual-server.f5.com/partition',
  /** By the controller: a `VipClaim`. */
  vip: 'fairlead.io/vip',
  /** By the controller: why the Ingress gets no address. */
  refused: 'fairlead.io/refused',
  /** By the agent: an `IngressReport`. */
  status: 'fairlead.io/status',
} as const;

/** Keeps an Ingress until the agent has confirmed that nothing of it is left on the device. */
export const ingressFinalizer = 'fairlead.io/ingress';

const f5Class = 'f5';
const classAnnotation = 'kubernetes.io/ingress.class';

/** The ticket that the Ingress names, when it is of class `f5`; the class as field or as annotation. */
export function ticketOfIngress({ metadata, spec }: IngressObject): string | undefined {
  const isF5 = (spec?.ingressClassName ?? metadata.annotations?.[classAnnotation]) === f5Class;
  return isF5 ? metadata.annotations?.[ingressAnnotations.ticket] : undefined;
}

/** What the controller asks of the agent, in the annotation `fairlead.io/vip`; there as long as the device may hold something. */
export interface VipClaim {
  /** Another one with each change of it; reports carry it back. */
  revision: string;
  /** `namespace/name`. */
  ticket: string;
  partition: string;
  ip: string;
  /** False: what the Ingress has there is to go. */
  wanted: boolean;
}

export function claimOf({ metadata }: IngressObject): VipClaim | undefined {
  const found = parsed(metadata.annotations?.[ingressAnnotations.vip]);
  const { revision, ticket, partition, ip, wanted } = found;
  const isSound = [revision, ticket, partition, ip].every((text) => typeof text === 'string' && text !== '');
  return isSound && typeof wanted === 'boolean' ? (found as unknown as VipClaim) : undefined;
}

/** What came of a claim, in the annotation `fairlead.io/status`. */
export interface IngressReport {
  revision: string;
  /** Nothing of it is on the device any longer. */
  gone?: true;
  ok?: boolean;
  code?: string;
  message?: string;
  /** What is wrong though it is served: rules that another Ingress has, Services that are not there. */
  notes?: string[];
  /** Those of the address that it is served on, where a first layer leads to them. */
  ports?: number[];
}

/** The agent's last word on ports, whatever claim it was on. */
export function portsReported(ingress: IngressObject): number[] {
  const { ports } = parsed(ingress.metadata.annotations?.[ingressAnnotations.status]);
  return Array.isArray(ports) ? ports.filter((port): port is number => typeof port === 'number') : [];
}

/** The agent's word on the claim as it is now; undefined while it has not spoken of it. */
export function reportOf(ingress: IngressObject): IngressReport | undefined {
  const found = parsed(ingress.metadata.annotations?.[ingressAnnotations.status]);
  return found['revision'] !== undefined && found['revision'] === claimOf(ingress)?.revision
    ? (found as unknown as IngressReport)
    : undefined;
}

/** Names of the Services behind it, each once, sorted. */
function servicesOfIngress({ spec }: IngressObject): string[] {
  const paths = (spec?.rules ?? []).flatMap((rule) => rule.http?.paths ?? []);
  const backends = [spec?.defaultBackend, ...paths.map(({ backend }) => backend)];
  return [...new Set(backends.flatMap((backend) => backend?.service?.name ?? []))].sort();
}

/** For the checks of tickets; undefined when it names no ticket. */
export function ingressUse(cluster: string, ingress: IngressObject): IngressUse | undefined {
  const ticket = ticketOfIngress(ingress);
  const { name, namespace = '' } = ingress.metadata;
  return ticket === undefined ? undefined : { cluster, namespace, name, ticket, services: servicesOfIngress(ingress) };
}

/** Indexes that a store of Ingresses is made with: `ticket`, those that name a ticket or may have something of it. */
export const ingressIndexes = {
  ticket: (ingress: IngressObject): string[] => [
    ...new Set([ticketOfIngress(ingress), claimOf(ingress)?.ticket].filter((one) => one !== undefined)),
  ],
};

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    // Anyone may write into annotations: what is no JSON says nothing, and ours replaces it.
    return {};
  }
}
