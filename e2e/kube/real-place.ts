// A real API server as a place of the suite: over HTTPS, in real time.
import type { Place, Sending } from '../../packages/testkit/src/kube-conformance/index.ts';
import { setTimeout as timer } from 'node:timers/promises';
import { Agent, fetch as send } from 'undici';
import { connection, type Given } from './given.ts';

export type RealServer = Pick<Given, 'server' | 'ca' | 'cert' | 'key'>;

export interface RealPlace extends Place {
  close(): Promise<void>;
}

export function realPlace(access: RealServer, words: Pick<Place, 'tokens' | 'hook' | 'meets'>): RealPlace {
  const dispatcher = new Agent(connection(access));
  return {
    ...words,
    run: `r${Date.now().toString(36)}`,
    send: (path: string, sending: Sending) =>
      send(access.server + path, { ...sending, dispatcher, redirect: 'manual' }),
    async pass(ms, signal) {
      if (signal?.aborted) return;
      const ended = timer(ms, undefined, signal ? { signal } : {});
      // Rejects only when the signal aborts, which is an early end and no failure.
      await ended.catch(() => undefined);
    },
    close: () => dispatcher.destroy(),
  };
}
