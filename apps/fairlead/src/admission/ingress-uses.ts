// The F5 Ingresses of the target clusters, for the checks of tickets: which ticket, and which Services, each uses.
import { ingressUse, type IngressUse } from '@fairlead/api';
import { ingresses, store, type Kube } from '@fairlead/kube';

export interface IngressUses {
  /** Of the clusters that have answered so far. */
  all(): IngressUse[];
  /** Follows the clusters until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function ingressUses(clusters: ReadonlyMap<string, Kube>): IngressUses {
  const stores = [...clusters].map(([name, kube]) => ({ name, ingresses: store(kube, ingresses) }));
  return {
    all: () => stores.flatMap((one) => [...one.ingresses.all()].flatMap((found) => ingressUse(one.name, found) ?? [])),
    run: async (signal) => void (await Promise.all(stores.map((one) => one.ingresses.run(signal)))),
  };
}
