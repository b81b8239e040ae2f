// Puts a function from Request to Response behind a port: bodies stream both ways, and a client that goes away aborts its request.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

export type Answer = (request: Request) => Promise<Response>;

export interface ServeOptions {
  /** The address to listen on, such as 127.0.0.1. */
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Certificate, key and client CA in PEM; plain HTTP when absent. */
  tls?: Pick<ServerOptions, 'cert' | 'key' | 'ca' | 'requestCert' | 'rejectUnauthorized'>;
}

export interface Served {
  /** `http://host:port`, with the port that was given out. */
  url: string;
  port: number;
  /** Stops listening and ends the connections there are. */
  close(): Promise<void>;
}

// Headers of a sane client are far below this; bodies are limited by whoever reads them.
const limits = {
  maxHeaderSize: 64 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 0,
  keepAliveTimeout: 120_000,
  noDelay: true,
};

export async function serve(answer: Answer, { host, port, tls }: ServeOptions): Promise<Served> {
  const scheme = tls ? 'https' : 'http';
  const listener: RequestListener = (incoming, outgoing) => void pass({ answer, scheme, incoming, outgoing });
  const server: Server = tls ? createSecureServer({ ...tls, ...limits }, listener) : createServer(limits, listener);
  await listening(server, host, port);
  const given = (server.address() as AddressInfo).port;
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${given}`,
    port: given,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A watch never ends by itself.
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

interface Exchange {
  answer: Answer;
  scheme: string;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

async function pass({ answer, scheme, incoming, outgoing }: Exchange): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  try {
    const request = requestOf(incoming, scheme, gone.signal);
    if (!request)
      return void outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('bad request target or headers\n');
    const response = await answer(request);
    await send(response, outgoing, gone.signal, incoming.method === 'HEAD');
    // What a handler left unread would otherwise be taken for the next request on the connection.
    if (!incoming.readableEnded) incoming.resume();
  } catch (error) {
    // `answer` promises not to reject; a stream that fails half way can only be cut off.
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Undefined when the request line or headers cannot make a Request. */
function requestOf(incoming: IncomingMessage, scheme: string, signal: AbortSignal): Request | undefined {
  const target = incoming.url ?? '/';
  const origin = `${scheme}://${incoming.headers.host ?? 'localhost'}`;
  if (!target.startsWith('/') || !URL.canParse(origin + target)) return undefined;
  const headers = new Headers();
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2)
    headers.append(incoming.rawHeaders[i] ?? '', incoming.rawHeaders[i + 1] ?? '');
  const method = incoming.method ?? 'GET';
  if (method === 'TRACE' || method === 'CONNECT') return undefined;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(origin + target, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' } : {}),
  });
}

/** The request's body, read only as fast as it is asked for. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(response: Response, outgoing: ServerResponse, gone: AbortSignal, isHead: boolean): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  if (!response.body || isHead) {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel();
  gone.addEventListener('abort', cancel, { once: true });
  // A watch may have nothing to say for minutes; the client is to know now that it has been accepted.
  outgoing.flushHeaders();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || gone.aborted) break;
    if (!outgoing.write(value)) await drained(outgoing, gone);
  }
  gone.removeEventListener('abort', cancel);
  outgoing.end();
}

/** Waits until a slow client has taken what was sent, or is gone. */
function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve();
    const over = () => {
      outgoing.off('drain', over);
      gone.removeEventListener('abort', over);
      resolve();
    };
    outgoing.once('drain', over);
    gone.addEventListener('abort', over, { once: true });
  });
}
