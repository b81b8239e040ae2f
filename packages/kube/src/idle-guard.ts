// Ends an exchange in which nothing was heard for too long: a half-open connection looks just like a quiet one.
import type { Clock } from './clock.ts';

export interface IdleGuard {
  /** Aborts when the parent does, when nothing was heard for too long, and at `end`. */
  signal: AbortSignal;
  /** Was it the silence that ended it? */
  readonly expired: boolean;
  /** Something came, now or at `at`: the wait starts anew from there. */
  heard(at?: number): void;
  /** Call it always, or `done`: a timer and a listener hang on it. */
  end(): void;
  /** The exchange came to its end by itself: nothing is aborted, for there is nothing left to abort. */
  done(): void;
}

export interface IdleLimits {
  /** Milliseconds of silence that are too long; asked again at each look. */
  idle: () => number;
  parent?: AbortSignal | undefined;
  /** When something was heard last; now when absent. */
  since?: number | undefined;
}

export function idleGuard(clock: Clock, { idle, parent, since }: IdleLimits): IdleGuard {
  const stop = new AbortController();
  const sleeper = new AbortController();
  let last = since ?? clock.now();
  let expired = false;
  const cut = () => {
    done();
    stop.abort(parent?.reason);
  };
  // With a reason: without one, each abort makes an exception, stack and all, that nobody reads.
  const done = () => {
    parent?.removeEventListener('abort', cut);
    sleeper.abort(null);
  };
  const end = () => {
    done();
    stop.abort(null);
  };
  // One sleeper for the whole exchange, not one per chunk: it looks again at the moment the latest chunk allows.
  const wait = async () => {
    for (;;) {
      const left = last + idle() - clock.now();
      if (left <= 0) break;
      await clock.sleep(left, sleeper.signal);
      if (sleeper.signal.aborted) return;
    }
    expired = true;
    cut();
  };
  if (parent?.aborted) cut();
  else {
    parent?.addEventListener('abort', cut, { once: true });
    void wait();
  }
  return {
    signal: stop.signal,
    get expired() {
      return expired;
    },
    heard: (at = clock.now()) => (last = at),
    end,
    done,
  };
}
