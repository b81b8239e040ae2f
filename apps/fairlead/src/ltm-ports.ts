// The ports of F5 Ingresses for the first layer: what each ticket's Ingresses want to be served on, without those on their way out.
import { claimOf, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { compile } from '@fairlead/as3';
import type { Store } from '@fairlead/kube';
import { ingressSource } from '@fairlead/sources';
import { keepsClaim, partitionOf, placeOf } from '@fairlead/tickets';
import type { TargetCluster } from './target-cluster.ts';

export interface IngressPorts {
  /** Of a ticket, by `namespace/name`; undefined while nobody knows. */
  of(ticket: string): readonly number[] | undefined;
  /** Calls back with a ticket whose ports may be others; without one, any's may. Returns the way to stop. */
  listen(listener: (ticket?: string) => void): () => void;
  close(): void;
}

/** `target`: undefined while its cluster is not connected. */
export function ingressPorts(
  loadbalancer: Loadbalancer,
  lbtickets: Store<Lbticket>,
  target: TargetCluster | undefined,
): IngressPorts {
  if (!target) return { of: () => undefined, listen: () => () => undefined, close: () => undefined };
  const listeners = new Set<(ticket?: string) => void>();
  const { cluster, cis } = loadbalancer.spec;
  const source = ingressSource({
    cluster,
    loadbalancer: loadbalancer.metadata.name,
    stores: { ...target.stores, lbtickets },
    // What a CIS of somebody else's takes is its own business.
    accepts: cis.mode === 'external' ? undefined : compile,
    partition: (namespace) => partitionOf(loadbalancer, namespace),
    isLeaving(ingress) {
      const name = claimOf(ingress)?.ticket;
      const ticket = name === undefined ? undefined : lbtickets.get(placeOf(name));
      return !keepsClaim({ ingress, cluster, ticket, loadbalancer });
    },
    changed: (ticket) => listeners.forEach((listener) => listener(ticket)),
  });
  return {
    of: (ticket) => source.portsOf(ticket),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => source.close(),
  };
}
