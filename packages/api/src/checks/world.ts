// What the checks may ask about everything else there is. Read only; stores, files and forms can all answer it.
import type { Lbcanary } from '../lbcanary.ts';
import type { Lbrule } from '../lbrule.ts';
import type { Lbticket } from '../lbticket.ts';
import type { Loadbalancer } from '../loadbalancer.ts';

export interface World {
  loadbalancers(): Iterable<Loadbalancer>;
  lbtickets(): Iterable<Lbticket>;
  lbrules(): Iterable<Lbrule>;
  /** Absent: there are none. */
  lbcanaries?(): Iterable<Lbcanary>;
  /** Whether the target cluster has the namespace; undefined when the cluster cannot be asked now. Absent: never asked. */
  namespaceExists?(cluster: string, namespace: string): boolean | undefined;
  /** Whether the namespace, of the management cluster, is being deleted with all that is in it. Absent: it is not. */
  namespaceEnds?(namespace: string): boolean;
  /** F5 Ingresses of the target clusters. Absent: there are none. */
  ingresses?(): Iterable<IngressUse>;
}

/** An F5 Ingress and what it uses. */
export interface IngressUse {
  cluster: string;
  namespace: string;
  name: string;
  /** Its ticket, as `namespace/name`. */
  ticket: string;
  /** Names of the Services its rules send requests to. */
  services: readonly string[];
}

/** `namespace/name`, or the name alone for kinds without a namespace. */
export const nameOf = ({ metadata }: { metadata: { name: string; namespace?: string } }): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

export const isSame = (
  a: { metadata: { name: string; namespace?: string } },
  b: { metadata: { name: string; namespace?: string } },
): boolean => a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;

/**
 * Does the ticket bind its load balancer? Deleted ones do not, and neither do failed ones that hold no address:
 * else a load balancer with a wrong network could not be corrected once a ticket has failed on it.
 */
export const isLive = (ticket: Lbticket): boolean => {
  const { process, veip, ltmip } = ticket.status ?? {};
  return process !== 'deleted' && !(process === 'failed' && !veip && !ltmip);
};

export function liveTicketsOf(world: World, loadbalancer: string): Lbticket[] {
  return [...world.lbtickets()].filter((ticket) => ticket.spec.loadbalancer === loadbalancer && isLive(ticket));
}

export function ticketNamed(
  world: Pick<World, 'lbtickets'>,
  namespace: string | undefined,
  name: string,
): Lbticket | undefined {
  for (const ticket of world.lbtickets()) {
    if (ticket.metadata.name === name && ticket.metadata.namespace === namespace) return ticket;
  }
  return undefined;
}

export function loadbalancerNamed(world: World, name: string): Loadbalancer | undefined {
  for (const loadbalancer of world.loadbalancers()) if (loadbalancer.metadata.name === name) return loadbalancer;
  return undefined;
}

/** The rules that name the ticket, whichever of its listners. */
export const rulesOf = (ticket: Lbticket, world: Pick<World, 'lbrules'>): Lbrule[] =>
  [...world.lbrules()].filter(
    ({ metadata, spec }) => spec.lbticket === ticket.metadata.name && metadata.namespace === ticket.metadata.namespace,
  );

/** The target cluster of a ticket; undefined while its load balancer is unknown. */
export const clusterOf = (ticket: Lbticket, world: World): string | undefined =>
  loadbalancerNamed(world, ticket.spec.loadbalancer)?.spec.cluster;

/** Rules that `counts` is true of, by `namespace/name` of the ticket that they name. */
export function rulesByTicket(
  world: Pick<World, 'lbrules'>,
  counts: (rule: Lbrule) => boolean = () => true,
): Map<string, Lbrule[]> {
  const rules = new Map<string, Lbrule[]>();
  for (const rule of world.lbrules()) {
    if (!counts(rule)) continue;
    const ticket = nameOf({ metadata: { ...rule.metadata, name: rule.spec.lbticket } });
    const others = rules.get(ticket);
    if (others) others.push(rule);
    else rules.set(ticket, [rule]);
  }
  return rules;
}
