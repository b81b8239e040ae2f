// A Kubernetes client for Node and the browser. Knows nothing of load balancers.
export type * from './object.ts';
export type * from './kube.ts';
export type {
  Condition,
  ConfigMap,
  Container,
  CustomResourceDefinition,
  Deployment,
  Endpoint,
  EndpointSlice,
  Event,
  Ingress,
  IngressBackend,
  LabelSelector,
  Lease,
  LoadBalancerStatus,
  Namespace,
  Node,
  ObjectReference,
  Pod,
  PodSpec,
  Secret,
  Service,
  ServicePort,
} from './kinds.ts';
export {
  configMaps,
  customResourceDefinitions,
  deployments,
  endpointSlices,
  events,
  ingresses,
  leases,
  namespaces,
  nodes,
  pods,
  secrets,
  services,
} from './kinds.ts';
export type { Auth } from './call.ts';
export { kube, type KubeOptions } from './client.ts';
export type { Clock } from './clock.ts';
export { fetchSend, type Send, type SendRequest, type SendResponse } from './send.ts';
export { namedStore, type NamedStore, type Seen } from './named.ts';
export { type LiveStore, store, type StoreOptions } from './store.ts';
export { authOf, type CredentialParts, type Read, tlsOf } from './credentials.ts';
export type { Command, Run } from './exec-plugin.ts';
export { inCluster, type PodParts } from './in-cluster.ts';
export { type Kubeconfig, kubeconfig, type KubeContext, selfContained, type Tls } from './kubeconfig.ts';
export { lead, type Leader, type LeadOptions } from './lease.ts';
export { switched, type Switched, type SwitchedOptions } from './switched.ts';
export { recorder, type Recorder, type RecorderOptions, type Told } from './recorder.ts';
