// Kubernetes objects for tests, short to write.
import type { ConfigMap, Endpoint, EndpointSlice, Namespace, Service, ServicePort } from '@fairlead/kube';

let revisions = 0;

/** A ConfigMap `shop/<name>` with `template`, labelled as CIS wants it. */
export function makeConfigMap(
  name: string,
  template: unknown,
  more: { annotations?: Record<string, string>; labels?: Record<string, string>; uid?: string } = {},
): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'shop',
      uid: more.uid ?? `uid-${name}`,
      resourceVersion: String(++revisions),
      creationTimestamp: '2024-01-01T00:00:00Z',
      labels: { f5type: 'virtual-server', as3: 'true', ...more.labels },
      annotations: { ...more.annotations },
    },
    data: { template: typeof template === 'string' ? template : JSON.stringify(template) },
  };
}

/** A template in the tests' own tongue: `tenant/application` → its pools and the ports they ask for. */
export type Told = Record<string, Record<string, number>>;

export const makeNamespace = (labels: Record<string, string> = {}): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels },
});

export function makeService(
  name: string,
  ports: ServicePort[],
  more: { labels?: Record<string, string>; created?: string; ipFamilies?: ('IPv4' | 'IPv6')[] } = {},
): Service {
  const { labels = {}, created = '2024-01-01T00:00:00Z', ipFamilies } = more;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, creationTimestamp: created, labels },
    spec: { ports, ...(ipFamilies && { ipFamilies }) },
  };
}

type SlicePorts = NonNullable<EndpointSlice['ports']>;

export function makeSlice(
  service: string,
  ports: SlicePorts,
  endpoints: Endpoint[],
  more: { name?: string; type?: EndpointSlice['addressType'] } = {},
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: more.name ?? `${service}-1`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: more.type ?? 'IPv4',
    ports,
    endpoints,
  };
}

/** An endpoint in a state of a pod's life. */
export const endpoint = (
  address: string,
  state: 'ready' | 'starting' | 'terminating' | 'ending' | 'unknown' = 'ready',
): Endpoint => ({
  addresses: [address],
  ...(state !== 'unknown' && {
    conditions: {
      ready: state === 'ready',
      serving: state === 'ready' || state === 'terminating',
      terminating: state === 'terminating' || state === 'ending',
    },
  }),
});
