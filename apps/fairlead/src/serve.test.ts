// The adapter between node's sockets and functions from Request to Response.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { serve } from './serve.ts';

const local = { host: '127.0.0.1', port: 0 };

test('method, path, headers and bodies pass both ways', async () => {
  const served = await serve(async (asked) => {
    const text = `${asked.method} ${new URL(asked.url).pathname} ${asked.headers.get('x-a') ?? ''} ${await asked.text()}`;
    return new Response(text, {
      status: 201,
      headers: [
        ['x-b', '1'],
        ['warning', 'one'],
        ['warning', 'two'],
      ],
    });
  }, local);
  const reply = await fetch(`${served.url}/some/path`, { method: 'POST', headers: { 'x-a': 'b' }, body: 'hello' });
  expect([reply.status, reply.headers.get('x-b'), reply.headers.get('warning'), await reply.text()]).toEqual([
    201,
    '1',
    'one, two',
    'POST /some/path b hello',
  ]);
  await served.close();
});

test('a streamed body arrives piece by piece, and a client that goes away aborts the request', async () => {
  let aborted: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (aborted = resolve));
  const served = await serve(async (asked) => {
    asked.signal.addEventListener('abort', () => aborted());
    return new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('first\n')) }),
    );
  }, local);
  const stop = new AbortController();
  const reply = await fetch(served.url, { signal: stop.signal });
  const first = await reply.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe('first\n');
  stop.abort();
  await gone;
  await served.close();
});

test('a slow client holds the stream back', async () => {
  let made = 0;
  const chunk = new Uint8Array(1024 * 1024);
  const body = () =>
    new ReadableStream(
      {
        pull(controller) {
          made++;
          controller.enqueue(chunk);
          if (made === 200) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  const served = await serve(async () => new Response(body()), local);
  await new Promise<void>((resolve) => {
    const asking = request(served.url, (reply) => {
      // Nothing reads the reply: the sockets' buffers fill, and no more may be made.
      reply.once('readable', () => {
        expect(made).toBeLessThan(100);
        asking.destroy();
        resolve();
      });
    });
    asking.end();
  });
  await served.close();
});

test('a host header that is no host is answered with 400', async () => {
  const served = await serve(async () => new Response('never'), local);
  const code = await new Promise((resolve) => {
    request(served.url, { headers: { host: 'a b' } }, (reply) => resolve(reply.resume().statusCode)).end();
  });
  expect(code).toBe(400);
  await served.close();
});
