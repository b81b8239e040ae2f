// Keys waiting for a turn: each waits once, at its earliest time, and never has two turns at once.
import type { Clock } from '@fairlead/core';
import { line } from './line.ts';

/** Timers misbehave beyond some weeks, and a wait that long is a bug; so no key waits longer than this. Milliseconds. */
const longestWait = 3_600_000;
/** How long a key rests whose turn threw. Milliseconds. */
const restAfterBug = 10_000;

export interface QueueOptions<K> {
  /** Turns at once, of different keys. Default 1. */
  parallel?: number | undefined;
  /** Told of each turn when it ended: how long after its time it began, and how long it took, in milliseconds. */
  onTurn?: ((turn: TurnTaken<K>) => void) | undefined;
  /** A turn threw. That is a bug in the turn; its key gets another one later. Default: `run` rejects with it. */
  onBug?: ((error: unknown, key: K) => void) | undefined;
}

export interface TurnTaken<K> {
  key: K;
  late: number;
  took: number;
  isBug: boolean;
}

export type Turn<K> = (key: K, signal: AbortSignal) => Promise<void>;

export interface Queue<K> {
  /** Ask for a turn of `key` in `delay` ms. When it waits already, the earlier time counts. */
  add(key: K, delay?: number): void;
  /** `key` waits no longer. A turn under way goes on. */
  drop(key: K): void;
  /** Gives turns until `signal` aborts, and then waits for those under way. */
  run(turn: Turn<K>, signal: AbortSignal): Promise<void>;
  /** Keys that wait or have a turn. */
  readonly size: number;
  /** Milliseconds since the first key that waits could have had its turn; 0 when none is due. */
  readonly overdue: number;
}

/**
 * A queue of keys, not of events: all that happened to a key while it waited is one turn.
 *
 *            add                 time has come, a place is free
 *   (out) ----------> waiting ----------------------------------> turn ---> (out)
 *                      |  ^                                        | ^
 *              add earlier: moves up                   add: waits, | '- gets the next turn
 *                                                      while it runs
 */
export function queue<K>(clock: Clock, { parallel = 1, onBug, onTurn }: QueueOptions<K> = {}): Queue<K> {
  const waiting = line<K>();
  const running = new Set<K>();
  /** Only while `run` sleeps. */
  let wake: AbortController | undefined;
  // With a reason: without one, each abort makes an exception, stack and all, that nobody reads.
  const stir = (): void => wake?.abort(null);
  const add = (key: K, delay = 0): void => {
    if (waiting.put(key, clock.now() + Math.min(Math.max(delay, 0), longestWait))) stir();
  };

  const run = async (turn: Turn<K>, signal: AbortSignal): Promise<void> => {
    const open = new Set<Promise<void>>();
    const bugs: unknown[] = [];
    const start = async (key: K, due: number): Promise<void> => {
      const begun = clock.now();
      waiting.drop(key);
      running.add(key);
      const failure = await attempt(turn, key, signal);
      running.delete(key);
      waiting.free(key);
      onTurn?.({ key, late: begun - due, took: clock.now() - begun, isBug: failure !== undefined });
      if (failure && onBug) {
        onBug(failure.error, key);
        add(key, restAfterBug);
      } else if (failure) bugs.push(failure.error);
    };
    signal.addEventListener('abort', stir);
    while (!signal.aborted && bugs.length === 0) {
      const next = open.size < parallel ? waiting.first(running) : undefined;
      const wait = next ? next.at - clock.now() : longestWait;
      if (next && wait <= 0) {
        const ended = start(next.key, next.at).finally(() => {
          open.delete(ended);
          stir();
        });
        open.add(ended);
        continue;
      }
      wake = new AbortController();
      await clock.sleep(wait, wake.signal);
      wake = undefined;
    }
    signal.removeEventListener('abort', stir);
    await Promise.all(open);
    if (bugs.length > 0) throw bugs[0];
  };

  return {
    add,
    run,
    drop: (key) => waiting.drop(key),
    get size() {
      return waiting.size + running.size;
    },
    get overdue() {
      const first = waiting.first(running);
      return first ? Math.max(0, clock.now() - first.at) : 0;
    },
  };
}

/** What `turn` threw, if it did. The one place where bugs in turns are caught, so that the neighbours of a key go on. */
async function attempt<K>(turn: Turn<K>, key: K, signal: AbortSignal): Promise<{ error: unknown } | undefined> {
  try {
    await turn(key, signal);
    return undefined;
  } catch (error) {
    return { error };
  }
}
