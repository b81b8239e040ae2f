// Kubernetes objects → load balancers.
export type { Edit, Refusal, Source, Supply, Touch } from './source.ts';
export { secretsOf, type SecretOptions, type SecretPair, type Secrets } from './secrets.ts';
export { configmapSource, type ConfigMapOptions } from './configmap.ts';
export { annotations, type Decode, type ReadOptions, type Template } from './reading.ts';
export { endpointSliceIndexes, serviceIndexes, type EndpointStores } from './supply.ts';
export { membersAt, type PortMembers } from './endpoints.ts';
export { ingressSource, type IngressOptions, type IngressSource } from './ingress/source.ts';
export type { IngressGroup, IngressMember, Ports } from './ingress/asked.ts';
export { readOnce, type OnceAnswer, type OnceQuestion } from './ingress/once.ts';
export type { Front } from './ingress/front.ts';
export { together } from './together.ts';
