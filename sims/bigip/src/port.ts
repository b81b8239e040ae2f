// The REST front behind a port: node's requests to `fetch` and back.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { BrokenConnection } from './faults.ts';

export interface RestPort {
  url: string;
  close(): Promise<void>;
}

export async function listen(
  answer: (request: Request) => Promise<Response>,
  at: { host: string; port: number },
): Promise<RestPort> {
  const server = createServer((incoming, outgoing) => {
    carry(answer, incoming, outgoing).catch((error: unknown) => {
      // A broken connection was asked for; anything else is a bug, and its text the best a client can get.
      if (error instanceof BrokenConnection || outgoing.headersSent) return void incoming.socket.resetAndDestroy();
      outgoing.writeHead(500, { 'content-type': 'application/json' });
      outgoing.end(
        JSON.stringify({ code: 500, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
    });
  });
  await new Promise<void>((resolve, fail) => {
    server.once('error', fail);
    server.listen(at.port, at.host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('bug: the REST front has no port');
  const host = at.host.includes(':') ? `[${at.host}]` : at.host;
  return { url: `http://${host}:${address.port}`, close: () => close(server) };
}

async function carry(
  answer: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await readAll(incoming);
  const { method = 'GET' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, String(value));
  const url = `http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`;
  const isBodied = method !== 'GET' && method !== 'HEAD';
  const response = await answer(new Request(url, { method, headers, ...(isBodied ? { body } : {}) }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value && !outgoing.destroyed; part = await reader?.read()) {
    if (!outgoing.write(part.value)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
  }
  outgoing.end();
}

async function readAll(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
