// The real clock. Everything below apps/ is given one and never asks the machine.
import { setTimeout as timer } from 'node:timers';
import type { Clock } from '@fairlead/core';

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((wake) => {
      if (signal?.aborted) return wake();
      const stop = () => {
        clearTimeout(timeout);
        wake();
      };
      const timeout = timer(() => {
        signal?.removeEventListener('abort', stop);
        wake();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
