// How long to wait after failures: doubling, capped, and never two at the same moment.

export interface BackoffOptions {
  /** 0 to 1. */
  random: () => number;
  /** Milliseconds; the first wait is around this. Default 500. */
  first?: number | undefined;
  /** Milliseconds; no wait is longer. Default 60,000. */
  most?: number | undefined;
}

export interface Backoff<K> {
  /** Milliseconds to wait after one more failure of `key`. */
  next(key: K): number;
  /** `key` went well. */
  reset(key: K): void;
}

/** Waits between half and the whole of 500 ms, 1 s, 2 s … 60 s, so that many who failed together do not return together. */
export function backoff<K>({ random, first = 500, most = 60_000 }: BackoffOptions): Backoff<K> {
  const failures = new Map<K, number>();
  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.min(first * 2 ** Math.min(count, 30), most) * (0.5 + random() / 2);
    },
    reset: (key) => void failures.delete(key),
  };
}
