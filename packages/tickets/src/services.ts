// The Services behind a ticket's pools. One that is not there leaves its pool empty without a word of any agent or CIS.
import type { Lbticket } from '@fairlead/api';
import type { KubeObject, Service, Told } from '@fairlead/kube';
import type { Desk } from './desk.ts';
import { fails, holds } from './finding.ts';
import { retold } from './news.ts';
import type { ServicePortRef } from './part.ts';
import { conditionOf, type Fact } from './status.ts';

type ServicesDesk = Pick<Desk, 'loadbalancers' | 'target' | 'outlineOf'>;

/**
 * The condition `ServicesFound`; undefined leaves it as it is, or absent where all were there from the start.
 *
 *   a pool of the ticket names | reason
 *   ---------------------------+------------------------------------------------------------
 *   a Service that is not there| missing
 *   a port that it has not     | invalid; a target port counts, and one by name may be any
 */
export function servicesFound(desk: ServicesDesk, ticket: Lbticket): Fact | undefined {
  const isSaid = conditionOf(ticket, 'ServicesFound') !== undefined;
  if ((ticket.spec.listners?.length ?? 0) === 0)
    return isSaid ? holds('NoServices', 'the ticket has no listners') : undefined;
  const { namespace } = ticket.spec;
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  const stores = loadbalancer && desk.target(loadbalancer.spec.cluster)?.stores;
  // Without its namespace nothing of it is anywhere, and that is said.
  if (!loadbalancer || !stores?.services.synced || !stores.namespaces.get({ name: namespace })) return undefined;
  const outline = desk.outlineOf(ticket, loadbalancer);
  if (!outline.ok) return undefined;
  const lacks = new Map<string, Fact>();
  for (const use of Object.values(outline.value.pools)) {
    const fact = lackOf(use, stores.services.get({ namespace, name: use.service }), ticket);
    if (fact) lacks.set(fact.message, fact);
  }
  const facts = [...lacks.values()].sort((a, b) => (a.message < b.message ? -1 : 1));
  const [first] = facts;
  if (first) return fails(first.reason, facts.map(({ message }) => message).join('; '));
  return isSaid ? holds('Found') : undefined;
}

function lackOf(use: ServicePortRef, service: Service | undefined, ticket: Lbticket): Fact | undefined {
  const name = `Service ${ticket.spec.namespace}/${use.service}`;
  const listners = (ticket.spec.listners ?? []).filter(({ services }) =>
    services.some((one) => one.service === use.service && one.port === use.port),
  );
  const who = listners.length > 0 ? `listner ${listners.map((one) => one.name).join(', ')}` : 'a rule or canary';
  if (!service) return fails('missing', `${who}: ${name} is not there; create it, or name another`);
  if (hasPort(service, use.port)) return undefined;
  const known = (service.spec.ports ?? []).map(({ port }) => port).join(', ');
  return fails('invalid', `${who}: ${name} has no port ${use.port}; its ports are ${known}`);
}

/** May pods behind it listen on what a pool calls `port`? What the Service leaves open is not ours to refuse. */
const hasPort = ({ spec: { ports = [] } }: Service, port: number): boolean =>
  ports.length === 0 ||
  ports.some((one) => one.port === port || one.targetPort === port || typeof one.targetPort === 'string');

/** Is the Service, to a pool, what it was? */
export const isOfferSame = (before: KubeObject | undefined, after: KubeObject | undefined): boolean =>
  offerOf(before) === offerOf(after);

const offerOf = (service: KubeObject | undefined): string | undefined => {
  const spec = service && (service as Partial<Service>).spec;
  return service && JSON.stringify((spec?.ports ?? []).map(({ port, targetPort }) => [port, targetPort]));
};

/** An Event when Services are missing, and one when all are there again. */
export function serviceNews(before: Lbticket, after: Lbticket): Told[] {
  const { was, is } = retold('ServicesFound', before, after) ?? {};
  if (!is) return [];
  if (is.status === 'True')
    return was?.status === 'False'
      ? [{ type: 'Normal', reason: 'ServicesFound', message: is.message || 'all Services are there' }]
      : [];
  const reason = is.reason === 'missing' ? 'ServiceMissing' : 'ServiceInvalid';
  return [{ type: 'Warning', reason, message: is.message }];
}
