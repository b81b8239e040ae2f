// Names that come out of a ticket: in AS3, in the target cluster, on labels and annotations (spec/tickets.md §5).
import { allocatedAnnotation, tenantOf as tenantBySpec, type Lbticket, type Loadbalancer } from '@fairlead/api';

/** As the API has it, asked for each ConfigMap of a cluster with each edit of one. */
export function tenantOf(loadbalancer: Loadbalancer, namespace: string): string {
  const known = tenants.get(loadbalancer) ?? new Map<string, string>();
  tenants.set(loadbalancer, known);
  const tenant = known.get(namespace) ?? tenantBySpec(loadbalancer, namespace);
  known.set(namespace, tenant);
  return tenant;
}

const tenants = new WeakMap<Loadbalancer, Map<string, string>>();

/** Where the Ingresses of a namespace are served: as `ve.partition` says, or beside its ConfigMap. */
export const partitionOf = (loadbalancer: Loadbalancer, namespace: string): string =>
  loadbalancer.spec.ve.partition ?? tenantOf(loadbalancer, namespace);

export const configMapName = (loadbalancer: string): string => `fairlead-${loadbalancer}`;

/** `namespace/name`: how tickets are called in messages, indexes and annotations. */
export const ticketName = (ticket: Lbticket): string => `${ticket.metadata.namespace ?? ''}/${ticket.metadata.name}`;

/** Labels by which CIS matches a Service with a pool. */
export const serviceLabels = {
  tenant: 'cis.f5.com/as3-tenant',
  application: 'cis.f5.com/as3-app',
  pool: 'cis.f5.com/as3-pool',
} as const;

/** A ticket or rule by its `namespace/name`. */
export function placeOf(name: string): { namespace: string; name: string } {
  const [namespace = '', short = ''] = name.split('/');
  return { namespace, name: short };
}

/** Milliseconds since the epoch; 0 for an object that no API server has seen. */
export const createdAt = ({ metadata }: { metadata: { creationTimestamp?: string } }): number =>
  Date.parse(metadata.creationTimestamp ?? '') || 0;

export const annotations = {
  /** On the ConfigMap: the Loadbalancer it belongs to. */
  loadbalancer: 'fairlead.io/loadbalancer',
  /** On the ConfigMap: a digest of the template; reports speak of it. */
  revision: 'fairlead.io/revision',
  /** On the ConfigMap: `{"<application>/<pool>": {"service", "port"}}`. */
  pools: 'fairlead.io/pools',
  /** On the ConfigMap: `{"<namespace>/<ticket>": Part}`, what in the template is whose. */
  tickets: 'fairlead.io/tickets',
  /** On the ConfigMap, by the agent: what came of it. */
  status: 'fairlead.io/status',
  /** On the ticket: the addresses that were chosen by us, and not asked for: `{"veip", "ltmip"}`. */
  allocated: allocatedAnnotation,
  /** On the ticket: a new value asks the approver at once. */
  pollNow: 'fairlead.io/poll-now',
} as const;

/** The field manager of what is written whole by us: ConfigMaps, and the objects of the management cluster. */
/** Keeps a ticket's object until what it stands for is cleaned up. */
export const finalizer = 'fairlead.io/tickets';

export const fieldManager = 'fairlead-tickets';
