// HTTP virtual servers: each request runs the rules, gets its member and is streamed there and back, one at a time per client.

import {
  Agent,
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent as TlsAgent, request as sendTls } from 'node:https';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { Socket } from 'node:net';
import { responseOf } from '../irule/runner.ts';
import { Flow, type FlowParts, type Headers, type Target, type Verdict } from './flow.ts';
import { applyEdits, flat, forwardable, pairs, withForwardedFor } from './http-headers.ts';
import { dial, endClient, join } from './stream.ts';

/** A client connection that speaks HTTP, and the one connection towards its member. */
interface Conversation {
  flow: Flow;
  socket: Socket;
  agent: Agent | undefined;
  accepted: Promise<Verdict>;
  /** The request before; the next waits, so that rules and choices follow one another. */
  turn: Promise<void>;
}

/** One request under way. `uri` and `method` are as the rules left them. */
interface Exchange {
  talk: Conversation;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  method: string;
  uri: string;
  headers: Headers;
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
      talk.turn = talk.turn.then(() => this.#serve(talk, incoming, outgoing));
    });
    this.#server.on('upgrade', (incoming, socket, head) => void this.#upgrade(incoming, socket, head));
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  /** Takes a client connection, plain or already out of TLS. */
  accept(socket: Socket): void {
    this.#talk(socket);
    this.#server.emit('connection', socket);
  }

  #talk(socket: Socket): Conversation {
    const known = this.#talks.get(socket);
    if (known) return known;
    const sni = 'servername' in socket && typeof socket.servername === 'string' ? socket.servername : undefined;
    const flow = new Flow(this.#parts, this.#virtual, {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      sni,
    });
    const talk: Conversation = {
      flow,
      socket,
      agent: undefined,
      accepted: flow.fire('CLIENT_ACCEPTED'),
      turn: Promise.resolve(),
    };
    this.#talks.set(socket, talk);
    socket.on('close', () => {
      talk.agent?.destroy();
      void flow.fire('CLIENT_CLOSED').finally(() => flow.close());
    });
    return talk;
  }

  async #serve(talk: Conversation, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const exchange = await this.#begin(talk, incoming, outgoing);
    if (!exchange) return;
    const target = talk.flow.select(cookiesOf(exchange.headers));
    await this.#forward(exchange, target);
  }

  /** Runs the rules of the request. Nothing when they ended or answered it themselves. */
  async #begin(talk: Conversation, incoming: IncomingMessage, outgoing: ServerResponse): Promise<Exchange | undefined> {
    const accepted = await talk.accepted;
    if (accepted.end) return endClient(talk.socket, accepted.end) as undefined;
    if (talk.socket.destroyed) return undefined;
    const { method = 'GET', url = '/', httpVersion } = incoming;
    const exchange: Exchange = { talk, incoming, outgoing, method, uri: url, headers: pairs(incoming.rawHeaders) };
    const verdict = await talk.flow.fire('HTTP_REQUEST', { method, uri: url, version: httpVersion }, exchange.headers);
    if (await this.#concluded(exchange, verdict)) return undefined;
    exchange.headers = applyEdits(exchange.headers, verdict.edits);
    for (const { verb, args } of verdict.edits) {
      if (verb === 'uri') exchange.uri = args[0] ?? exchange.uri;
      if (verb === 'method') exchange.method = args[0] ?? exchange.method;
    }
    if (verdict.close) outgoing.shouldKeepAlive = false;
    return exchange;
  }

  /** Whether the rules reset, dropped or answered the request. */
  async #concluded({ talk, outgoing, method }: Exchange, verdict: Verdict): Promise<boolean> {
    if (verdict.end) {
      endClient(talk.socket, verdict.end);
      return true;
    }
    if (!verdict.respond) return talk.socket.destroyed;
    const { status, headers, content } = responseOf(verdict.respond);
    if (verdict.close) outgoing.shouldKeepAlive = false;
    const body = Buffer.from(content, 'utf8');
    outgoing.sendDate = false;
    outgoing.writeHead(status, flat([['Server', 'BigIP'], ...headers, ['Content-Length', String(body.length)]]));
    await finished(outgoing, method === 'HEAD' ? undefined : body);
    return true;
  }

  async #forward(exchange: Exchange, target: Target | undefined, isAgain = false): Promise<void> {
    const { talk } = exchange;
    const answer = target && (await this.#ask(exchange, target));
    if (target && answer) return this.#pass(exchange, target, answer);
    if (talk.socket.destroyed) return;
    // A rule may answer, or choose another pool, once.
    if (isAgain || !talk.flow.listens('LB_FAILED')) return endClient(talk.socket, 'reset');
    const verdict = await talk.flow.fire(
      'LB_FAILED',
      { method: exchange.method, uri: exchange.uri, version: '1.1' },
      exchange.headers,
    );
    if (await this.#concluded(exchange, verdict)) return;
    await this.#forward(exchange, talk.flow.select(cookiesOf(exchange.headers)), true);
  }

  /** Sends the request to the member. Nothing when it cannot be reached. */
  #ask(exchange: Exchange, target: Target, isRetry = false): Promise<IncomingMessage | undefined> {
    const { talk, incoming, method, uri } = exchange;
    const agent = this.#agentFor(talk, target);
    const headers = forwardable(
      withForwardedFor(exchange.headers, this.#insertsForwardedFor() ? talk.flow.client.address : undefined),
    );
    const hasBody =
      incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined;
    if (!hasBody && !['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method)) headers.push(['Content-Length', '0']);
    const isTls = agent instanceof TlsAgent;
    return new Promise((resolve) => {
      const options = { ...target.place, method, path: uri, agent, headers: flat(headers), setHost: false };
      const asked = isTls ? sendTls(options) : sendRequest(options);
      asked.once('response', resolve);
      asked.once('error', () => {
        // The member closed an idle connection while we were writing to it: that request was never seen.
        if (asked.reusedSocket && !hasBody && !isRetry && !talk.socket.destroyed)
          resolve(this.#ask(exchange, target, true));
        else resolve(undefined);
      });
      talk.socket.once('close', () => asked.destroy());
      if (hasBody) incoming.pipe(asked);
      else asked.end();
    });
  }

  async #pass({ talk, outgoing, method }: Exchange, target: Target, answer: IncomingMessage): Promise<void> {
    let headers = pairs(answer.rawHeaders);
    const status = answer.statusCode ?? 502;
    if (talk.flow.listens('HTTP_RESPONSE')) {
      const verdict = await talk.flow.fire(
        'HTTP_RESPONSE',
        { status: String(status), version: answer.httpVersion },
        headers,
      );
      if (verdict.end) return endClient(talk.socket, verdict.end);
      headers = applyEdits(headers, verdict.edits);
    }
    headers = forwardable(headers);
    if (target.cookie) {
      headers.push([
        'Set-Cookie',
        `${target.cookie.name}=${target.cookie.value}; path=/; Httponly${'encrypted' in talk.socket ? '; Secure' : ''}`,
      ]);
      // The client has it now; the next request of this connection need not be told again.
      delete target.cookie;
    }
    outgoing.sendDate = false;
    outgoing.writeHead(status, answer.statusMessage, flat(headers));
    if (method === 'HEAD') return finished(outgoing).then(() => void answer.resume());
    await new Promise<void>((resolve) => {
      // A body that breaks off must not look complete to the client.
      pipeline(answer, outgoing, (error) => {
        if (error) endClient(talk.socket, 'reset');
        resolve();
      });
    });
  }

  #agentFor(talk: Conversation, target: Target): Agent {
    const isTls = this.#profiles().some((profile) => profile?.type === 'server-ssl');
    if (talk.agent && talk.flow.target === target) return talk.agent;
    talk.agent?.destroy();
    talk.agent = isTls
      ? new TlsAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
      : new Agent({ keepAlive: true, maxSockets: 1 });
    talk.flow.open(target, () => endClient(talk.socket, 'reset'));
    return talk.agent;
  }

  #insertsForwardedFor(): boolean {
    return this.#profiles().some((profile) => profile?.type === 'http' && profile.insertXforwardedFor === true);
  }

  #profiles() {
    const virtual = this.#parts.configuration.get('virtual', this.#virtual);
    return (virtual?.profiles ?? []).map(({ path }) => this.#parts.configuration.get('profile', path));
  }

  /** WebSocket and the like: after the request's head the bytes go both ways untouched. */
  async #upgrade(incoming: IncomingMessage, duplex: Duplex, head: Buffer): Promise<void> {
    if (!(duplex instanceof Socket)) return void duplex.destroy();
    const talk = this.#talk(duplex);
    const headers = pairs(incoming.rawHeaders);
    const { method = 'GET', url = '/', httpVersion } = incoming;
    const verdict = await talk.flow.fire('HTTP_REQUEST', { method, uri: url, version: httpVersion }, headers);
    if (verdict.end || verdict.respond) return endClient(duplex, verdict.end ?? 'drop');
    const target = talk.flow.select(cookiesOf(headers));
    const server = target && (await dial(target));
    if (!target || !server) return endClient(duplex, 'reset');
    talk.flow.open(target, () => endClient(duplex, 'reset'));
    const lines = applyEdits(headers, verdict.edits).map(([name, value]) => `${name}: ${value}\r\n`);
    server.write(Buffer.concat([Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), head]));
    join(duplex, server);
  }
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
