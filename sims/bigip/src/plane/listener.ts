// One virtual server's open port: binds it, hands each connection to the right relay, and can reset them all.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { destinationOf, type Virtual } from '../configuration/object.ts';
import { candidates, isTaken, type Bind, type Place } from './bind.ts';
import { contextsOf, type Contexts } from './certificates.ts';
import { UdpRelay, type UdpParts } from './datagram.ts';
import { HttpRelay } from './http.ts';
import { relay } from './stream.ts';

export interface ListenerParts extends UdpParts {
  bind: Bind;
}

export class Listener {
  #parts: ListenerParts;
  #virtual: Virtual;
  #server: Server | undefined;
  #tls: TlsServer | undefined;
  #contexts: Contexts;
  #http: HttpRelay | undefined;
  #front: UdpSocket | undefined;
  #udp: UdpRelay | undefined;
  #sockets = new Set<Socket>();
  #accepted = 0;
  place: Place | undefined;
  /** Why it is not bound. */
  problem: string | undefined;

  constructor(parts: ListenerParts, virtual: Virtual) {
    this.#parts = parts;
    this.#virtual = virtual;
    this.#contexts = contextsOf(virtual, parts.configuration);
  }

  get connections(): number {
    return this.#sockets.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  async open(): Promise<void> {
    const wanted = destinationOf(this.#virtual.destination);
    if (!wanted || wanted.port === 0) {
      this.problem = `${this.#virtual.destination}: a virtual server on all ports is not carried by this simulator`;
      return;
    }
    const place = this.#parts.bind(wanted.address, wanted.port);
    for (const port of candidates(place)) {
      const error = await this.#listen({ host: place.host, port });
      if (error === undefined) return;
      this.problem = `${place.host}:${port}: ${error.message}`;
      if (!isTaken(error)) break;
    }
    this.#parts.log(`Virtual Server ${this.#virtual.fullPath} cannot be bound: ${this.problem ?? ''}`);
  }

  /** The virtual server has new settings but the same address: what connects from now on meets them. */
  follow(virtual: Virtual): void {
    this.#virtual = virtual;
    this.#contexts = contextsOf(virtual, this.#parts.configuration);
    // A client that names no server is given this without a question.
    if (this.#contexts.first) this.#tls?.setSecureContext(this.#contexts.first);
  }

  /** Ends every client connection with a reset. Answers how many. */
  reset(): number {
    const count = this.#sockets.size + (this.#udp?.reset() ?? 0);
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets.clear();
    return count;
  }

  async close(): Promise<void> {
    this.reset();
    const server = this.#server ?? this.#front;
    this.#server = undefined;
    this.#front = undefined;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #listen(place: Place): Promise<Error | undefined> {
    return this.#virtual.ipProtocol === 'udp' ? this.#listenUdp(place) : this.#listenTcp(place);
  }

  #listenTcp({ host, port }: Place): Promise<Error | undefined> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ host, port, backlog: 4096 }, () => {
        this.#server = server;
        this.#bound(host, server.address());
        resolve(undefined);
      });
    });
  }

  #listenUdp({ host, port }: Place): Promise<Error | undefined> {
    const front = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
    return new Promise((resolve) => {
      front.once('error', (error) => {
        front.close();
        resolve(error);
      });
      front.bind(port, host, () => {
        front
          .removeAllListeners('error')
          .on('error', (error) => this.#parts.log(`${this.#virtual.fullPath}: ${error.message}`));
        this.#front = front;
        this.#udp = new UdpRelay(this.#parts, this.#virtual.fullPath, front);
        this.#bound(host, front.address());
        resolve(undefined);
      });
    });
  }

  #bound(host: string, address: ReturnType<Server['address']>): void {
    if (address === null || typeof address === 'string')
      throw new Error(`bug: ${this.#virtual.fullPath} is bound to no port`);
    this.place = { host, port: address.port };
    this.problem = undefined;
  }

  #accept(socket: Socket): void {
    const { enabled, connectionLimit } = this.#virtual;
    if (!enabled || (connectionLimit > 0 && this.#sockets.size >= connectionLimit))
      return void socket.resetAndDestroy();
    this.#accepted += 1;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    const types = this.#virtual.profiles.map(({ path }) => this.#parts.configuration.get('profile', path)?.type);
    if (types.includes('client-ssl')) this.#secure().emit('connection', socket);
    else this.#carry(socket);
  }

  #carry(socket: Socket): void {
    const isHttp = this.#virtual.profiles.some(
      ({ path }) => this.#parts.configuration.get('profile', path)?.type === 'http',
    );
    if (isHttp) {
      this.#http ??= new HttpRelay(this.#parts, this.#virtual.fullPath);
      this.#http.accept(socket);
      return;
    }
    relay(this.#parts, this.#virtual.fullPath, socket).catch((error: unknown) => {
      // The connection is lost; the device is not.
      this.#parts.log(`${this.#virtual.fullPath}: ${String(error)}`);
      socket.destroy();
    });
  }

  /** Node resets no TLS connection: the one beneath it has to be. */
  #resettable(secured: TLSSocket): Socket {
    const { remoteAddress, remotePort } = secured;
    const beneath = [...this.#sockets].find(
      (socket) => socket.remotePort === remotePort && socket.remoteAddress === remoteAddress,
    );
    if (beneath) secured.resetAndDestroy = () => (beneath.resetAndDestroy(), secured.destroy());
    return secured;
  }

  #secure(): TlsServer {
    if (this.#tls) return this.#tls;
    const server = createTls({
      ...this.#contexts.first,
      SNICallback: (name, answer) => answer(null, this.#contexts.choose(name)),
      ALPNProtocols: ['http/1.1'],
    });
    server.on('secureConnection', (socket: TLSSocket) => this.#carry(this.#resettable(socket)));
    server.on('tlsClientError', (error, socket) => {
      this.#parts.log(
        `${this.#virtual.fullPath}: SSL Handshake failed for ${socket.remoteAddress ?? 'a client'}: ${error.message}`,
      );
      socket.destroy();
    });
    this.#tls = server;
    return server;
  }
}
