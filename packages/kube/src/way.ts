// The way to a kubeconfig's server for programs with a client of their own: a fetch that has its certificates and
// credentials, and no more.
import type { Auth } from './call.ts';
import type { Send, SendResponse } from './send.ts';

/** Sends requests as they are, with `auth` added; again with other credentials when the server refuses these. */
export function authorizedFetch(send: Send, auth: Auth): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = request.body ? await request.text() : undefined;
    const once = async (credentials: Record<string, string>): Promise<SendResponse> =>
      send({
        method: request.method,
        url: request.url,
        headers: { ...Object.fromEntries(request.headers), ...credentials },
        body,
        signal: request.signal,
        stream: /[?&]watch=/.test(request.url),
      });
    const first = await headersOf(auth);
    const answer = await once(first);
    if (answer.status !== 401 || !auth.refused(first)) return responseOf(answer);
    await answer.text();
    return responseOf(await once(await headersOf(auth)));
  };
}

/** As a fetch does, it rejects when the request cannot be made. */
async function headersOf(auth: Auth): Promise<Record<string, string>> {
  const headers = await auth.headers();
  if (!headers.ok) throw new Error(headers.problem.message);
  return headers.value;
}

const empty = [204, 205, 304];
const passed = ['content-type', 'retry-after', 'warning'];

function responseOf({ status, headers, body }: SendResponse): Response {
  const kept = passed.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(empty.includes(status) ? null : streamOf(body), { status, headers: kept });
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await chunks.return?.()),
    },
    { highWaterMark: 0 },
  );
}
