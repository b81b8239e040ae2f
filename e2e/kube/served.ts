// Our own server behind a port and TLS, in real time: what kubectl and client-go talk to.
import { apiServer, authority, issue, memory, type ApiServerOptions } from '@fairlead/apiserver';
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../apps/fairlead/src/clock.ts';
import { serve } from '../../apps/fairlead/src/serve.ts';
import type { Peer, PeerUser } from './peer.ts';

export interface Served extends Omit<Peer, 'version'> {
  /** What the server reported of its own failures. */
  reports: string[];
}

export async function startServed(
  users: readonly PeerUser[],
  options: Pick<ApiServerOptions, 'history'> = {},
): Promise<Served> {
  const reports: string[] = [];
  const ca = await authority('fairlead e2e', Date.now());
  const pair = await issue(ca, { commonName: 'server', addresses: ['127.0.0.1'], usage: 'server' }, Date.now());
  const server = await apiServer({
    storage: memory(),
    clock: systemClock,
    random: (bytes) => randomBytes(bytes),
    name: 'served',
    tokens: users.map(({ token, user, groups }) => ({ token, user, groups: [...groups] })),
    report: (message) => reports.push(message),
    ...options,
  });
  const served = await serve(server.answer, { host: '127.0.0.1', port: 0, tls: { cert: pair.cert, key: pair.key } });
  return {
    server: served.url,
    ca: ca.cert,
    token: users[0]?.token ?? '',
    reports,
    async stop() {
      await served.close();
      await server.close();
    },
  };
}
