// A port of a container that really listens, and how it stops: gently (no new connections) or at once.
import { createSocket } from 'node:dgram';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTcp } from 'node:net';
import type { App } from './app.ts';
import { answer, greeting } from './app.ts';
import { selfSigned } from './certificate.ts';
import type { Port } from './port.ts';

export interface Listener {
  readonly port: number;
  /** Accepts nothing new; what is open goes on. Resolves when the last connection has ended. */
  stop(): Promise<void>;
  /** Ends everything at once. Resolves when the address is free. */
  kill(): Promise<void>;
}

type Opened = { ok: true; listener: Listener } | { ok: false; message: string };

/** All of a container's ports, or none: a container that cannot have one of them does not start. */
export async function openAll(
  ports: Port[],
  ip: string,
  app: App,
): Promise<{ ok: true; listeners: Listener[] } | { ok: false; message: string }> {
  const listeners: Listener[] = [];
  for (const port of ports) {
    const opened = await open(port, ip, app);
    if (!opened.ok) {
      await Promise.all(listeners.map((listener) => listener.kill()));
      return opened;
    }
    app.log(`listening on ${ip}:${port.number} (${port.protocol})`);
    listeners.push(opened.listener);
  }
  return { ok: true, listeners };
}

async function open(port: Port, ip: string, app: App): Promise<Opened> {
  if (port.protocol === 'udp') return openUdp(port.number, ip, app);
  const state = { isStopping: false };
  const server = serverFor(port, app, state);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A client may reset at any time; the socket closes and that is all there is to know.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  const failure = await listening(server, ip, port.number);
  if (failure !== undefined) return { ok: false, message: failure };

  let closed: Promise<void> | undefined;
  const stop = () => {
    state.isStopping = true;
    closed ??= new Promise((done) => server.close(() => done()));
    return closed;
  };
  return {
    ok: true,
    listener: {
      port: (server.address() as AddressInfo).port,
      stop,
      kill() {
        const gone = stop();
        for (const socket of sockets) socket.resetAndDestroy();
        return gone;
      },
    },
  };
}

/** Resolves when `server` listens, or with the reason why it cannot. */
export async function listening(server: Server, ip: string, port: number): Promise<string | undefined> {
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    server.once('error', done);
    server.listen({ host: ip, port, exclusive: true, backlog: 511 }, () => {
      server.off('error', done);
      done(undefined);
    });
  });
  return failure && explain(failure, ip, port);
}

function serverFor({ number, protocol }: Port, app: App, state: { isStopping: boolean }): Server {
  // Idle connections are kept longer than any proxy keeps them: closing first would race with its next request.
  const options = {
    keepAliveTimeout: 120_000,
    requestTimeout: 0,
    headersTimeout: 0,
    connectionsCheckingInterval: 600_000,
  };
  const listener: Parameters<typeof createHttp>[1] = (request, response) => {
    if (state.isStopping) response.shouldKeepAlive = false;
    answer({ app, port: number, isStopping: () => state.isStopping }, request, response);
  };
  if (protocol === 'http') return createHttp(options, listener);
  if (protocol === 'https') {
    const server = createHttps({ ...options, ...selfSigned(app.cluster) }, listener);
    // A failed handshake is the client's affair; the socket is closed by the server already.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }
  return createTcp({ allowHalfOpen: true }, (socket) => {
    app.log(`connection from ${socket.remoteAddress}:${socket.remotePort}`);
    socket.write(greeting(app));
    socket.pipe(socket);
  });
}

async function openUdp(port: number, ip: string, app: App): Promise<Opened> {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    app.log(`${message.length} bytes from ${from.address}:${from.port}`);
    socket.send(message, from.port, from.address);
  });
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    socket.once('error', done);
    socket.bind({ address: ip, port, exclusive: true }, () => {
      socket.off('error', done);
      done(undefined);
    });
  });
  if (failure) return { ok: false, message: explain(failure, ip, port) };
  // An ICMP error for one peer must not end the echo for the others.
  socket.on('error', () => {});
  let closed: Promise<void> | undefined;
  const stop = () => (closed ??= new Promise((done) => socket.close(() => done())));
  return { ok: true, listener: { port: socket.address().port, stop, kill: stop } };
}

function explain({ code, message }: NodeJS.ErrnoException, ip: string, port: number): string {
  const why: Record<string, string> = {
    EACCES: 'permission denied: ports below net.ipv4.ip_unprivileged_port_start need root or CAP_NET_BIND_SERVICE',
    EADDRINUSE: 'the address is in use by another program',
    EADDRNOTAVAIL:
      'this machine does not have the address: use a podCidr inside 127.0.0.0/8, or add it to the loopback interface',
  };
  return `listen ${ip}:${port}: ${why[code ?? ''] ?? message}`;
}
