// One turn for one scope: want, compile, read, settle, plan, guard, apply, report.
import { brake, isPlanEmpty, permit, plan } from '@fairlead/core';
import type { Brake, Item, Key, Member, Origin, Plan, Placed, Policy, Problem, Provider, Scope } from '@fairlead/core';
import type { Source } from '@fairlead/sources';
import { applyApart } from './apply.ts';
import { completed } from './certificates.ts';
import { heldIn } from './held.ts';
import type { Outcome } from './outcome.ts';
import { settleWishes, wishesIn, type Compile, type Wish } from './wishes.ts';

export interface TurnQuestion {
  owner: string;
  provider: Provider;
  sources: Iterable<Source>;
  /** Sources that were taken away: what they wanted is to go. */
  retired: Iterable<Source>;
  policy: Policy;
  /** Ask the place, too, whether it was changed behind our back in ways that reading does not show. */
  verify: boolean;
  brake: Brake;
  /** Milliseconds since the epoch. */
  now: number;
  compile: Compile;
  /** Who holds `claim` by what stands in another scope. */
  elsewhere(claim: string): string | undefined;
}

export interface TurnResult {
  outcomes: Outcome[];
  /** What is ours in the scope now; undefined when it could not be read. */
  ours?: Item<unknown>[] | undefined;
  /** Keys whose pools the place may have written anew. */
  written: ReadonlySet<Key>;
}

export async function reconcile(turn: TurnQuestion, scope: Scope, signal: AbortSignal): Promise<TurnResult> {
  const { owner, provider, sources, retired } = turn;
  const asked = wishesIn(scope, sources, turn.compile);
  const found = await provider.read(scope, signal);
  if (!found.ok) return { outcomes: asked.map((wish) => outcomeOf(wish, found.problem)), written: new Set() };

  const kept = heldIn(found.value, { wishes: asked, sources, retired, owner });
  const wishes = settleWishes({
    wishes: asked,
    found: found.value,
    owner,
    provider,
    held: kept,
    elsewhere: turn.elsewhere,
  });
  const held = heldIn(found.value, { wishes, sources, retired, owner });
  const sound = wishes.filter(({ problem }) => !problem);
  const question = { owner, provider, sources, found: found.value, now: turn.now, signal };
  const { wanted, problems } = await completed(sound, question);
  const answer = plan({ scope, owner, wanted, found: found.value, held });
  const permitted = permit(answer.plan, turn.policy);
  const braked = brake(permitted.plan, found.value, turn.brake);

  const todo = withMembers(await withDrift(turn, braked.plan, { found: found.value, signal }), wishes, sources);
  const { placed, standing } = isPlanEmpty(todo)
    ? { placed: new Map<Key, Placed>(), standing: found.value }
    : await applyApart(provider, todo, found.value, signal);

  const undone = new Map<Key, Problem>(answer.taken.map(({ item, by }) => [item.key, takenBy(by)]));
  for (const { item, why } of [...permitted.withheld, ...braked.withheld]) {
    undone.set(item.key, { code: 'withheld', message: why });
  }
  for (const { key, problem } of placed.values()) if (problem) undone.set(key, problem);
  const addresses = new Map(standing.map(({ key, address }) => [key, address]));
  const outcomes = wishes.map((wish) => ({
    ...outcomeOf(wish, undone.get(wish.lb.key), addresses.get(wish.lb.key)),
    ...(wish.problem ? {} : problems.get(wish.lb.key)),
  }));
  const ours = standing.filter((item) => item.owner === owner);
  return {
    outcomes: [...outcomes, ...removedOutcomes(answer.plan, undone, sources)],
    ours,
    written: keysWritten(todo),
  };
}

/** With nothing to do and a place that was changed behind our back: all of ours once more, which puts it right. */
async function withDrift(
  { provider, verify, policy }: TurnQuestion,
  plan: Plan<unknown>,
  { found, signal }: { found: readonly Item<unknown>[]; signal: AbortSignal },
): Promise<Plan<unknown>> {
  const ours = plan.after.filter(({ owner }) => owner === plan.owner);
  if (!verify || policy === 'dry-run' || !isPlanEmpty(plan) || ours.length === 0) return plan;
  const drifted = await provider.drifted?.(plan.scope, found, signal);
  // A place that cannot say now is asked again when it is time.
  return drifted?.ok && drifted.value ? { ...plan, update: ours.map((item) => ({ from: item, to: item })) } : plan;
}

const outcomeOf = ({ lb, problem }: Wish, undone: Problem | undefined, address?: string): Outcome => ({
  origin: lb.origin,
  key: lb.key,
  address,
  problem: problem ?? undone,
});

/** Of items that nobody wants any longer: they are gone, or why not. Without an object only the log can say it. */
function removedOutcomes(
  { remove }: Plan<unknown>,
  undone: ReadonlyMap<Key, Problem>,
  sources: Iterable<Source>,
): Outcome[] {
  const originOf = (asker = ''): Origin | undefined => {
    for (const source of sources) {
      const origin = source.origin(asker);
      if (origin) return origin;
    }
    return undefined;
  };
  return remove.map(({ key, asker }) => {
    const problem = undone.get(key);
    const subject = { origin: originOf(asker), asker, key };
    return problem ? { ...subject, problem } : { ...subject, gone: true };
  });
}

/** A failed write may have been a half one, so its keys count as well. */
const keysWritten = ({ create, update }: Plan<unknown>): Set<Key> =>
  new Set([...create.map(({ key }) => key), ...update.map(({ to }) => to.key)]);

const takenBy = (item: Item<unknown>): Problem => ({
  code: 'taken',
  message: item.owner === '' ? `${item.key} is there already, and not ours` : `${item.key} is held by ${item.owner}`,
});

/** What a new pool starts with. Members of pools that are there already are the member lane's. */
function withMembers(plan: Plan<unknown>, wishes: readonly Wish[], sources: Iterable<Source>): Plan<unknown> {
  const written = keysWritten(plan);
  const askers = new Map(wishes.filter(({ problem }) => !problem).map(({ lb, asker }) => [lb.key, asker]));
  const filled = new Map<Key, Map<string, readonly Member[]>>();
  for (const source of written.size > 0 ? sources : []) {
    for (const pool of source.pools(plan.scope)) {
      const asker = written.has(pool.key) ? askers.get(pool.key) : undefined;
      const members = asker === undefined ? undefined : source.supply(pool, asker)?.members;
      if (members) filled.set(pool.key, (filled.get(pool.key) ?? new Map()).set(pool.pool, members));
    }
  }
  const fill = (item: Item<unknown>): Item<unknown> => {
    const members = filled.get(item.key);
    return members && item.owner === plan.owner ? { ...item, members } : item;
  };
  return {
    ...plan,
    create: plan.create.map(fill),
    update: plan.update.map(({ from, to }) => ({ from, to: fill(to) })),
    after: plan.after.map(fill),
  };
}
