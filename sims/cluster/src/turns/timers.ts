// Many things due at different times with one sleeping clock: a binary heap ordered by time.
import type { Clock } from '../clock.ts';

/** A wake-up that was asked for; `cancel` may be called at any time, also after it rang. */
export interface Timer {
  cancel(): void;
}

interface Entry {
  at: number;
  ring: (() => void) | undefined;
}

export type Timers = ReturnType<typeof timers>;

export function timers(clock: Clock) {
  const heap: Entry[] = [];
  let wake = new AbortController();
  let sleepingUntil = Number.POSITIVE_INFINITY;
  const life = { isStopped: false };

  const run = async () => {
    while (heap.length > 0 && !life.isStopped) {
      const first = heap[0]!;
      const wait = first.at - clock.now();
      if (wait > 0 && first.ring) {
        sleepingUntil = first.at;
        await clock.sleep(wait, wake.signal);
        sleepingUntil = Number.NEGATIVE_INFINITY;
        if (wake.signal.aborted) wake = new AbortController();
        continue;
      }
      pop(heap);
      first.ring?.();
    }
    sleepingUntil = Number.POSITIVE_INFINITY;
  };

  return {
    now: () => clock.now(),
    /** Calls `ring` after `ms`. */
    after(ms: number, ring: () => void): Timer {
      const entry: Entry = { at: clock.now() + Math.max(0, ms), ring };
      push(heap, entry);
      if (sleepingUntil === Number.POSITIVE_INFINITY) {
        sleepingUntil = Number.NEGATIVE_INFINITY;
        void Promise.resolve().then(run);
      } else if (entry.at < sleepingUntil) wake.abort();
      return { cancel: () => (entry.ring = undefined) };
    },
    stop(): void {
      life.isStopped = true;
      heap.length = 0;
      wake.abort();
    },
  };
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]!.at <= entry.at) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1;
    if (heap[child]!.at >= last.at) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
