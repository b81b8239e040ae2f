// UDP virtual servers: the datagrams of one client address and port are a flow, with a member, until it has been idle.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Clock } from '../clock.ts';
import { Flow, type FlowParts } from './flow.ts';

interface UdpFlow {
  flow: Flow;
  /** Datagrams that came while the member was being chosen. */
  queue: Buffer[] | undefined;
  server: Socket | undefined;
  touched: number;
  stop: AbortController;
}

export interface UdpParts extends FlowParts {
  clock: Clock;
}

// A client that floods before its member is chosen must not fill the memory.
const queueLimit = 64;

export class UdpRelay {
  #parts: UdpParts;
  #virtual: string;
  #front: Socket;
  #flows = new Map<string, UdpFlow>();

  constructor(parts: UdpParts, virtual: string, front: Socket) {
    this.#parts = parts;
    this.#virtual = virtual;
    this.#front = front;
    front.on('message', (message, from) => this.#receive(message, from));
  }

  /** Ends all flows. Answers how many there were. */
  reset(): number {
    const count = this.#flows.size;
    for (const key of this.#flows.keys()) this.#end(key);
    return count;
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const key = `${from.address} ${from.port}`;
    const known = this.#flows.get(key) ?? this.#begin(key, from);
    known.touched = this.#parts.clock.now();
    if (known.server) known.server.send(message);
    else if (known.queue && known.queue.length < queueLimit) known.queue.push(message);
  }

  #begin(key: string, from: RemoteInfo): UdpFlow {
    const flow = new Flow(this.#parts, this.#virtual, { address: from.address, port: from.port });
    const begun: UdpFlow = {
      flow,
      queue: [],
      server: undefined,
      touched: this.#parts.clock.now(),
      stop: new AbortController(),
    };
    this.#flows.set(key, begun);
    void this.#connect(key, begun, from);
    return begun;
  }

  async #connect(key: string, begun: UdpFlow, from: RemoteInfo): Promise<void> {
    const verdict = await begun.flow.fire('CLIENT_ACCEPTED');
    const target = verdict.end || begun.stop.signal.aborted ? undefined : begun.flow.select();
    if (!target) return this.#end(key);
    const server = createSocket(target.place.host.includes(':') ? 'udp6' : 'udp4');
    begun.server = server;
    begun.flow.open(target, () => this.#end(key));
    server.on('message', (message) => {
      begun.touched = this.#parts.clock.now();
      this.#front.send(message, from.port, from.address);
    });
    server.on('error', (error) => {
      this.#parts.log(`${this.#virtual}: ${target.address}:${target.port}: ${error.message}`);
      this.#end(key);
    });
    server.connect(target.place.port, target.place.host, () => {
      for (const message of begun.queue ?? []) server.send(message);
      begun.queue = undefined;
    });
    await this.#untilIdle(begun);
    this.#end(key);
  }

  async #untilIdle(begun: UdpFlow): Promise<void> {
    const { configuration, clock } = this.#parts;
    const { signal } = begun.stop;
    const profiles = begun.flow.virtual?.profiles.map(({ path }) => configuration.get('profile', path)) ?? [];
    const idle = (profiles.find((profile) => profile?.type === 'udp')?.idleTimeout ?? 60) * 1000;
    let left = idle;
    while (left > 0 && !signal.aborted) {
      await clock.sleep(left, signal);
      left = begun.touched + idle - clock.now();
    }
  }

  #end(key: string): void {
    const ended = this.#flows.get(key);
    if (!ended) return;
    this.#flows.delete(key);
    ended.stop.abort();
    ended.server?.close();
    ended.flow.close();
  }
}
