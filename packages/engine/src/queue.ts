// Keys waiting for a turn: each waits once, at its earliest time, and never has two turns at once.
import type { Clock } from '@fairlead/core';
import { heap } from './heap.ts';

/** Timers misbehave beyond some weeks, and a wait that long is a bug; so no key waits longer than this. Milliseconds. */
const longestWait = 3_600_000;
/** How long a key rests whose turn threw. Milliseconds. */
const restAfterBug = 10_000;

export interface QueueOptions<K> {
  /** Turns at once, of different keys. Default 1. */
  parallel?: number | undefined;
  /** A turn threw. That is a bug in the turn; its key gets another one later. Default: rejects `run`. */
  onBug?: ((error: unknown, key: K) => void) | undefined;
}

export interface Queue<K> {
  /** Ask for a turn of `key` in `delay` ms. When it waits already, the earlier time counts. */
  add(key: K, delay?: number): void;
  /** `key` waits no longer. A turn under way goes on. */
  drop(key: K): void;
  /** Gives turns until `signal` aborts, and then waits for those under way. */
  run(turn: (key: K, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Keys that wait or have a turn. */
  readonly size: number;
}

/**
 * A queue of keys, not of events: what happened to a key while it waited is one turn.
 *
 *            add                 time has come, a place is free
 *   (out) ----------> waiting ----------------------------------> turn ---> (out)
 *                      |  ^                                        | ^
 *              add earlier: moves up                   add: waits, | '- gets the next turn
 *                                                      while it runs
 */
export function queue<K>(clock: Clock, { parallel = 1, onBug }: QueueOptions<K> = {}): Queue<K> {
  const due = new Map<K, number>();
  const byTime = (a: Waiting<K>, b: Waiting<K>): number => a.at - b.at || a.nth - b.nth;
  let order = heap(byTime);
  let nth = 0;
  const running = new Set<K>();
  let wake = new AbortController();
  const stir = (): void => {
    wake.abort();
    wake = new AbortController();
  };

  const put = (key: K, at: number): void => {
    due.set(key, at);
    order.push({ key, at, nth: nth++ });
    // Entries that were overtaken lie in the heap until their time; without this a busy queue would keep minutes of them.
    if (order.size > 64 + 4 * due.size) {
      order = heap(byTime);
      for (const [one, when] of due) order.push({ key: one, at: when, nth: nth++ });
    }
  };

  /** The earliest key that may have a turn. Entries that an earlier `add` or a `drop` overtook fall out here. */
  const first = (): Waiting<K> | undefined => {
    for (let next = order.peek(); next; next = order.peek()) {
      if (due.get(next.key) === next.at && !running.has(next.key)) return next;
      order.pop();
    }
    return undefined;
  };

  const add = (key: K, delay = 0): void => {
    const at = clock.now() + Math.min(Math.max(delay, 0), longestWait);
    if (at >= (due.get(key) ?? Infinity)) return;
    put(key, at);
    stir();
  };

  const run: Queue<K>['run'] = async (turn, signal) => {
    const open = new Set<Promise<void>>();
    let bug: { error: unknown } | undefined;
    const start = (key: K): void => {
      due.delete(key);
      running.add(key);
      const ended = settle(turn, key, signal)
        .then((failure) => {
          if (!failure) return;
          if (!onBug) bug ??= failure;
          else {
            onBug(failure.error, key);
            add(key, restAfterBug);
          }
        })
        .finally(() => {
          running.delete(key);
          open.delete(ended);
          const again = due.get(key);
          // Its entry fell out of the heap while the turn ran.
          if (again !== undefined) put(key, again);
          stir();
        });
      open.add(ended);
    };
    const stop = (): void => stir();
    signal.addEventListener('abort', stop);
    while (!signal.aborted && !bug) {
      const next = open.size < parallel ? first() : undefined;
      const wait = next ? next.at - clock.now() : longestWait;
      if (next && wait <= 0) {
        order.pop();
        start(next.key);
      } else await clock.sleep(wait, wake.signal);
    }
    signal.removeEventListener('abort', stop);
    await Promise.all(open);
    if (bug) throw bug.error;
  };

  return {
    add,
    drop: (key) => void due.delete(key),
    run,
    get size() {
      return due.size + running.size;
    },
  };
}

interface Waiting<K> {
  key: K;
  at: number;
  /** Of two keys due at the same time, the one that asked first has its turn first. */
  nth: number;
}

/** What `turn` threw, if it did. The one place where bugs in turns are caught: their key's neighbours go on. */
async function settle<K>(
  turn: (key: K, signal: AbortSignal) => Promise<void>,
  key: K,
  signal: AbortSignal,
): Promise<{ error: unknown } | undefined> {
  try {
    await turn(key, signal);
    return undefined;
  } catch (error) {
    return { error };
  }
}
