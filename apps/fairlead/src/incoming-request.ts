// A Request over what node received. Its parts are made when they are asked for: a whole Request, with its URL parsed and
// its AbortController wired, costs more than answering most requests does.
import type { IncomingMessage } from 'node:http';

export interface Incoming {
  incoming: IncomingMessage;
  /** `https://host/path?query`, known to parse. */
  url: string;
  /** Calls back when the client has gone before it was answered. */
  gone(listener: () => void): void;
}

/*
   part                 | made from
   ---------------------+------------------------------------------
   method, url          | the request line and the Host header
   headers, body, signal| node's message, when first asked for
   arrayBuffer          | node's message, where its body was not asked for
   everything else      | a real Request of these, likewise
*/
export function incomingRequest(parts: Incoming): Request {
  const request = Object.create(Delegate) as Request & { [source]: Parts };
  request[source] = new Parts(parts);
  return request;
}

const source = Symbol('source');

class Parts {
  readonly url: string;
  readonly method: string;
  readonly #parts: Incoming;
  #headers: Headers | undefined;
  #body: ReadableStream<Uint8Array> | undefined;
  #signal: AbortSignal | undefined;
  #whole: Request | undefined;
  #isTaken = false;

  constructor(parts: Incoming) {
    this.#parts = parts;
    this.url = parts.url;
    this.method = parts.incoming.method ?? 'GET';
  }

  get headers(): Headers {
    return (this.#headers ??= headersOf(this.#parts.incoming));
  }

  get body(): ReadableStream<Uint8Array> | null {
    // A whole one has taken the body over, and may have split it in two.
    if (this.#whole) return this.#whole.body;
    if (this.method === 'GET' || this.method === 'HEAD') return null;
    return (this.#body ??= bodyOf(this.#parts.incoming));
  }

  get signal(): AbortSignal {
    if (!this.#signal) {
      const controller = new AbortController();
      this.#parts.gone(() => controller.abort());
      this.#signal = controller.signal;
    }
    return this.#signal;
  }

  /** A body that is wanted whole needs no stream around it. */
  readonly arrayBuffer = async (): Promise<ArrayBuffer> => {
    if (this.#whole || this.#body) return this.whole.arrayBuffer();
    if (this.#isTaken) throw new TypeError('the body has been read');
    this.#isTaken = true;
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#parts.incoming) chunks.push(chunk as Uint8Array);
    // Copied into one of its own: what node reads into, it shares among messages.
    return new Uint8Array(Buffer.concat(chunks)).buffer;
  };

  get whole(): Request {
    const { method, headers, signal, body } = this;
    return (this.#whole ??= new Request(this.url, {
      method,
      headers,
      signal,
      ...(body ? { body, duplex: 'half' } : {}),
    }));
  }
}

const own = new Set(['url', 'method', 'headers', 'body', 'signal', 'arrayBuffer']);

/** Request.prototype with every property answered from the parts; `instanceof Request` holds. */
const Delegate: object = Object.create(Request.prototype, delegates());

function delegates(): PropertyDescriptorMap {
  const out: PropertyDescriptorMap = {};
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Request.prototype))) {
    if (name === 'constructor') continue;
    out[name] = {
      configurable: true,
      get(this: { [source]: Parts }) {
        const parts = this[source];
        if (own.has(name)) return Reflect.get(parts, name);
        const found: unknown = Reflect.get(parts.whole, name);
        return typeof value === 'function' && typeof found === 'function' ? found.bind(parts.whole) : found;
      },
    };
  }
  return out;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  return headers;
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
