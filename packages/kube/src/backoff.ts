// How long to wait before trying again.

/** Milliseconds, from the first wait to the longest. */
export interface Backoff {
  first: number;
  longest: number;
}

/**
 * The wait after the n-th failure in a row, n from 1: doubled each time, and jittered between a half and the whole, so
 * that clients which failed together do not come back together. `random` gives 0 up to, not including, 1.
 */
export function backoff({ first, longest }: Backoff, failures: number, random: () => number): number {
  const whole = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + random() / 2));
}
