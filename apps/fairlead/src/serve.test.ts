// The adapter between node's sockets and functions from Request to Response.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { request as secureRequest } from 'node:https';
import { authority, issue } from '@fairlead/apiserver';
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

test('a body is read whole once, with or without a stream around it', async () => {
  const twice = async (asked: Request) => {
    const first = Buffer.from(await asked.arrayBuffer()).toString();
    const second = await asked.arrayBuffer().then(
      () => 'again',
      (error: unknown) => (error instanceof TypeError ? 'once' : String(error)),
    );
    return new Response(`${first} ${second}`);
  };
  const streamed = async (asked: Request) => {
    const { body } = asked;
    return new Response(`${Buffer.from(await asked.arrayBuffer()).toString()} ${body ? 'streamed' : ''}`);
  };
  for (const [answer, expected] of [
    [twice, 'hello once'],
    [streamed, 'hello streamed'],
  ] as const) {
    const served = await serve(answer, local);
    const reply = await fetch(served.url, { method: 'POST', body: 'hello' });
    expect(await reply.text()).toBe(expected);
    await served.close();
  }
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

test('the certificate a client shows is passed on, and a client without one is passed on without', async () => {
  const now = Date.now();
  const ca = await authority('test', now);
  const server = await issue(ca, { commonName: 'server', addresses: ['127.0.0.1'], usage: 'server' }, now);
  const client = await issue(ca, { commonName: 'ann', usage: 'client' }, now);
  const subject = (der: Uint8Array | undefined) => (der ? new X509Certificate(der).subject : 'nobody');
  const served = await serve(async (_, { certificate }) => new Response(subject(certificate)), {
    ...local,
    tls: { ...server, requestCert: true, rejectUnauthorized: false },
  });
  const ask = async (shown: object): Promise<string> => {
    const [reply] = (await once(
      secureRequest(served.url, { ca: ca.cert, agent: false, ...shown }).end(),
      'response',
    )) as [IncomingMessage];
    return (await reply.toArray()).join('');
  };
  expect([await ask(client), await ask({})]).toEqual(['CN=ann', 'nobody']);
  await served.close();
});

test('parts of a Request that are seldom asked for are there, and it is one', async () => {
  const served = await serve(async (asked) => {
    const copy = asked.clone();
    const said = [
      asked instanceof Request,
      asked.redirect,
      await copy.json(),
      asked.bodyUsed,
      await asked.text(),
      asked.bodyUsed,
    ];
    return Response.json(said);
  }, local);
  const reply = await fetch(served.url, { method: 'PUT', body: '{"a":1}' });
  expect(await reply.json()).toEqual([true, 'follow', { a: 1 }, false, '{"a":1}', true]);
  await served.close();
});

test('a body of many pieces arrives whole, and headers go out before the first piece is there', async () => {
  let start: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (start = resolve));
  let count = 0;
  const served = await serve(
    async () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await started;
            controller.enqueue(new Uint8Array(100_000));
            if (++count === 50) controller.close();
          },
        }),
      ),
    local,
  );
  const reply = await fetch(served.url);
  expect(reply.status).toBe(200);
  start();
  expect((await reply.arrayBuffer()).byteLength).toBe(5_000_000);
  await served.close();
});
