// The fast lane: a pool whose pods changed is written at once, whatever the structure of its scope is waiting for.
import { isMemberPlanEmpty, membersAfter, ok, planMembers, problems } from '@fairlead/core';
import type { Clock, Key, Member, MemberLane, Origin, PoolRef, Problem, Result, Scope } from '@fairlead/core';
import type { Supply } from '@fairlead/sources';
import { backoff } from './backoff.ts';
import { queue } from './queue.ts';

export interface MemberTurnOptions {
  clock: Clock;
  random: () => number;
  lane: MemberLane;
  /** What a pool wants, once its load balancer stands in the place and is ours; undefined before and after. */
  supply(pool: PoolRef): Supply | undefined;
  /** What is wrong with the pool now, each time that changes. */
  report(pool: PoolRef, origin: Origin, problem: Problem | undefined): void;
  /** The place has no such pool though its load balancer stands there. */
  lost(scope: Scope): void;
  onBug?: ((error: unknown, key: string) => void) | undefined;
  /** Told of each write that the place took. */
  onWritten?: ((written: MembersWritten) => void) | undefined;
  /** Milliseconds to wait for more changes of a pool. */
  debounce: number;
  /** Milliseconds after which what the place holds is read again: an operator may have changed it. */
  reread: number;
  /** Pools written at once. */
  parallel: number;
}

export interface MembersWritten {
  add: number;
  change: number;
  remove: number;
  /** Milliseconds from hearing of the change to the place's answer. */
  latency: number;
}

export interface MemberTurns {
  /** The wish for these pools may have changed. */
  touch(pools: Iterable<PoolRef>): void;
  /** A write of the whole scope begins; call what it returns when it ended, with the keys it wrote. */
  structure(scope: Scope): (written: ReadonlySet<Key>) => void;
  run(signal: AbortSignal): Promise<void>;
  /** Pools that are kept in step. */
  readonly size: number;
  /** Milliseconds since the first pool that waits could have had its turn. */
  readonly overdue: number;
}

/** One pool that is kept in step. */
interface Entry {
  ref: PoolRef;
  /** What the place holds, as read and then as written; undefined: read before the next write. */
  known: Member[] | undefined;
  /** Milliseconds since the epoch. */
  rereadAt: number;
  /** Number of the last write, and whether one is under way. */
  wrote: number;
  writing: boolean;
  /** Since when there is a change that is not written, as far as is known. Milliseconds since the epoch. */
  touched: number | undefined;
  said: string | undefined;
}

/**
 * The life of a pool in the lane:
 *
 *            touch, and its load balancer stands     read
 *   (none) ------------------------------------> unknown ------> known ---.
 *      ^                                            ^ ^            |  ^---' write what changed
 *      | not wanted, not standing                   | '------------'
 *      '--------------------------------------------+   a write failed, time is up, or a whole write of the
 *                                                       scope may have overtaken one of ours
 */
export function memberTurns(options: MemberTurnOptions): MemberTurns {
  const { clock, random, debounce } = options;
  const pools = register();
  const pauses = backoff<string>({ random, first: 100, most: 30_000 });
  const turns = queue<string>(clock, { parallel: options.parallel, onBug: options.onBug });
  const writes = { count: 0 };

  const touch = (refs: Iterable<PoolRef>): void => {
    for (const ref of refs) {
      pools.entryOf(ref).touched ??= clock.now();
      turns.add(poolId(ref), debounce);
    }
  };

  const structure = (scope: Scope) => {
    const before = writes.count;
    return (written: ReadonlySet<Key>): void => {
      for (const entry of pools.inScope(scope)) {
        // The whole write may carry members of before these were written, and so have undone them.
        const isOvertaken = entry.writing || entry.wrote > before || written.has(entry.ref.key);
        if (!isOvertaken) continue;
        entry.rereadAt = 0;
        turns.add(poolId(entry.ref));
      }
    };
  };

  const turn = async (id: string, signal: AbortSignal): Promise<void> => {
    const entry = pools.get(id);
    if (!entry) return;
    const supply = options.supply(entry.ref);
    if (!supply) {
      pools.forget(entry.ref);
      return pauses.reset(id);
    }
    const problem = await write(options, { entry, supply, writes }, signal);
    if (!problem) pauses.reset(id);
    say(options, { entry, supply }, problem ?? supply.problem);
    // While a store fills nothing is known, and nothing need be looked at: whatever fills it touches the pool.
    if (supply.members === undefined) return;
    turns.add(id, problem && problems[problem.code].retry ? pauses.next(id) : entry.rereadAt - clock.now());
  };

  return {
    touch,
    structure,
    run: (signal) => turns.run(turn, signal),
    get size() {
      return pools.size;
    },
    get overdue() {
      return turns.overdue;
    },
  };
}

