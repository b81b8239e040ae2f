// A Kubernetes client for Node and the browser. Knows nothing of load balancers.
export type * from './object.ts';
export type * from './kube.ts';
