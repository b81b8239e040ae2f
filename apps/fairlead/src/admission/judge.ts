// Admission of our kinds, for whichever API server asks: the checks, against what there is now, then credentials into Secrets.
import {
  admission,
  checkAnswer,
  refused,
  lbcanaries,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
  type Review,
  type Verdict,
  type World,
} from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import { namespaces, type Kind, type Kube, type KubeObject, type LiveStore } from '@fairlead/kube';
import { reporters, type IsReporter } from './reporters.ts';
import { seal } from './seal.ts';
import type { Targets } from './targets.ts';

export interface Stores {
  loadbalancers: LiveStore<Loadbalancer>;
  lbtickets: LiveStore<Lbticket>;
  lbrules: LiveStore<Lbrule>;
  lbcanaries: LiveStore<Lbcanary>;
}

export interface JudgeParts {
  management: Kube;
  targets: Pick<Targets, 'hasNamespace' | 'ingresses'>;
  stores: Stores;
  /** Where credentials are kept. */
  namespace: string;
  clock: Clock;
}

/** What an API server asks. */
export interface Asked extends Review {
  dryRun?: boolean;
}

export type Judge = (asked: Asked) => Promise<Verdict>;

/**
 * A store may be some milliseconds behind, and "there is no such ticket" said of one that was just made is wrong. So what
 * the stores refuse is looked at once more with fresh lists, and only that refusal counts.
 */
export function judge(parts: JudgeParts): Judge {
  const quick = admission(async (review) => {
    const world = { ...worldOf(parts), namespaceEnds: () => isNamespaceController(review) };
    return (await around(review, world, parts)) ?? fresh(review);
  });
  const fresh = async (review: Review): Promise<World> => {
    const [lists, ends] = await Promise.all([freshWorld(parts), ending(review, parts)]);
    const world = { ...lists, namespaceEnds: () => ends };
    return (await around(review, world, parts)) ?? world;
  };
  const sure = admission(fresh);
  const isReporter = reporters(parts.management, parts.clock);
  return async (asked) => {
    const first = await quick(asked);
    const verdict = first.allowed ? first : await sure(asked);
    return seal(asked, verdict.allowed ? ((await ofStatus(asked, verdict, isReporter)) ?? verdict) : verdict, parts);
  };
}

/** The refusal of a status that is not the user's to write; undefined of any other write. */
async function ofStatus(
  { resource, subresource, object, oldObject, userInfo }: Asked,
  { object: completed = object }: Extract<Verdict, { allowed: true }>,
  isReporter: IsReporter,
): Promise<Verdict | undefined> {
  const isTicket = resource.group === lbtickets.group && resource.resource === lbtickets.plural;
  if (!isTicket || subresource !== 'status' || !oldObject) return undefined;
  const ticket = completed as Lbticket;
  const problems = checkAnswer(ticket, oldObject as Lbticket);
  if (problems.length === 0 || (await isReporter(userInfo))) return undefined;
  const { namespace, name } = ticket.metadata;
  return refused(lbtickets, `${namespace}/${name}`, problems);
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

const worldOf = ({ stores, targets }: JudgeParts): World => ({
  loadbalancers: () => stores.loadbalancers.all(),
  lbtickets: () => stores.lbtickets.all(),
  lbrules: () => stores.lbrules.all(),
  lbcanaries: () => stores.lbcanaries.all(),
  ingresses: targets.ingresses,
});

async function freshWorld({ management, targets }: JudgeParts): Promise<World> {
  const [balancers, tickets, rules, canaries] = await Promise.all([
    listOf<Loadbalancer>(management, loadbalancers),
    listOf<Lbticket>(management, lbtickets),
    listOf<Lbrule>(management, lbrules),
    listOf<Lbcanary>(management, lbcanaries),
  ]);
  return {
    loadbalancers: () => balancers,
    lbtickets: () => tickets,
    lbrules: () => rules,
    ingresses: targets.ingresses,
    lbcanaries: () => canaries,
  };
}

/** `world`, and in it the namespace that a ticket names; undefined when the ticket's load balancer is not in it. */
async function around(review: Review, world: World, { targets }: JudgeParts): Promise<World | undefined> {
  const { operation, resource, object } = review;
  const isTicket = resource.group === lbtickets.group && resource.resource === lbtickets.plural;
  // In the review of a removal there is none: null over the wire.
  if (!isTicket || operation === 'DELETE') return world;
  // No API server has looked at it yet: what is no text is refused by the checks.
  const { spec } = object as { spec?: { loadbalancer?: unknown; namespace?: unknown } };
  const [name, namespace] = [String(spec?.loadbalancer), String(spec?.namespace)];
  const cluster = [...world.loadbalancers()].find(({ metadata }) => metadata.name === name)?.spec.cluster;
  if (cluster === undefined) return undefined;
  const exists = await targets.hasNamespace(cluster, namespace);
  return { ...world, namespaceExists: () => exists };
}

/** Whose account empties deleted namespaces (kube-controller-manager, `--use-service-account-credentials`; our embedded server too). */
const isNamespaceController = ({ userInfo }: Review): boolean =>
  (userInfo as { username?: unknown } | undefined)?.username ===
  'system:serviceaccount:kube-system:namespace-controller';

/** Is what is removed in a namespace that is being deleted? It may be emptied by somebody else than its controller. */
async function ending(review: Review, { management }: JudgeParts): Promise<boolean> {
  const name = (review.oldObject as { metadata?: { namespace?: string } } | null | undefined)?.metadata?.namespace;
  if (review.operation !== 'DELETE' || name === undefined) return false;
  const got = await management.get(namespaces, { name });
  if (got.ok) return got.value.metadata.deletionTimestamp !== undefined;
  // Not there any more, or not for us to see, as before this was in our role: then the rules for removals hold.
  if (got.problem.status === 404 || got.problem.status === 403) return false;
  throw new Error(`admission cannot read namespace ${name}: ${got.problem.message}`);
}

/** The server that asks answers, or the write that waits for this fails with what it said. */
async function listOf<T extends KubeObject>(kube: Kube, kind: Kind<T>): Promise<T[]> {
  const got = await kube.list(kind);
  if (!got.ok) throw new Error(`admission cannot list ${kind.plural}: ${got.problem.message}`);
  return got.value.items;
}
