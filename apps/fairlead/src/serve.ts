// Puts a function from Request to Response behind a port: bodies stream both ways, and a client that goes away aborts its request.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { TextResponse } from '@fairlead/apiserver';
import { incomingRequest } from './incoming-request.ts';

/** What is known of whoever asks besides the request. */
export interface Peer {
  /** The client's certificate, DER; only where `tls.requestCert` asks for one. That it may come in is for the answer to say. */
  certificate?: Uint8Array;
}

export type Answer = (request: Request, peer: Peer) => Promise<Response>;

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
  /** New connections get this certificate (PEM). Only of a server with `tls`. */
  exchange(pair: { cert: string; key: string }): void;
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
  const server: Server | SecureServer = tls
    ? createSecureServer({ ...tls, ...limits }, listener)
    : createServer(limits, listener);
  await listening(server, host, port);
  const given = (server.address() as AddressInfo).port;
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${given}`,
    port: given,
    exchange(pair) {
      if (!('setSecureContext' in server)) throw new Error('bug: a server of plain HTTP has no certificate');
      server.setSecureContext(pair);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A watch never ends by itself.
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server | SecureServer, host: string, port: number): Promise<void> {
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
  const client = follow(outgoing);
  try {
    const request = requestOf(incoming, scheme, client);
    if (!request)
      return void outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('bad request target or headers\n');
    const response = await answer(request, peerOf(incoming.socket));
    await send(response, outgoing, client, incoming.method === 'HEAD');
    // What a handler left unread would otherwise be taken for the next request on the connection.
    if (!incoming.readableEnded) incoming.resume();
  } catch (error) {
    // `answer` promises not to reject; a stream that fails half way can only be cut off.
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

const peers = new WeakMap<Socket, Peer>();

/** Asked once for each connection: it is the connection that the certificate proves something of. */
function peerOf(socket: Socket): Peer {
  let peer = peers.get(socket);
  if (!peer) {
    // An empty object where the client showed no certificate.
    const raw = socket instanceof TLSSocket ? socket.getPeerCertificate()?.raw : undefined;
    peers.set(socket, (peer = raw ? { certificate: raw } : {}));
  }
  return peer;
}

/** Whether whoever asked is still there. */
interface Client {
  readonly isGone: boolean;
  /** Calls back when the client goes before it has its whole answer; at once when it has gone. Returns the way to stop. */
  gone(listener: () => void): () => void;
}

function follow(outgoing: ServerResponse): Client {
  const listeners = new Set<() => void>();
  let isGone = false;
  outgoing.once('close', () => {
    if (outgoing.writableFinished) return;
    isGone = true;
    for (const listener of listeners) listener();
  });
  return {
    get isGone() {
      return isGone;
    },
    gone(listener) {
      if (isGone) listener();
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Undefined when the request line or headers cannot make a Request. */
function requestOf(incoming: IncomingMessage, scheme: string, client: Client): Request | undefined {
  const target = incoming.url ?? '/';
  const url = `${scheme}://${incoming.headers.host ?? 'localhost'}${target}`;
  if (!target.startsWith('/') || !URL.canParse(url)) return undefined;
  if (incoming.method === 'TRACE' || incoming.method === 'CONNECT') return undefined;
  return incomingRequest({ incoming, url, gone: client.gone });
}

async function send(response: Response, outgoing: ServerResponse, client: Client, isHead: boolean): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  const text = isHead ? undefined : TextResponse.textOf(response);
  if (text !== undefined) return void outgoing.end(text);
  if (!response.body || isHead) {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  const reader = response.body.getReader();
  const forget = client.gone(() => void reader.cancel());
  // Headers, a body that is ready and its end go out in one write. A watch may have nothing to say for minutes, and its
  // client is to know now that it has been accepted: whatever there is goes out before node turns to its sockets again.
  outgoing.cork();
  const soon = setImmediate(() => {
    outgoing.uncork();
    outgoing.flushHeaders();
  });
  let next = await reader.read();
  while (!next.done && !client.isGone) {
    const following = reader.read();
    if (!outgoing.write(next.value)) await drained(outgoing, client);
    next = await following;
  }
  clearImmediate(soon);
  forget();
  outgoing.end();
}

/** Waits until a slow client has taken what was sent, or is gone. */
function drained(outgoing: ServerResponse, client: Client): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      outgoing.off('drain', over);
      forget();
      resolve();
    };
    const forget = client.gone(over);
    outgoing.once('drain', over);
  });
}
