// The client over `fetch`, as in a browser, and over a server that is a function.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { kube } from './client.ts';
import { configMaps } from './kinds.ts';
import { configMap } from './scripted.ts';
import { fetchSend } from './send.ts';
import { store } from './store.ts';

test('a request reaches the function whole, and its answer comes back', async () => {
  const seen: unknown[] = [];
  const answer = async (request: Request) => {
    seen.push([request.method, request.url, request.headers.get('content-type'), await request.json()]);
    return Response.json(configMap('a', '2'), { status: 201 });
  };
  const client = kube({ server: 'http://kube.test', send: fetchSend(answer), clock: fakeClock(), random: () => 0 });
  expect(await client.create(configMaps, configMap('a', '1'))).toEqual({ ok: true, value: configMap('a', '2') });
  expect(seen).toEqual([
    ['POST', 'http://kube.test/api/v1/namespaces/shop/configmaps', 'application/json', configMap('a', '1')],
  ]);
});

test('an abort ends a stream of a function that knows nothing of signals, and tells it', async () => {
  let cancelled = false;
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        const end = { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } };
        controller.enqueue(new TextEncoder().encode(`${JSON.stringify({ type: 'BOOKMARK', object: end })}\n`));
      },
      cancel: () => void (cancelled = true),
    });
  const send = fetchSend(() => Promise.resolve(new Response(body())));
  const clock = fakeClock();
  const copy = store(kube({ server: 'http://kube.test', send, clock, random: () => 0 }), configMaps);
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  await copy.ready();
  stop.abort();
  await running;
  expect([cancelled, clock.sleeping]).toEqual([true, 0]);
});

test('an abort ends the wait for a function that never answers', async () => {
  const send = fetchSend(() => new Promise(() => {}));
  const clock = fakeClock();
  const stop = new AbortController();
  const running = store(kube({ server: 'http://kube.test', send, clock, random: () => 0 }), configMaps).run(
    stop.signal,
  );
  await clock.advance(0);
  stop.abort();
  await running;
  expect(clock.sleeping).toBe(0);
});
