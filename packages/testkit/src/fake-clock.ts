// Time that moves only when told, so that tests of waits take no time and never race.
import type { Clock } from '@fairlead/core';

export interface FakeClock extends Clock {
  /**
   * Moves time by `ms`. Wakes each sleeper at its own moment, earliest first, and lets what it set off come to rest
   * before the next step; `advance(0)` only lets things come to rest. Settles promises and `setImmediate`; real
   * sockets and files are not waited for.
   */
  advance(ms: number): Promise<void>;
  /** How many sleeps wait now: a test that ends with more than it began with has left a loop running. */
  readonly sleeping: number;
}

interface Sleeper {
  at: number;
  wake(): void;
}

// Enough for a chain of streams and promises as long as a request through the embedded API server.
const rounds = 8;
// A loop that sleeps for nothing would keep `advance` busy for ever; no honest test wakes this often in one step.
const mostWakes = 100_000;

/** `start`: milliseconds since the epoch. */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  let advancing = false;
  const sleepers = new Set<Sleeper>();

  const advance = async (ms: number) => {
    const end = now + ms;
    await settle();
    for (let wakes = 0; ; wakes++) {
      const next = earliest(sleepers);
      if (!next || next.at > end) break;
      if (wakes > mostWakes) throw new Error(`bug: more than ${mostWakes} sleeps ended before ${end}`);
      now = Math.max(now, next.at);
      next.wake();
      await settle();
    }
    now = end;
  };

  return {
    now: () => now,
    sleep(ms, signal) {
      if (Number.isNaN(ms)) throw new Error('bug: sleep was asked for NaN ms');
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = { at: now + Math.max(0, ms), wake };
        function wake() {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      });
    },
    async advance(ms) {
      if (advancing) throw new Error('bug: advance was called before the last one had ended');
      advancing = true;
      await advance(ms).finally(() => (advancing = false));
    },
    get sleeping() {
      return sleepers.size;
    },
  };
}

/** The first of those that wake soonest; sleepers of one moment wake in the order they lay down. */
function earliest(sleepers: Iterable<Sleeper>): Sleeper | undefined {
  let first: Sleeper | undefined;
  for (const sleeper of sleepers) if (!first || sleeper.at < first.at) first = sleeper;
  return first;
}

async function settle(): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise<void>((done) => setImmediate(done));
}
