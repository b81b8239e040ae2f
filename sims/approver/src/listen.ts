// The function behind a port.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  url: string;
  close(): Promise<void>;
}

export async function server(
  answer: (request: Request) => Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const http = createServer((incoming, outgoing) => {
    // A fault that breaks the connection is a throw in here, and a broken connection out there.
    respond(answer, incoming, outgoing).catch(() => outgoing.destroy());
  });
  http.listen(port, host);
  await once(http, 'listening');
  const { port: bound } = http.address() as AddressInfo;
  return {
    url: `http://${host}:${bound}`,
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}

async function respond(
  answer: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const { method = 'GET', url = '/' } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD' && chunks.length > 0;
  const request = new Request(new URL(url, 'http://approver.invalid'), {
    method,
    headers,
    ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
  });
  const response = await answer(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}
