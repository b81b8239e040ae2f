// Keys waiting for a turn. A key waits once, at its earliest time, and never has two turns at once;
// a failed turn comes again after a back-off that doubles. This is the one place where a bug in a turn is caught.
import type { Problem } from '../kube/client.ts';
import { namespaceTerminating } from '../kube/client.ts';
import type { Timer, Timers } from './timers.ts';

/**
 * What a turn wants next: nothing until a change, another turn after `ms`, or a retry because of a problem.
 * `rest`: no turn before so many ms have passed, change or not. A change after a rest is seen at once; a storm of
 * changes to a large object costs one turn for each rest rather than one for each change.
 */
export type Next = { after: 'change' | number; rest?: number } | { problem: Problem };

export interface QueueOptions {
  name: string;
  timers: Timers;
  turn(key: string): Promise<Next>;
  /** Turns at the same time, each of another key. */
  width?: number;
  log(line: string): void;
}

export type Queue = ReturnType<typeof queue>;

const firstRetry = 5;
const longestRetry = 30_000;

export function queue({ name, timers, turn, width = 8, log }: QueueOptions) {
  const ready = new Set<string>();
  const waiting = alarms(timers, (key) => add(key));
  const running = new Set<string>();
  const failures = new Map<string, number>();
  const restingUntil = new Map<string, number>();
  let isOpen = false;
  let closed = () => {};

  const retry = (key: string, { message, retryAfterMs = 0 }: Problem) => {
    const n = (failures.get(key) ?? 0) + 1;
    failures.set(key, n);
    // The first few are ordinary conflicts of versions; only what lasts is worth a line.
    if (n > 3) log(`${name} ${key}: ${message} (try ${n})`);
    waiting.set(key, Math.max(retryAfterMs, Math.min(longestRetry, firstRetry * 2 ** (n - 1))));
  };

  const run = async (key: string) => {
    const next = await turn(key).catch((error: unknown): Next => ({ problem: bug(error) }));
    running.delete(key);
    if (!isOpen && running.size === 0) closed();
    if ('problem' in next) {
      if (next.problem.reason === 'Bug') log(`${name} ${key}: ${next.problem.message}`);
      // A namespace on its way out takes no new objects: nothing is left to do there until something changes.
      if (next.problem.reason !== namespaceTerminating) retry(key, next.problem);
    } else {
      failures.delete(key);
      if (next.after !== 'change') waiting.set(key, next.after);
      if (next.rest) restingUntil.set(key, timers.now() + next.rest);
      if (ready.delete(key)) add(key);
    }
    pump();
  };

  const pump = () => {
    if (!isOpen) return;
    for (const key of ready) {
      if (running.size >= width) return;
      if (running.has(key)) continue;
      ready.delete(key);
      running.add(key);
      void run(key);
    }
  };

  const add = (key: string) => {
    const rest = (restingUntil.get(key) ?? 0) - timers.now();
    if (rest > 0) return waiting.set(key, rest);
    restingUntil.delete(key);
    waiting.cancel(key);
    ready.add(key);
    pump();
  };

  return {
    /** Ask for a turn as soon as there is room. */
    add,
    /** Turns begin; what was added before is kept until then. */
    open() {
      isOpen = true;
      pump();
    },
    /** No further turn begins; resolves when those under way have ended. */
    close(): Promise<void> {
      isOpen = false;
      waiting.cancelAll();
      return running.size === 0 ? Promise.resolve() : new Promise((done) => (closed = done));
    },
  };
}

function bug(error: unknown): Problem {
  return { status: 0, reason: 'Bug', message: `bug: ${error instanceof Error ? error.stack : String(error)}` };
}

/** Keys with a time to come; one time for each, the earliest asked for. */
function alarms(timers: Timers, ring: (key: string) => void) {
  const set = new Map<string, { timer: Timer; at: number }>();
  const cancel = (key: string) => {
    set.get(key)?.timer.cancel();
    set.delete(key);
  };
  return {
    set(key: string, ms: number) {
      const at = timers.now() + ms;
      const present = set.get(key);
      if (present && present.at <= at) return;
      present?.timer.cancel();
      const timer = timers.after(ms, () => {
        set.delete(key);
        ring(key);
      });
      set.set(key, { timer, at });
    },
    cancel,
    cancelAll() {
      for (const key of set.keys()) cancel(key);
    },
  };
}
