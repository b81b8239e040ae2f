// Our own server as a place of the suite: in this process, in memory, on a clock that moves only when told.
import { apiServer, memory } from '@fairlead/apiserver';
import { fakeClock } from '../../packages/testkit/src/fake-clock.ts';
import { embeddedPlace, type Place } from '../../packages/testkit/src/kube-conformance/index.ts';
import { randomBytes } from 'node:crypto';
import type { PeerUser } from './peer.ts';

export interface EmbeddedPlace extends Place {
  /** What the server reported of its own failures. */
  reports: string[];
  close(): Promise<void>;
}

export async function startEmbedded(users: readonly PeerUser[], tokens: Place['tokens']): Promise<EmbeddedPlace> {
  const reports: string[] = [];
  const clock = fakeClock(Date.now());
  const server = await apiServer({
    storage: memory(),
    clock,
    random: (bytes) => randomBytes(bytes),
    name: 'embedded',
    tokens: users.map(({ token, user, groups }) => ({ token, user, groups: [...groups] })),
    report: (message) => reports.push(message),
  });
  return { ...embeddedPlace(server, clock.advance, tokens), reports, close: server.close };
}
