// Ends an exchange in which nothing was heard for too long: a half-open connection looks just like a quiet one.
import type { Clock } from './clock.ts';

export interface IdleGuard {
  /** Aborts when the parent does, when nothing was heard for too long, and at `end`. */
  signal: AbortSignal;
  /** Was it the silence that ended it? */
  readonly expired: boolean;
  /** Something came, now or at `at`: the wait starts anew from there. */
  heard(at?: number): void;
  /** Call it always: a timer and a listener hang on it. */
  end(): void;
}

/** `idle`: milliseconds of silence that are too long; asked again at each look. */
export function idleGuard(clock: Clock, idle: () => number, parent?: AbortSignal): IdleGuard {
  const stop = new AbortController();
  let last = clock.now();
  let expired = false;
  const end = () => {
    parent?.removeEventListener('abort', end);
    stop.abort();
  };
  // One sleeper for the whole exchange, not one per chunk: it looks again at the moment the latest chunk allows.
  const wait = async () => {
    for (let left = idle(); left > 0; left = last + idle() - clock.now()) {
      await clock.sleep(left, stop.signal);
      if (stop.signal.aborted) return;
    }
    expired = true;
    end();
  };
  if (parent?.aborted) end();
  else {
    parent?.addEventListener('abort', end, { once: true });
    void wait();
  }
  return {
    signal: stop.signal,
    get expired() {
      return expired;
    },
    heard: (at = clock.now()) => (last = at),
    end,
  };
}
