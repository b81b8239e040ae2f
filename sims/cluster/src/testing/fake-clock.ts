// Time that moves only when told, for tests.
import type { Clock } from '../clock.ts';

export function fakeClock(start = Date.parse('2026-01-01T00:00:00Z')) {
  let now = start;
  const sleepers = new Set<{ at: number; wake(): void }>();
  const settle = async () => {
    for (let i = 0; i < 20; i += 1) await new Promise<void>((done) => setImmediate(done));
  };
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((done) => {
        const sleeper = { at: now + ms, wake: () => end() };
        const end = () => {
          sleepers.delete(sleeper);
          done();
        };
        sleepers.add(sleeper);
        if (signal?.aborted) end();
        signal?.addEventListener('abort', end, { once: true });
      }),
  };
  return {
    ...clock,
    settle,
    /** Moves on by `ms`, waking sleepers in order and letting what they start come to rest. */
    async advance(ms: number): Promise<void> {
      const end = now + ms;
      for (await settle(); ; await settle()) {
        const [next] = [...sleepers].filter((one) => one.at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = Math.max(now, next.at);
        next.wake();
      }
      now = end;
    },
  };
}
