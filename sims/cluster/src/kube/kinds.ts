// Which kinds the simulator talks about, and where each lives in the API.
import type * as o from './objects.ts';

/** One kind of object: how it is called in bodies and in paths. `of` is never set; it carries the type. */
export interface Kind<T extends o.KubeObject = o.KubeObject> {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly of?: T;
  /** Lists and watches ask for metadata only. */
  readonly isPartial?: boolean;
}

function kind<T extends o.KubeObject>(apiVersion: string, name: string, plural: string, namespaced = true): Kind<T> {
  return { kind: name, apiVersion, plural, namespaced };
}

export const kinds = {
  pod: kind<o.Pod>('v1', 'Pod', 'pods'),
  service: kind<o.Service>('v1', 'Service', 'services'),
  endpoints: kind<o.Endpoints>('v1', 'Endpoints', 'endpoints'),
  node: kind<o.Node>('v1', 'Node', 'nodes', false),
  namespace: kind<o.Namespace>('v1', 'Namespace', 'namespaces', false),
  serviceAccount: kind<o.ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts'),
  event: kind<o.KubeEvent>('v1', 'Event', 'events'),
  deployment: kind<o.Deployment>('apps/v1', 'Deployment', 'deployments'),
  replicaSet: kind<o.ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets'),
  statefulSet: kind<o.StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets'),
  daemonSet: kind<o.DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets'),
  controllerRevision: kind<o.ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions'),
  endpointSlice: kind<o.EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  podDisruptionBudget: kind<o.PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  lease: kind<o.Lease>('coordination.k8s.io/v1', 'Lease', 'leases'),
} as const;

/** Where an object is: its namespace (none for cluster-wide kinds) and its name. */
export interface Place {
  namespace?: string | undefined;
  name: string;
}

/** The path of a kind's collection, or of one object and its subresource. */
export function pathOf(kind: Kind, place?: Partial<Place>, subresource?: string): string {
  const root = kind.apiVersion.includes('/') ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
  const scope = kind.namespaced && place?.namespace ? `/namespaces/${place.namespace}` : '';
  const name = place?.name ? `/${place.name}` : '';
  return `${root}${scope}/${kind.plural}${name}${subresource ? `/${subresource}` : ''}`;
}

/** The key objects are stored and queued under: `namespace/name`, or `name` for cluster-wide kinds. */
export function keyOf(object: o.KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}
