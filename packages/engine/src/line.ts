// A waiting line of keys: each stands in it once, at its earliest time.
import { heap, type Heap } from './heap.ts';

export interface Waiting<K> {
  key: K;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface Line<K> {
  /** False when `key` stands there already, for as early a time or an earlier one. */
  put(key: K, at: number): boolean;
  drop(key: K): void;
  /** The earliest key that is not `busy`; stays. Of two due at one time, the one that came first. */
  first(busy: ReadonlySet<K>): Waiting<K> | undefined;
  /** `key` is busy no longer and may be first again. */
  free(key: K): void;
  readonly size: number;
}

interface Entry<K> extends Waiting<K> {
  nth: number;
}

export function line<K>(): Line<K> {
  const due = new Map<K, number>();
  let order: Heap<Entry<K>> = heap<Entry<K>>(byTime);
  let nth = 0;

  const push = (key: K, at: number): void => {
    order.push({ key, at, nth: nth++ });
    // Overtaken entries lie in the heap until their time comes; without this a busy line would keep minutes of them.
    if (order.size <= 64 + 4 * due.size) return;
    order = heap<Entry<K>>(byTime);
    for (const [one, when] of due) order.push({ key: one, at: when, nth: nth++ });
  };

  return {
    put(key, at) {
      if (at >= (due.get(key) ?? Infinity)) return false;
      due.set(key, at);
      push(key, at);
      return true;
    },
    drop: (key) => void due.delete(key),
    first(busy) {
      for (let next = order.peek(); next; next = order.peek()) {
        if (due.get(next.key) === next.at && !busy.has(next.key)) return next;
        order.pop();
      }
      return undefined;
    },
    free(key) {
      const at = due.get(key);
      if (at !== undefined) push(key, at);
    },
    get size() {
      return due.size;
    },
  };
}

const byTime = (a: Entry<unknown>, b: Entry<unknown>): number => a.at - b.at || a.nth - b.nth;
