// TCP virtual servers: a client's bytes to its member and back, each side closing when the other has.

import { connect, type Socket } from 'node:net';
import { Flow, type FlowParts, type Target } from './flow.ts';

/** Carries one client connection to the end of its life. */
export async function relay(parts: FlowParts, virtual: string, client: Socket): Promise<void> {
  const flow = new Flow(parts, virtual, { address: client.remoteAddress ?? '', port: client.remotePort ?? 0 });
  client.on('error', (error) => parts.log(`${virtual}: client ${flow.client.address}: ${error.message}`));
  client.on('close', () => {
    void flow.fire('CLIENT_CLOSED').finally(() => flow.close());
  });
  const verdict = await flow.fire('CLIENT_ACCEPTED');
  if (verdict.end) return endClient(client, verdict.end);
  await toServer({ parts, flow, client }, flow.select());
}

interface Relay {
  parts: FlowParts;
  flow: Flow;
  client: Socket;
}

/** A member that cannot be reached, or the lack of any, is an LB_FAILED, in which a rule may choose once more. */
async function toServer({ parts, flow, client }: Relay, target: Target | undefined, isSecond = false): Promise<void> {
  if (target && flow.listens('LB_SELECTED')) {
    flow.propose(target);
    const { end } = await flow.fire('LB_SELECTED');
    if (end) return endClient(client, end);
  }
  const server = target && !client.destroyed ? await dial(target) : undefined;
  if (client.destroyed) return void server?.destroy();
  if (!target || !server) {
    if (isSecond || !flow.listens('LB_FAILED')) return endClient(client, 'reset');
    const verdict = await flow.fire('LB_FAILED');
    return verdict.end ? endClient(client, verdict.end) : toServer({ parts, flow, client }, flow.select(), true);
  }
  flow.open(target, () => {
    endClient(client, 'reset');
    server.resetAndDestroy();
  });
  join(client, server);
}

/** Bytes both ways. A half-closed side stays open the other way, as TCP has it. */
export function join(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
  client.on('error', () => server.destroy());
  server.on('error', () => client.destroyed || client.resetAndDestroy());
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroySoon());
}

/** A connection to the server, or nothing when it refuses. */
export function dial({ place }: Target): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const server = connect({ ...place, noDelay: true, allowHalfOpen: true });
    const refused = (): void => resolve(undefined);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      resolve(server);
    });
  });
}

export function endClient(client: Socket, how: 'reset' | 'drop'): void {
  if (client.destroyed) return;
  if (how === 'reset') client.resetAndDestroy();
  else client.destroy();
}
