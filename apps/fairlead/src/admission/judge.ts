// Admission of our kinds, for whichever API server asks: the checks, against what there is now, then credentials into Secrets.
import {
  admission,
  lbcanaries,
  lbrules,
  lbtickets,
  loadbalancers,
  type IngressUse,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
  type Review,
  type Verdict,
  type World,
} from '@fairlead/api';
import { namespaces, type Kind, type Kube, type KubeObject, type LiveStore } from '@fairlead/kube';
import { seal } from './seal.ts';

export interface Stores {
  loadbalancers: LiveStore<Loadbalancer>;
  lbtickets: LiveStore<Lbticket>;
  lbrules: LiveStore<Lbrule>;
  lbcanaries: LiveStore<Lbcanary>;
}

export interface JudgeParts {
  management: Kube;
  /** Target clusters by name. */
  clusters: ReadonlyMap<string, Kube>;
  stores: Stores;
  /** F5 Ingresses of the target clusters. */
  ingresses: () => IngressUse[];
  /** Where credentials are kept. */
  namespace: string;
}

/** What an API server asks. */
export interface Asked extends Review {
  subresource?: string;
  dryRun?: boolean;
}

export type Judge = (asked: Asked) => Promise<Verdict>;

/**
 * A store may be some milliseconds behind, and "there is no such ticket" said of one that was just made is wrong. So what
 * the stores refuse is looked at once more with fresh lists, and only that refusal counts.
 */
export function judge(parts: JudgeParts): Judge {
  const quick = admission(worldOf(parts));
  const sure = admission(() => freshWorld(parts));
  return async (asked) => {
    const first = await quick(asked);
    return seal(asked, first.allowed ? first : await sure(asked), parts);
  };
}

export interface LateJudge {
  judge: Judge;
  open(parts: JudgeParts): void;
}

/** For a server that is up before the stores that admission looks at can be filled: until then there is nothing. */
export function lateJudge(): LateJudge {
  let opened: Judge | undefined;
  const nothing = admission({ loadbalancers: () => [], lbtickets: () => [], lbrules: () => [] });
  return {
    judge: (asked) => (opened ?? nothing)(asked),
    open: (parts) => (opened = judge(parts)),
  };
}

const worldOf = ({ stores, ingresses }: JudgeParts): World => ({
  loadbalancers: () => stores.loadbalancers.all(),
  lbtickets: () => stores.lbtickets.all(),
  lbrules: () => stores.lbrules.all(),
  lbcanaries: () => stores.lbcanaries.all(),
  ingresses,
});

async function freshWorld({ management, clusters, ingresses }: JudgeParts): Promise<World> {
  const [balancers, tickets, rules, canaries] = await Promise.all([
    listOf<Loadbalancer>(management, loadbalancers),
    listOf<Lbticket>(management, lbtickets),
    listOf<Lbrule>(management, lbrules),
    listOf<Lbcanary>(management, lbcanaries),
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
    ingresses,
    lbcanaries: () => canaries,
    namespaceExists: (cluster, namespace) => known.get(cluster)?.has(namespace),
  };
}

/** The server that asks answers, or the write that waits for this fails with what it said. */
async function listOf<T extends KubeObject>(kube: Kube, kind: Kind<T>): Promise<T[]> {
  const got = await kube.list(kind);
  if (!got.ok) throw new Error(`admission cannot list ${kind.plural}: ${got.problem.message}`);
  return got.value.items;
}
