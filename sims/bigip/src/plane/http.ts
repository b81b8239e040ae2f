// HTTP virtual servers: each request runs the rules, gets its member and is streamed there and back, one at a time per client.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import type { Profile } from '../configuration/object.ts';
import { responseOf } from '../irule/runner.ts';
import { Flow, type FlowParts, type Headers, type Target, type Verdict } from './flow.ts';
import { applyEdits, flat, forwardable, pairs, withForwardedFor } from './http-headers.ts';
import { dial, endClient, join } from './stream.ts';
import { hasBody, Upstream, type Outbound } from './upstream.ts';

/** A client connection that speaks HTTP. */
interface Conversation {
  flow: Flow;
  socket: Socket;
  upstream: Upstream;
  accepted: Promise<Verdict>;
  /** The request before; the next waits, so that rules and choices follow one another. */
  turn: Promise<void>;
}

/** One request under way. `uri`, `method` and `headers` are as the rules left them. */
interface Exchange extends Outbound {
  talk: Conversation;
  outgoing: ServerResponse;
}

export class HttpRelay {
  #parts: FlowParts;
  #virtual: string;
  #talks = new WeakMap<Socket, Conversation>();
  #server: Server;

  constructor(parts: FlowParts, virtual: string) {
    this.#parts = parts;
    this.#virtual = virtual;
    this.#server = createServer({ keepAliveTimeout: 300_000, requestTimeout: 0, headersTimeout: 0, noDelay: true });
    this.#server.on('request', (incoming, outgoing) => {
      const talk = this.#talk(incoming.socket);
      talk.turn = talk.turn.then(() => this.#guarded(talk, this.#serve(talk, incoming, outgoing)));
    });
    this.#server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head));
    this.#server.on('clientError', (error, socket) => {
      parts.log(`${virtual}: a client that speaks no HTTP: ${error.message}`);
      socket.destroy();
    });
  }

  /** Takes a client connection, plain or already out of TLS. */
  accept(socket: Socket): void {
    const talk = this.#talk(socket);
    void talk.accepted.then(({ end }) => end && endClient(socket, end));
    this.#server.emit('connection', socket);
  }

  #talk(socket: Socket): Conversation {
    const known = this.#talks.get(socket);
    if (known) return known;
    const sni = 'servername' in socket && typeof socket.servername === 'string' ? socket.servername : undefined;
    const client = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0, sni };
    const flow = new Flow(this.#parts, this.#virtual, client);
    const upstream = new Upstream(flow, () => endClient(socket, 'reset'));
    const accepted = flow.fire('CLIENT_ACCEPTED');
    const talk: Conversation = { flow, socket, upstream, accepted, turn: Promise.resolve() };
    this.#talks.set(socket, talk);
    socket.on('close', () => {
      upstream.close();
      void flow.fire('CLIENT_CLOSED').finally(() => flow.close());
    });
    return talk;
  }

  /** A request that cannot even be written (a rule made a header with a line break, say) costs its connection, no more. */
  async #guarded(talk: Conversation, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#parts.log(`${this.#virtual}: ${String(error)}`);
      endClient(talk.socket, 'reset');
    }
  }

  async #serve(talk: Conversation, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const accepted = await talk.accepted;
    if (accepted.end || talk.socket.destroyed) return;
    this.#parts.http.of(this.#virtual).requests += 1;
    const { method = 'GET', url = '/' } = incoming;
    const exchange: Exchange = { talk, incoming, outgoing, method, uri: url, headers: pairs(incoming.rawHeaders) };
    const verdict = await this.#fire(exchange, 'HTTP_REQUEST');
    if (await this.#concluded(exchange, verdict)) return;
    edit(exchange, verdict);
    if (this.#profiles().some((profile) => profile.type === 'http' && profile.insertXforwardedFor === true)) {
      exchange.headers = withForwardedFor(exchange.headers, talk.flow.client.address);
    }
    await this.#forward(exchange);
  }

  #fire({ talk, incoming, method, uri, headers }: Exchange, event: string): Promise<Verdict> {
    return talk.flow.fire(event, { method, uri, version: incoming.httpVersion }, headers);
  }

  /** Whether the rules reset, dropped or answered the request. */
  async #concluded({ talk, outgoing, method }: Exchange, verdict: Verdict): Promise<boolean> {
    if (verdict.close) outgoing.shouldKeepAlive = false;
    if (verdict.end) endClient(talk.socket, verdict.end);
    if (talk.socket.destroyed) return true;
    if (!verdict.respond) return false;
    const { status, headers, content } = responseOf(verdict.respond);
    const body = Buffer.from(content, 'utf8');
    this.#parts.http.response(this.#virtual, status);
    outgoing.sendDate = false;
    outgoing.writeHead(status, flat([['Server', 'BigIP'], ...headers, ['Content-Length', String(body.length)]]));
    await finished(outgoing, method === 'HEAD' ? undefined : body);
    return true;
  }

  /** A member that cannot be reached, or the lack of any, is an LB_FAILED, in which a rule may answer or choose once more. */
  async #forward(exchange: Exchange, isAgain = false): Promise<void> {
    const { talk } = exchange;
    const target = talk.flow.select(cookiesOf(exchange.headers));
    if (target && (await this.#selected(exchange, target))) return;
    const answer = target && (await talk.upstream.ask(exchange, target, this.#isTlsToServers()));
    if (target && answer) {
      talk.flow.asked(target);
      return this.#pass(exchange, target, answer);
    }
    talk.flow.letGo();
    const isBodyGone = hasBody(exchange.incoming) && exchange.incoming.readableDidRead;
    if (isAgain || !talk.flow.listens('LB_FAILED')) return endClient(talk.socket, 'reset');
    if (await this.#concluded(exchange, await this.#fire(exchange, 'LB_FAILED'))) return;
    if (isBodyGone) return endClient(talk.socket, 'reset');
    await this.#forward(exchange, true);
  }

  /** Runs LB_SELECTED where a rule listens; whether the rule concluded the request. */
  async #selected(exchange: Exchange, target: Target): Promise<boolean> {
    if (!exchange.talk.flow.listens('LB_SELECTED')) return false;
    exchange.talk.flow.propose(target);
    const verdict = await this.#fire(exchange, 'LB_SELECTED');
    if (await this.#concluded(exchange, verdict)) return true;
    edit(exchange, verdict);
    return false;
  }

  async #pass({ talk, outgoing, method }: Exchange, target: Target, answer: IncomingMessage): Promise<void> {
    let headers = pairs(answer.rawHeaders);
    const status = answer.statusCode ?? 502;
    this.#parts.http.response(this.#virtual, status);
    if (talk.flow.listens('HTTP_RESPONSE')) {
      const facts = { status: String(status), version: answer.httpVersion };
      const verdict = await talk.flow.fire('HTTP_RESPONSE', facts, headers);
      if (verdict.end) return endClient(talk.socket, verdict.end);
      if (verdict.close) outgoing.shouldKeepAlive = false;
      headers = applyEdits(headers, verdict.edits);
    }
    headers = forwardable(headers);
    if (target.cookie) headers.push(['Set-Cookie', cookieLine(target.cookie, 'encrypted' in talk.socket)]);
    // The client has it now; the next request of this connection need not be told again.
    delete target.cookie;
    outgoing.sendDate = false;
    outgoing.writeHead(status, answer.statusMessage, flat(headers));
    if (method === 'HEAD') {
      answer.resume();
      return finished(outgoing);
    }
    await new Promise<void>((resolve) => {
      // A body that breaks off must not look complete to the client.
      pipeline(answer, outgoing, (error) => {
        if (error) endClient(talk.socket, 'reset');
        resolve();
      });
    });
  }

  #isTlsToServers(): boolean {
    return this.#profiles().some((profile) => profile.type === 'server-ssl');
  }

  #profiles(): Profile[] {
    const virtual = this.#parts.configuration.get('virtual', this.#virtual);
    return (virtual?.profiles ?? []).flatMap(({ path }) => this.#parts.configuration.get('profile', path) ?? []);
  }

  #upgrade(incoming: IncomingMessage, duplex: Duplex, head: Buffer): void {
    if (!(duplex instanceof Socket)) throw new Error('bug: an upgrade on something that is no socket');
    const talk = this.#talk(duplex);
    void this.#guarded(talk, this.#join(talk, incoming, head));
  }

  /** WebSocket and the like: after the request's head the bytes go both ways untouched. */
  async #join(talk: Conversation, incoming: IncomingMessage, head: Buffer): Promise<void> {
    const { flow, socket } = talk;
    await talk.turn;
    if ((await talk.accepted).end) return;
    this.#parts.http.of(this.#virtual).requests += 1;
    const { method = 'GET', url = '/', httpVersion } = incoming;
    const before = pairs(incoming.rawHeaders);
    const verdict = await flow.fire('HTTP_REQUEST', { method, uri: url, version: httpVersion }, before);
    if (verdict.end || verdict.respond) return endClient(socket, verdict.end ?? 'drop');
    const target = flow.select(cookiesOf(before));
    const server = target && (await dial(target));
    if (!target || !server) return endClient(socket, 'reset');
    flow.open(target, () => endClient(socket, 'reset'));
    flow.asked(target);
    this.#parts.http.of(this.#virtual).upgrades += 1;
    const outbound: Edited = { method, uri: url, headers: before };
    edit(outbound, verdict);
    const lines = outbound.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    server.write(
      Buffer.concat([Buffer.from(`${outbound.method} ${outbound.uri} HTTP/1.1\r\n${lines}\r\n`, 'latin1'), head]),
    );
    join(socket, server);
  }
}

type Edited = Pick<Outbound, 'method' | 'uri' | 'headers'>;

function edit(request: Edited, { edits }: Verdict): void {
  request.headers = applyEdits(request.headers, edits);
  for (const { verb, args } of edits) {
    if (verb === 'uri') request.uri = args[0] ?? request.uri;
    if (verb === 'method') request.method = args[0] ?? request.method;
  }
}

function cookieLine({ name, value }: { name: string; value: string }, isTls: boolean): string {
  return `${name}=${value}; path=/; Httponly${isTls ? '; Secure' : ''}`;
}

function cookiesOf(headers: Headers): string | undefined {
  const all = headers.filter(([name]) => name.toLowerCase() === 'cookie').map(([, value]) => value);
  return all.length > 0 ? all.join('; ') : undefined;
}

function finished(outgoing: ServerResponse, body?: Buffer): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('close', resolve);
    outgoing.end(body, resolve);
  });
}
