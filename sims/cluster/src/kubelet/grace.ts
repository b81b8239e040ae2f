// The time something has left before it is killed.
import type { Timers } from '../turns/timers.ts';

export interface Grace {
  /** Aborts when the time is over. */
  readonly expired: AbortSignal;
  /** At most so long from now; more than what is left changes nothing. */
  shorten(ms: number): void;
  /** It ended in time. */
  cancel(): void;
  /** The time is over now. */
  end(): void;
}

export function grace(timers: Timers, ms: number): Grace {
  const expired = new AbortController();
  const end = () => expired.abort();
  let at = timers.now() + ms;
  let timer = timers.after(ms, end);
  return {
    expired: expired.signal,
    shorten(left) {
      if (timers.now() + left >= at) return;
      at = timers.now() + left;
      timer.cancel();
      timer = timers.after(left, end);
    },
    cancel: () => timer.cancel(),
    end() {
      timer.cancel();
      end();
    },
  };
}
