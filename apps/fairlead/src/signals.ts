// Ctrl-C and SIGTERM as an AbortSignal. A second one ends the process at once.
import { setMaxListeners } from 'node:events';

export interface Ending {
  signal: AbortSignal;
  /** Listens no longer. */
  close(): void;
}

export function untilSignal(): Ending {
  const controller = new AbortController();
  // Every watch and wait of the program listens to this one; that many is no leak.
  setMaxListeners(0, controller.signal);
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    close: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
