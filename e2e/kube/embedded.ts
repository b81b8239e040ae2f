// Our own server as a place of the suite: in this process, in memory, on a clock that moves only when told.
import { apiServer, memory, SendError } from '@fairlead/apiserver';
import { fakeClock } from '../../packages/testkit/src/fake-clock.ts';
import { embeddedPlace, hookSend, type Place } from '../../packages/testkit/src/kube-conformance/index.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as timer } from 'node:timers/promises';
import type { PeerUser } from './peer.ts';

const patience = 20_000;

export interface EmbeddedPlace extends Place {
  /** What the server reported of its own failures. */
  reports: string[];
  close(): Promise<void>;
}

export async function startEmbedded(
  users: readonly PeerUser[],
  words: Pick<Place, 'tokens' | 'hook'>,
): Promise<EmbeddedPlace> {
  const reports: string[] = [];
  const clock = fakeClock(Date.now());
  const server = await apiServer({
    storage: memory(),
    clock,
    random: (bytes) => randomBytes(bytes),
    name: 'embedded',
    tokens: users.map(({ token, user, groups }) => ({ token, user, groups: [...groups] })),
    send: hookSend({
      unanswered: (url) => new SendError(`Post "${url.href}": context deadline exceeded`),
      pass: clock.advance,
    }),
    // A webhook that is passed over is told of, and is not the server's failure.
    report: (message) => void (message.includes('failurePolicy is Ignore') || reports.push(message)),
  });
  const place = embeddedPlace(server, clock.advance, words);
  return {
    ...place,
    send: (path, sending) => inTime(place.send(path, sending), `${sending.method} ${path}`),
    reports,
    close: server.close,
  };
}

/** Its clock stands still, so a request that waits for time would wait for ever. */
async function inTime<T>(answering: Promise<T>, what: string): Promise<T> {
  const stop = new AbortController();
  const late = timer(patience, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`the embedded server has not answered ${what} after ${patience} ms`);
  });
  try {
    return await Promise.race([answering, late]);
  } finally {
    stop.abort();
  }
}
