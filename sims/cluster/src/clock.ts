// Time as an argument: what waits in this package waits on one of these.

/** The only way to know or wait for time. Milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((wake) => {
      if (signal?.aborted) return wake();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        wake();
      };
      // Node turns a longer delay into 1 ms; two weeks is under its limit of 2^31 ms.
      const timer = setTimeout(end, Math.max(0, Math.min(ms, 1_209_600_000)));
      signal?.addEventListener('abort', end, { once: true });
    }),
};

/** `ms` as Kubernetes writes a time: RFC 3339 in UTC, whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** `ms` as the kubelet writes the time of a log line: RFC 3339 in UTC, nine digits of a second. */
export function nanoTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** `ms` as Kubernetes writes a MicroTime, which Leases hold. */
export function microTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
