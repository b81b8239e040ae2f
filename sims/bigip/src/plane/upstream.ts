// The side of an HTTP conversation towards servers: one connection, kept while the member stays the same.

import {
  Agent,
  request as sendRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as TlsAgent, request as sendTls } from 'node:https';
import type { Flow, Headers, Target } from './flow.ts';
import { flat, forwardable } from './http-headers.ts';

/** A request as the rules left it, ready to be sent. The body is what is still to come of `incoming`. */
export interface Outbound {
  incoming: IncomingMessage;
  method: string;
  uri: string;
  headers: Headers;
}

// Without a body these need not say so (RFC 9110 §8.6).
const bodiless = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

export class Upstream {
  #flow: Flow;
  #agent: Agent | undefined;
  #asked: ClientRequest | undefined;
  /** Ends the client connection when the member is removed. */
  #reset: () => void;

  constructor(flow: Flow, reset: () => void) {
    this.#flow = flow;
    this.#reset = reset;
  }

  /** Sends the request to the member; the answer's head, or nothing when it cannot be had. Throws on a request that is none. */
  ask(outbound: Outbound, target: Target, isTls: boolean): Promise<IncomingMessage | undefined> {
    this.#turnTo(target, isTls);
    return this.#send(outbound, target, { isTls, isRetry: false });
  }

  /** The client has gone. */
  close(): void {
    this.#asked?.destroy();
    this.#agent?.destroy();
  }

  #turnTo(target: Target, isTls: boolean): void {
    if (this.#agent && this.#flow.target === target) return;
    this.#agent?.destroy();
    const settings = { keepAlive: true, maxSockets: 1 };
    // Like the device, which does not ask servers for a name it could check.
    this.#agent = isTls ? new TlsAgent({ ...settings, rejectUnauthorized: false }) : new Agent(settings);
    this.#flow.open(target, this.#reset);
  }

  #send(
    outbound: Outbound,
    target: Target,
    how: { isTls: boolean; isRetry: boolean },
  ): Promise<IncomingMessage | undefined> {
    const { incoming, method, uri } = outbound;
    const isBodied = hasBody(incoming);
    const headers = forwardable(outbound.headers);
    if (!isBodied && !bodiless.has(method)) headers.push(['Content-Length', '0']);
    return new Promise((resolve) => {
      const options: RequestOptions = {
        ...target.place,
        method,
        path: uri,
        agent: this.#agent,
        headers: flat(headers),
        setHost: false,
      };
      const asked = how.isTls ? sendTls(options) : sendRequest(options);
      this.#asked = asked;
      asked.once('response', resolve);
      asked.once('error', () => {
        // The member closed an idle connection while we were writing to it: that request was never seen.
        if (asked.reusedSocket && !isBodied && !how.isRetry)
          resolve(this.#send(outbound, target, { ...how, isRetry: true }));
        else resolve(undefined);
      });
      if (isBodied) incoming.pipe(asked);
      else asked.end();
    });
  }
}
