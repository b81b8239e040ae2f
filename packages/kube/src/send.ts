// The way to a server as one function, so that Node, a browser and a server in memory look the same to the client.

export interface SendRequest {
  method: string;
  /** Absolute. */
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Aborting ends the exchange, and a body that is being read. */
  signal?: AbortSignal | undefined;
  /** A watch: stays open for minutes, so it must not take the place of short calls. */
  stream?: boolean | undefined;
}

export interface SendResponse {
  status: number;
  headers: { get(name: string): string | null };
  /** Read this or `text`, once. */
  body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

/** Sends one request. Rejects when no answer came; any answer, whatever its status, is a value. */
export type Send = (request: SendRequest) => Promise<SendResponse>;

/** Sends by a `fetch`: the browser's, or the `answer` of a server in this process. */
export function fetchSend(fetch: (request: Request) => Promise<Response>): Send {
  return async ({ method, url, headers, body, signal }) => {
    const init = { method, headers, signal: signal ?? null };
    const request = new Request(url, body === undefined ? init : { ...init, body });
    const response = await endedBy(fetch(request), signal);
    return {
      status: response.status,
      headers: response.headers,
      body: bytes(response.body, signal),
      text: () => endedBy(response.text(), signal),
    };
  };
}

/** `promise`, or a rejection when `signal` aborts: a `fetch` in memory need not know of signals. */
function endedBy<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(new Error('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    // Also when it is too late: a rejection that nobody hears would end the program.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

// Not every browser can iterate a stream, and cancelling the reader is what ends a read that waits.
async function* bytes(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  // A stream that broke by itself rejects its cancel with the same error that the read below throws.
  const cancel = () => void reader.cancel().catch(() => undefined);
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}
