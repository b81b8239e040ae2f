// The HTTPS endpoint of each of our nodes, where an API server asks the kubelet for the logs of containers.
//
//  request                                                 | answer
//  --------------------------------------------------------+-------------------------------------------------
//  GET /containerLogs/<namespace>/<pod>/<container>?…      | 200 text/plain: log-answer.ts, log-query.ts
//  the same, the pod not on this node, or no such container | 404
//  the same, a log that is not there                       | 400
//  anything else                                           | 404, or 405 when it is not GET
//
// Like a kubelet's without authentication it answers everybody who reaches it: a loopback address.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { selfSigned } from './certificate.ts';
import { listening } from './listener.ts';
import { chooseLog, sendLog } from './log-answer.ts';
import { logQuery } from './log-query.ts';
import type { PodRun } from './pod-run.ts';

export interface NodeServerOptions {
  node: string;
  /** The address it listens on. */
  ip: string;
  /** The name its certificate is for. */
  cluster: string;
  clock: Clock;
  /** Running pods by key, those of other nodes too. */
  runs: ReadonlyMap<string, PodRun>;
}

export interface NodeServer {
  readonly port: number;
  /** Resets every connection there is or comes, until restored: the node does not answer. */
  lose(): void;
  restore(): void;
  /** Resolves when the port is free. */
  close(): Promise<void>;
}

type Opened = { ok: true; server: NodeServer } | { ok: false; message: string };

/** The kubelet's own port; a kubelet of the machine itself may hold it on all addresses, and then any other does. */
const kubeletPort = 10_250;

export async function nodeServer(options: NodeServerOptions): Promise<Opened> {
  const first = await open(options, kubeletPort);
  if (first.ok) return first;
  const second = await open(options, 0);
  return second.ok ? second : first;
}

async function open(options: NodeServerOptions, port: number): Promise<Opened> {
  const server: Server = createServer(selfSigned(options.cluster), (request, response) => {
    void answer(options, request, response);
  });
  // A failed handshake is the client's affair; the socket is closed by the server already.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const sockets = new Set<Socket>();
  let isLost = false;
  server.on('connection', (socket: Socket) => {
    if (isLost) return void socket.resetAndDestroy();
    sockets.add(socket);
    // A client may reset at any time; the socket closes and that is all there is to know.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  const failure = await listening(server, options.ip, port);
  if (failure !== undefined) return { ok: false, message: failure };
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    ok: true,
    server: {
      port: (server.address() as AddressInfo).port,
      lose() {
        isLost = true;
        reset();
      },
      restore: () => void (isLost = false),
      close: () =>
        new Promise((done) => {
          server.close(() => done());
          reset();
        }),
    },
  };
}

async function answer(options: NodeServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const refuse = (status: number, message: string) =>
    void response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`);
  const target = request.url ?? '/';
  const url = URL.canParse(target, 'https://node') ? new URL(target, 'https://node') : undefined;
  const [, namespace, name, container] = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
  if (!url || name === undefined) return refuse(404, '404 page not found');
  if (request.method !== 'GET') return refuse(405, '405: Method Not Allowed');
  const asked = logQuery(url.searchParams, options.clock.now());
  if (!asked.ok) return refuse(asked.status, asked.message);
  const run = options.runs.get(`${namespace}/${name}`);
  if (run?.pod.spec.nodeName !== options.node) return refuse(404, `pod "${name}" does not exist`);
  const one = run.container(container);
  if (!one) return refuse(404, `container "${container}" not found in pod "${name}"`);
  const chosen = chooseLog(one, name, asked.query.isPrevious);
  if (!chosen.ok) return refuse(400, chosen.message);
  await sendLog(chosen.log, asked.query, response);
}
