// How the Ingresses of a ticket, and what comes of them, are called; and their load balancer put together. Pure.
import type { VipClaim } from '@fairlead/api';
import { askerOf, type LoadBalancer, type Origin, type Scope } from '@fairlead/core';
import type { KubeObject } from '@fairlead/kube';
import type { Use } from '../supply.ts';
import { merge, type Merged } from './group.ts';
import type { IngressReading } from './reading.ts';

export const balancerOf = (
  origin: Origin,
  at: { scope: Scope; key: string },
  { listeners, pools }: Merged,
): LoadBalancer => ({
  ...at,
  origin,
  listeners,
  pools: pools.map(({ pool }) => pool),
});

/** What one Ingress would be without its neighbours. */
export function aloneOf(
  cluster: string,
  { partition, ip, ticket }: Pick<VipClaim, 'partition' | 'ip' | 'ticket'>,
  reading: IngressReading,
): LoadBalancer {
  const members = [{ name: 'alone', created: 0, reading }];
  const origin = { cluster, kind: 'Ingress', namespace: '', name: '', uid: '', created: 0, revision: '' };
  const at = { scope: partition, key: keyOf(partition, ticket) };
  return balancerOf(origin, at, merge({ name: placeOf(ticket).name, address: ip, members }));
}

export function usesOf(
  origin: Origin,
  { scope, key }: { scope: Scope; key: string },
  { pools }: Merged,
): Map<string, Use> {
  const uses = pools.map(({ pool, portName }): [string, Use] => {
    const { namespace, name: service, port } = pool.service;
    const ref = { scope, key, pool: pool.name };
    return [
      pool.name,
      {
        ref,
        asker: askerOf(origin),
        namespace,
        service,
        labels: '',
        port,
        ...(portName !== undefined && { portName }),
      },
    ];
  });
  return new Map(uses);
}

export const serviceIn = ({ namespace, service }: Use): string => `${namespace}/${service}`;
export const idOf = ({ ref }: Use): string => `${ref.key} ${ref.pool}`;
export const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
export const createdAt = ({ metadata }: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
const letterFirst = (name: string): string => (/^[0-9]/.test(name) ? `n${name}` : name);

/** `cluster/namespace/fairlead-<loadbalancer>:<namespace>:<ticket>` → `<namespace>/<ticket>`. */
export const ticketIn = (asker: string): string => asker.split(':').slice(1).join('/');

export function placeOf(ticket: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = ticket.split('/');
  return { namespace, name };
}

/** Key of the load balancer: an application of its own for each ticket. */
export const keyOf = (partition: string, ticket: string): string =>
  `${partition}/${letterFirst(`${ticket.replace('/', '_')}_ingress_app`)}`;

/** No Kubernetes object can have this name, so it is nobody else's. */
export const groupName = (loadbalancer: string, ticket: string): string =>
  `fairlead-${loadbalancer}:${ticket.replace('/', ':')}`;
