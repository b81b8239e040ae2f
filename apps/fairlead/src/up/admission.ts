// Admission of our kinds by the embedded management server. It looks at stores that can be filled only once that server is up.
import {
  admission,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
  type World,
} from '@fairlead/api';
import type { Admit } from '@fairlead/apiserver';
import { namespaces, type Kind, type Kube, type KubeObject } from '@fairlead/kube';
import type { Stores } from './environment.ts';

export interface AdmissionParts {
  management: Kube;
  clusters: ReadonlyMap<string, Kube>;
  stores: Stores;
}

export interface LateAdmission {
  admit: Admit;
  open(parts: AdmissionParts): void;
}

/**
 * A store may be some milliseconds behind, and "there is no such ticket" said of one that was just made is wrong. So what
 * the stores refuse is looked at once more with fresh lists, and only that refusal counts.
 */
export function lateAdmission(): LateAdmission {
  let parts: AdmissionParts | undefined;
  const quick = admission(() => (parts ? worldOf(parts.stores) : emptyWorld));
  const sure = admission(async () => (parts ? freshWorld(parts) : emptyWorld));
  return {
    admit: async (review) => {
      const verdict = await quick(review);
      return verdict.allowed ? verdict : sure(review);
    },
    open: (opened) => (parts = opened),
  };
}

const emptyWorld: World = { loadbalancers: () => [], lbtickets: () => [], lbrules: () => [] };

const worldOf = (stores: Stores): World => ({
  loadbalancers: () => stores.loadbalancers.all(),
  lbtickets: () => stores.lbtickets.all(),
  lbrules: () => stores.lbrules.all(),
});

async function freshWorld({ management, clusters }: AdmissionParts): Promise<World> {
  const [balancers, tickets, rules] = await Promise.all([
    listOf<Loadbalancer>(management, loadbalancers),
    listOf<Lbticket>(management, lbtickets),
    listOf<Lbrule>(management, lbrules),
  ]);
  const known = new Map<string, Set<string>>();
  for (const [name, kube] of clusters) {
    const got = await kube.list(namespaces);
    // A cluster that cannot be asked is no reason to refuse: the ticket says so later.
    if (got.ok) known.set(name, new Set(got.value.items.map((one) => one.metadata.name)));
  }
  return {
    loadbalancers: () => balancers,
    lbtickets: () => tickets,
    lbrules: () => rules,
    namespaceExists: (cluster, namespace) => known.get(cluster)?.has(namespace),
  };
}

/** Our own server answers, or the write that waits for this fails with what it said. */
async function listOf<T extends KubeObject>(kube: Kube, kind: Kind<T>): Promise<T[]> {
  const got = await kube.list(kind);
  if (!got.ok) throw new Error(`admission cannot list ${kind.plural}: ${got.problem.message}`);
  return got.value.items;
}
