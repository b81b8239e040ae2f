// How a request reaches the API server: over HTTP(S) with undici, or as a function call in one process.
import { Agent, request } from 'undici';

export interface Sent {
  method: string;
  /** Path and query, starting with a slash. */
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface Received {
  status: number;
  retryAfter: string | null;
  text(): Promise<string>;
  /** The body as it comes, for watches. */
  chunks: AsyncIterable<Uint8Array>;
}

export interface Transport {
  send(sent: Sent): Promise<Received>;
  close(): Promise<void>;
}

/** Which server, and who we are there. `ca`, `cert` and `key` are PEM texts. */
export interface Credentials {
  server: string;
  token?: string | undefined;
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** Requests and watches use pools of their own: a hundred idle watches must not hold back a write. */
export function overHttp({ server, token, ca, cert, key }: Credentials): Transport {
  const root = new URL(server);
  const connect = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const calls = new Agent({ connect, connections: 32, bodyTimeout: 60_000, headersTimeout: 60_000 });
  const watches = new Agent({ connect, bodyTimeout: 0, headersTimeout: 60_000 });
  const prefix = root.pathname.replace(/\/$/, '');

  return {
    async send({ method, path, headers, body, signal }) {
      const answer = await request(`${root.origin}${prefix}${path}`, {
        method: method as 'GET',
        headers: token ? { ...headers, authorization: `Bearer ${token}` } : headers,
        body: body ?? null,
        dispatcher: /[?&]watch=/.test(path) ? watches : calls,
        ...(signal && { signal }),
      });
      const after = answer.headers['retry-after'];
      return {
        status: answer.statusCode,
        retryAfter: typeof after === 'string' ? after : null,
        text: () => answer.body.text(),
        chunks: answer.body,
      };
    },
    async close() {
      await Promise.all([calls.destroy(), watches.destroy()]);
    },
  };
}

/** `answer` is any function with the shape of fetch, such as an API server in this process. */
export function overFetch({ server, token }: Credentials, answer: (request: Request) => Promise<Response>): Transport {
  return {
    async send({ method, path, headers, body, signal }) {
      // A server in this process may answer without ever leaving the microtask queue; a burst of requests would
      // then keep every socket of the process waiting until it is over.
      await new Promise((turn) => setImmediate(turn));
      const response = await answer(
        new Request(server.replace(/\/$/, '') + path, {
          method,
          headers: token ? { ...headers, authorization: `Bearer ${token}` } : headers,
          ...(body !== undefined && { body }),
          ...(signal && { signal }),
        }),
      );
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        text: () => response.text(),
        chunks: response.body ?? nothing(),
      };
    },
    async close() {},
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
