// The built-in kinds that Fairlead meets, each as the fields it reads or writes, and the constants that name them.
import type { Kind, KubeObject, ObjectMeta } from './object.ts';

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  observedGeneration?: number;
  /** RFC 3339. */
  lastTransitionTime?: string;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}

export interface Namespace extends KubeObject {
  status?: { phase?: 'Active' | 'Terminating' };
}

export interface ServicePort {
  name?: string;
  /** TCP when absent. */
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  appProtocol?: string;
  port: number;
  /** A number, or the name of a container's port. */
  targetPort?: number | string;
  nodePort?: number;
}

export interface Service extends KubeObject {
  spec: {
    type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
    selector?: Record<string, string>;
    ports?: ServicePort[];
    clusterIP?: string;
    clusterIPs?: string[];
    ipFamilies?: ('IPv4' | 'IPv6')[];
    externalTrafficPolicy?: 'Cluster' | 'Local';
    internalTrafficPolicy?: 'Cluster' | 'Local';
    loadBalancerClass?: string;
    loadBalancerIP?: string;
    loadBalancerSourceRanges?: string[];
    publishNotReadyAddresses?: boolean;
    sessionAffinity?: 'None' | 'ClientIP';
    sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  };
  status?: { loadBalancer?: LoadBalancerStatus; conditions?: Condition[] };
}

export interface LoadBalancerStatus {
  ingress?: { ip?: string; hostname?: string; ports?: { port: number; protocol: string; error?: string }[] }[];
}

export interface Endpoint {
  addresses: string[];
  /** Absent means unknown, which readers take as true for `ready` and `serving` and false for `terminating`. */
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  nodeName?: string;
  zone?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** Belongs to the Service named in the label `kubernetes.io/service-name`. */
export interface EndpointSlice extends KubeObject {
  addressType: 'IPv4' | 'IPv6' | 'FQDN';
  endpoints: Endpoint[];
  ports?: { name?: string; port?: number; protocol?: 'TCP' | 'UDP' | 'SCTP'; appProtocol?: string }[];
}

export interface Container {
  name: string;
  image?: string;
  ports?: { name?: string; containerPort: number; protocol?: 'TCP' | 'UDP' | 'SCTP' }[];
  env?: { name: string; value?: string }[];
  args?: string[];
  command?: string[];
}

export interface PodSpec {
  nodeName?: string;
  containers: Container[];
  readinessGates?: { conditionType: string }[];
  terminationGracePeriodSeconds?: number;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: {
    phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    podIP?: string;
    podIPs?: { ip: string }[];
    hostIP?: string;
    startTime?: string;
    conditions?: Condition[];
  };
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface Secret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  /** Plain; only written, never read back. */
  stringData?: Record<string, string>;
}

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

/** Core v1; the server shows the same object under events.k8s.io/v1 too. */
export interface Event extends KubeObject {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  /** One word, such as `Placed`. */
  reason: string;
  message: string;
  source?: { component?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  /** RFC 3339. */
  firstTimestamp?: string;
  lastTimestamp?: string;
  count?: number;
}

export interface Node extends KubeObject {
  spec?: { podCIDR?: string; podCIDRs?: string[]; providerID?: string; unschedulable?: boolean };
  status?: {
    addresses?: { type: 'InternalIP' | 'ExternalIP' | 'Hostname' | 'InternalDNS' | 'ExternalDNS'; address: string }[];
    conditions?: Condition[];
  };
}

export interface Deployment extends KubeObject {
  spec: {
    /** 1 when absent. */
    replicas?: number;
    selector: LabelSelector;
    template: { metadata?: Partial<ObjectMeta>; spec: PodSpec };
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    updatedReplicas?: number;
    conditions?: Condition[];
  };
}

export interface Lease extends KubeObject {
  spec?: {
    /** Empty or absent when nobody holds it. */
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds, by the holder's clock: compare for equality only. */
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface IngressBackend {
  service?: { name: string; port?: { number?: number; name?: string } };
}

export interface Ingress extends KubeObject {
  spec?: {
    ingressClassName?: string;
    defaultBackend?: IngressBackend;
    tls?: { hosts?: string[]; secretName?: string }[];
    rules?: {
      host?: string;
      http?: {
        paths: { path?: string; pathType: 'Exact' | 'Prefix' | 'ImplementationSpecific'; backend: IngressBackend }[];
      };
    }[];
  };
  status?: { loadBalancer?: LoadBalancerStatus };
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    names: { kind: string; plural: string; singular?: string; listKind?: string; shortNames?: string[] };
    scope: 'Namespaced' | 'Cluster';
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema?: { openAPIV3Schema?: Record<string, unknown> };
      subresources?: Record<string, unknown>;
      additionalPrinterColumns?: { name: string; type: string; jsonPath: string; priority?: number }[];
    }[];
  };
  status?: { conditions?: Condition[]; acceptedNames?: { kind?: string; plural?: string } };
}

const core = { group: '', version: 'v1', namespaced: true };

export const namespaces: Kind<Namespace> = { ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const services: Kind<Service> = { ...core, kind: 'Service', plural: 'services' };
export const pods: Kind<Pod> = { ...core, kind: 'Pod', plural: 'pods' };
export const configMaps: Kind<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps' };
export const secrets: Kind<Secret> = { ...core, kind: 'Secret', plural: 'secrets' };
export const events: Kind<Event> = { ...core, kind: 'Event', plural: 'events' };
export const nodes: Kind<Node> = { ...core, kind: 'Node', plural: 'nodes', namespaced: false };

export const endpointSlices: Kind<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};

export const deployments: Kind<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

export const leases: Kind<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

export const ingresses: Kind<Ingress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  namespaced: true,
};

export const customResourceDefinitions: Kind<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