/** The pools that are kept in step, by id and by scope. */
function register() {
  const byId = new Map<string, Entry>();
  const byScope = new Map<Scope, Map<string, Entry>>();
  return {
    get: (id: string): Entry | undefined => byId.get(id),
    inScope: (scope: Scope): Iterable<Entry> => byScope.get(scope)?.values() ?? [],
    get size() {
      return byId.size;
    },
    /** A new one when it is not kept yet. */
    entryOf(ref: PoolRef): Entry {
      const id = poolId(ref);
      const present = byId.get(id);
      if (present) return present;
      const entry = {
        ref,
        known: undefined,
        rereadAt: 0,
        wrote: 0,
        writing: false,
        touched: undefined,
        said: undefined,
      };
      byId.set(id, entry);
      byScope.set(ref.scope, (byScope.get(ref.scope) ?? new Map<string, Entry>()).set(id, entry));
      return entry;
    },
    forget(ref: PoolRef): void {
      const id = poolId(ref);
      byId.delete(id);
      byScope.get(ref.scope)?.delete(id);
      if (byScope.get(ref.scope)?.size === 0) byScope.delete(ref.scope);
    },
  };
}

interface Writing {
  entry: Entry;
  supply: Supply;
  writes: { count: number };
}

/** Brings the pool to what is wanted; reads it first when what it holds is not known for sure. */
async function write(
  options: MemberTurnOptions,
  { entry, supply, writes }: Writing,
  signal: AbortSignal,
): Promise<Problem | undefined> {
  const { lane } = options;
  if (!supply.members) return undefined;
  const read = await known(options, entry, signal);
  if (!read.ok) return read.problem;
  if (!read.value) return void options.lost(entry.ref.scope);

  const plan = planMembers(supply.members, read.value);
  const { touched = options.clock.now() } = entry;
  entry.touched = undefined;
  if (isMemberPlanEmpty(plan)) return undefined;
  entry.writing = true;
  const written = await lane.write(entry.ref, plan, signal).finally(() => (entry.writing = false));
  entry.wrote = ++writes.count;
  entry.known = written.ok ? membersAfter(plan, read.value) : undefined;
  if (written.ok) {
    const { add, change, remove } = plan;
    const latency = options.clock.now() - touched;
    return void options.onWritten?.({ add: add.length, change: change.length, remove: remove.length, latency });
  }
  entry.touched ??= touched;
  // A pool that vanished is structure to be put back, not a failure of this write.
  return written.problem.code === 'missing' ? void options.lost(entry.ref.scope) : written.problem;
}

async function known(
  options: MemberTurnOptions,
  entry: Entry,
  signal: AbortSignal,
): Promise<Result<Member[] | undefined>> {
  const { clock, random, reread, lane } = options;
  if (entry.known && clock.now() < entry.rereadAt) return ok(entry.known);
  // Set before the read, so that a whole write that ends meanwhile can still ask for another.
  entry.rereadAt = clock.now() + reread * (0.75 + random() / 2);
  const found = await lane.read(entry.ref, signal);
  entry.known = found.ok ? found.value : undefined;
  return found;
}

function say(
  options: MemberTurnOptions,
  { entry, supply }: Pick<Writing, 'entry' | 'supply'>,
  problem?: Problem,
): void {
  // An edit of the object starts its report anew, so a problem that stays is said again.
  const said = problem && `${supply.origin.revision} ${problem.code}: ${problem.message}`;
  if (said === entry.said) return;
  entry.said = said;
  options.report(entry.ref, supply.origin, problem);
}

const poolId = ({ scope, key, pool }: PoolRef): string => `${scope} ${key} ${pool}`;
