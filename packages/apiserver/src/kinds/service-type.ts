// What a service has by its type: decided here once, for its defaults, its rules and its addresses.
import { listOf, type Tree } from '../object.ts';

/** Whether traffic from outside the cluster reaches it. */
export const isExposed = (spec: Tree): boolean => hasNodePorts(spec) || listOf(spec.externalIPs).length > 0;

/** Whether a port of every node leads to it. */
export const hasNodePorts = (spec: Tree): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';

/** Whether a load balancer asks each node if it has an endpoint of its own, at a port held for that. */
export const isHealthChecked = (spec: Tree): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
