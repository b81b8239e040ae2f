// From a change in what is wanted to turns for what it touches. One engine for one place.
import { askerOf } from '@fairlead/core';
import type { Brake, Clock, Item, Origin, Policy, Problem, PoolRef, Provider, Scope } from '@fairlead/core';
import type { Source, Supply, Touch } from '@fairlead/sources';
import { backoff, type Backoff } from './backoff.ts';
import { ledger, type Ledger } from './ledger.ts';
import { memberTurns, type MembersWritten, type MemberTurns } from './member-turns.ts';
import { mayCure, type Outcome } from './outcome.ts';
import { queue, type Queue } from './queue.ts';
import { reconcile, type TurnResult } from './reconcile.ts';
import { compiler, type Compile } from './wishes.ts';

export interface EngineOptions {
  clock: Clock;
  /** 0 to 1. */
  random: () => number;
  /** Who we are: the mark on what we put in the place. */
  owner: string;
  provider: Provider;
  /** What came of it. Must not wait: writing it down elsewhere is a work of its own. */
  report(outcomes: Outcome[]): void;
  /** A line for the log, for what no object can be told. */
  log?: ((line: string) => void) | undefined;
  /** Told of each turn of a scope when it ended. */
  onTurn?: ((turn: ScopeTurn) => void) | undefined;
  /** Told of each write of members: how many, and milliseconds from hearing of the change to the place's answer. */
  onMembers?: ((written: MembersWritten) => void) | undefined;
  /** A bug: something threw. Default: `start` rejects with it. */
  onBug?: ((error: unknown, where: string) => void) | undefined;
  sources?: Iterable<Source> | undefined;
  policy?: Policy | undefined;
  brake?: Brake | undefined;
  /** Milliseconds to wait for more changes: of a scope (default 100), and of a pool's members (default 5). */
  debounce?: { scope?: number | undefined; members?: number | undefined } | undefined;
  /** Milliseconds between looks at the place with nothing changed here, so that changes there are seen. Default 5 min. */
  resync?: number | undefined;
  /** Milliseconds between checks of what reading the place does not show; such a check may cost it a lot. Default 30 min. */
  verify?: number | undefined;
  /** Turns at once: of scopes (default 4), and of pools (default 8). */
  parallel?: { scopes?: number | undefined; pools?: number | undefined } | undefined;
}

/** How a turn of a scope went. */
export interface ScopeTurn {
  scope: Scope;
  /** `again`: it failed, and time may cure that. `refused`: it failed, and only an edit will. */
  result: 'done' | 'again' | 'refused';
  /** Load balancers written, those removed included. */
  changed: number;
  /** Milliseconds. */
  took: number;
}

export interface Engine {
  /** Works until `signal` aborts. What no source ever answered for is left alone, so sources may come at any time. */
  start(signal: AbortSignal): Promise<void>;
  add(source: Source): void;
  /** What it wanted is wanted no longer, and goes. To stop without that, abort `start`. */
  remove(source: Source): void;
  /** Turns for everything now. */
  resync(): void;
  /** Lets the next turn of `scope` remove what the brake held back. */
  release(scope: Scope): void;
  /** Work that waits or is under way: scopes, and pools. */
  readonly load: { scopes: number; pools: number };
  /** Milliseconds since the first scope, and the first pool, that waits could have had its turn. */
  readonly overdue: { scopes: number; pools: number };
}

const brakeUnlessSet: Brake = { share: 0.5, spare: 10 };

export const engine = (options: EngineOptions): Engine => new PlaceEngine(options);

/**
 *   sources --touch--> scopes waiting --turn--> reconcile --> report
 *              |                                    | what stands now
 *              |                                    v
 *              '-----> pools waiting ---turn--> member lane
 */
class PlaceEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #sources = new Map<Source, () => void>();
  readonly #retired = new Set<Source>();
  readonly #swept = new Set<Source>();
  readonly #ledger: Ledger;
  readonly #compile: Compile;
  readonly #scopes: Queue<Scope>;
  readonly #sweeps: Queue<'sweep'>;
  readonly #pauses: Backoff<Scope>;
  readonly #sweepPauses: Backoff<'sweep'>;
  readonly #members: MemberTurns | undefined;
  /** Scopes that lost a claim, and look again when one comes free elsewhere. */
  readonly #losers = new Set<Scope>();
  readonly #released = new Set<Scope>();
  /** Milliseconds since the epoch. */
  readonly #verifyAt = new Map<Scope, number>();
  /** By asker, the edits that wait for a turn in some scope. */
  readonly #unsettled = new Map<string, Unsettled>();

  constructor(options: EngineOptions) {
    const { clock, random, onBug } = options;
    this.#options = options;
    this.#ledger = ledger(options.provider);
    this.#compile = compiler(options.provider);
    this.#pauses = backoff<Scope>({ random });
    this.#sweepPauses = backoff<'sweep'>({ random });
    this.#scopes = queue<Scope>(clock, { parallel: options.parallel?.scopes ?? 4, onBug });
    this.#sweeps = queue<'sweep'>(clock, { onBug });
    this.#members = this.#memberTurns();
    for (const source of options.sources ?? []) this.add(source);
  }

  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#scopes.run((scope, stop) => this.#turn(scope, stop), signal),
      this.#sweeps.run((_, stop) => this.#sweep(stop), signal),
      this.#members?.run(signal),
    ]);
  }

  add(source: Source): void {
    if (this.#sources.has(source)) return;
    this.#retired.delete(source);
    this.#sources.set(
      source,
      source.listen((touch) => this.#look(source, touch)),
    );
    this.#look(source, everythingIn(source));
  }

  remove(source: Source): void {
    const { scopes, pools } = everythingIn(source);
    this.#sources.get(source)?.();
    this.#sources.delete(source);
    this.#swept.delete(source);
    // One name, one retired source: a Loadbalancer that comes and goes leaves no trail.
    for (const old of this.#retired) if (old.name === source.name) this.#retired.delete(old);
    this.#retired.add(source);
    for (const scope of scopes) this.#scopes.add(scope, this.#scopeDebounce);
    this.#members?.touch(pools);
  }

  resync(): void {
    for (const source of this.#sources.keys()) this.#look(source, everythingIn(source));
    if (this.#sources.size > 0) this.#sweeps.add('sweep');
  }

  release(scope: Scope): void {
    this.#released.add(scope);
    this.#scopes.add(scope);
  }

  get load(): { scopes: number; pools: number } {
    return { scopes: this.#scopes.size, pools: this.#members?.size ?? 0 };
  }

  get overdue(): { scopes: number; pools: number } {
    return { scopes: this.#scopes.overdue, pools: this.#members?.overdue ?? 0 };
  }

  get #scopeDebounce(): number {
    return this.#options.debounce?.scope ?? 100;
  }

  /** A source that is not full is not looked at: it tells everything once it is. */
  #look(source: Source, { scopes, pools, edits }: Touch): void {
    if (!source.synced) return;
    if (!this.#swept.has(source)) this.#sweeps.add('sweep', this.#scopeDebounce);
    this.#swept.add(source);
    for (const scope of scopes) this.#scopes.add(scope, this.#scopeDebounce);
    this.#members?.touch(pools);
    for (const edit of edits)
      this.#unsettled.set(askerOf(edit.origin), { origin: edit.origin, scopes: new Set(edit.scopes) });
    if (edits.length > 0) this.#reportRefusals(source, edits);
  }

  #reportRefusals(source: Source, edits: Touch['edits']): void {
    this.#options.report(edits.flatMap(({ origin }) => [...source.refusals(askerOf(origin))]));
  }

  /** Milliseconds to the next look at the place with nothing changed here; spread, so that scopes do not march in step. */
  #spread(): number {
    return (this.#options.resync ?? 300_000) * (0.75 + this.#options.random() / 2);
  }

  /** Each scope in its own time, the first a while after the start: a device that comes up has better things to do. */
  #isVerifyDue(scope: Scope): boolean {
    const { clock, random, verify = 1_800_000 } = this.#options;
    const due = this.#verifyAt.get(scope);
    if (due !== undefined && clock.now() < due) return false;
    this.#verifyAt.set(scope, clock.now() + verify * (0.75 + random() / 2));
    return due !== undefined;
  }

  #reportPool({ key, pool }: PoolRef, origin: Origin, problem: Problem | undefined): void {
    this.#options.report([{ origin, key, pool, problem }]);
  }

  async #turn(scope: Scope, signal: AbortSignal): Promise<void> {
    const { clock, owner, provider, policy = 'sync', brake = brakeUnlessSet } = this.#options;
    // An edit that comes while the turn runs is not settled by it.
    const edits = [...this.#unsettled.values()].filter(({ scopes }) => scopes.has(scope));
    const isReleased = this.#released.delete(scope);
    const written = this.#members?.structure(scope);
    const sources = [...this.#sources.keys()];
    const limit = isReleased ? { share: 1, spare: Infinity } : brake;
    const elsewhere = (claim: string): string | undefined => this.#ledger.elsewhere(scope, claim);
    const retired = [...this.#retired];
    const verify = this.#isVerifyDue(scope);
    const now = clock.now();
    const compile = this.#compile;
    const turn = { owner, provider, sources, retired, policy, verify, brake: limit, compile, elsewhere, now };
    const result = await reconcile(turn, scope, signal);
    // What was cut short says nothing about the place.
    if (signal.aborted) return;
    this.#options.onTurn?.(turnOf(scope, result, clock.now() - now));

    if (result.ours) this.#enter(scope, result.ours);
    written?.(result.written);
    this.#tell(scope, [...result.outcomes, ...(result.ours ? this.#settled(scope, edits) : [])]);
    if (mayCure(result.outcomes) || !result.ours) this.#scopes.add(scope, this.#pauses.next(scope));
    else {
      this.#pauses.reset(scope);
      if (this.#ledger.has(scope) || result.outcomes.length > 0) this.#scopes.add(scope, this.#spread());
      else this.#verifyAt.delete(scope);
    }
  }

  #enter(scope: Scope, ours: readonly Item<unknown>[]): void {
    const { changed, freed } = this.#ledger.enter(scope, ours);
    if (freed) for (const loser of this.#losers) this.#scopes.add(loser, this.#scopeDebounce);
    for (const source of changed.size > 0 ? this.#sources.keys() : []) {
      this.#members?.touch(source.pools(scope).filter(({ key }) => changed.has(key)));
    }
  }

  /** The edits that have had their turn in each of their scopes now. */
  #settled(scope: Scope, edits: readonly Unsettled[]): Outcome[] {
    return edits.flatMap((edit) => {
      edit.scopes.delete(scope);
      const asker = askerOf(edit.origin);
      if (edit.scopes.size > 0 || this.#unsettled.get(asker) !== edit) return [];
      this.#unsettled.delete(asker);
      const refusals = [...this.#sources.keys()].flatMap((source) => [...source.refusals(asker)]);
      return [{ origin: edit.origin, problem: refusals.find(({ key }) => key === undefined)?.problem }];
    });
  }

  #tell(scope: Scope, outcomes: Outcome[]): void {
    if (outcomes.some(({ problem }) => problem?.code === 'taken')) this.#losers.add(scope);
    else this.#losers.delete(scope);
    this.#options.report(outcomes);
    for (const { origin, key, problem } of outcomes) {
      if (!origin && problem) this.#options.log?.(`${key}: ${problem.code}: ${problem.message}`);
    }
  }

  /** Scopes with our mark get a turn, so that what was orphaned while nobody looked goes away. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const owned = await this.#options.provider.owned(this.#options.owner, signal);
    if (owned.ok) {
      this.#sweepPauses.reset('sweep');
      for (const scope of owned.value) this.#scopes.add(scope);
    } else if (!signal.aborted) {
      this.#options.log?.(`sweep: ${owned.problem.code}: ${owned.problem.message}`);
      this.#sweeps.add('sweep', this.#sweepPauses.next('sweep'));
    }
  }

  #memberTurns(): MemberTurns | undefined {
    const { clock, random, provider, policy, debounce, parallel, onBug, onMembers, resync = 300_000 } = this.#options;
    if (!provider.members || policy === 'dry-run') return undefined;
    return memberTurns({
      clock,
      random,
      lane: provider.members,
      supply: (pool) => this.#supply(pool),
      report: (pool, origin, problem) => this.#reportPool(pool, origin, problem),
      lost: (scope) => this.#scopes.add(scope, this.#scopeDebounce),
      onBug,
      onWritten: onMembers,
      debounce: debounce?.members ?? 5,
      reread: resync,
      parallel: parallel?.pools ?? 8,
    });
  }

  /** Of those that want `pool`, only the one whose load balancer stands is heard. */
  #supply(pool: PoolRef): Supply | undefined {
    const asker = this.#ledger.asker(pool.scope, pool.key);
    if (asker === undefined) return undefined;
    for (const source of this.#sources.keys()) {
      const supply = source.supply(pool, asker);
      if (supply) return supply;
    }
    return undefined;
  }
}

function turnOf(scope: Scope, { outcomes, ours, written }: TurnResult, took: number): ScopeTurn {
  const isAgain = ours === undefined || mayCure(outcomes);
  const result = isAgain ? 'again' : outcomes.some(({ problem }) => problem) ? 'refused' : 'done';
  return { scope, result, changed: written.size + outcomes.filter(({ gone }) => gone).length, took };
}

interface Unsettled {
  origin: Origin;
  scopes: Set<Scope>;
}

const everythingIn = (source: Source): Touch => {
  const scopes = [...source.scopes()];
  return { scopes, pools: scopes.flatMap((scope) => source.pools(scope)), edits: [...source.edits()] };
};
