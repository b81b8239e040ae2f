// Monitors that really look: when a member is checking, up and down, and what each sort of monitor takes for an answer.
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeAdc, makeBackend, makeClock, makeDevice, makeHttp, makePool, boundAt, get } from '../make.ts';
import type { Json } from '../rest/body.ts';

const clock = makeClock();
const device = makeDevice({ clock });
const { sim, declare } = device;
afterEach(() => device.ask('DELETE', '/mgmt/shared/appsvcs/declare'));
afterAll(() => sim.close());

const state = (port: number) => sim.member('/T1/app/web_pool', `127.0.0.1:${port}`)?.state;
const becomes = (port: number, wanted: string) => sim.until(() => state(port) === wanted);
const withMonitor = (port: number, monitors: unknown[], items: Json = {}): Json =>
  makeAdc({ vs: makeHttp('20.31.6.10'), web_pool: makePool([{ port }], { monitors }), ...items });

/** A port that answers whatever it is sent with `text`. */
async function makeAnswerer(text: string): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A port where nothing listens. */
async function makeClosed(): Promise<number> {
  const backend = await makeBackend('closed');
  await backend.close();
  return backend.port;
}

test('a member is checking and usable until its first result', async () => {
  const backend = await makeBackend('web');
  await declare(withMonitor(backend.port, ['http']));
  expect(['checking', 'up']).toContain(state(backend.port));
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('web');
  await becomes(backend.port, 'up');
  await backend.close();
});

test('a member whose first look fails is down, and takes nothing', async () => {
  const port = await makeClosed();
  await declare(withMonitor(port, ['tcp']));
  await becomes(port, 'down');
  await expect(get(boundAt(sim, '/T1/app/vs'))).rejects.toThrow('ECONNRESET');
});

test('one that was up is down only after the timeout, and up again at the first success', async () => {
  const backend = await makeBackend('web');
  await declare(
    withMonitor(backend.port, [{ use: 'quick' }], {
      quick: { class: 'Monitor', monitorType: 'tcp', interval: 2, timeout: 7 },
    }),
  );
  await becomes(backend.port, 'up');
  await backend.close();
  await clock.advance(4000);
  expect(state(backend.port)).toBe('up');
  const down = becomes(backend.port, 'down');
  for (let i = 0; i < 20 && state(backend.port) === 'up'; i += 1) await clock.advance(1000);
  await down;
  const again = await makeBackend('again', backend.port);
  const up = becomes(backend.port, 'up');
  for (let i = 0; i < 20 && state(backend.port) === 'down'; i += 1) await clock.advance(1000);
  await up;
  await again.close();
});

const answers: [sort: string, monitor: Json, text: string, wanted: string][] = [
  [
    'http that finds its string',
    { monitorType: 'http', send: 'GET /health HTTP/1.0\\r\\n\\r\\n', receive: '200 OK' },
    'HTTP/1.0 200 OK\r\n\r\n',
    'up',
  ],
  ['http that finds another', { monitorType: 'http', receive: '200 OK' }, 'HTTP/1.0 500 No\r\n\r\n', 'down'],
  ['http that gets no answer', { monitorType: 'http' }, '', 'down'],
  ['tcp that finds its string', { monitorType: 'tcp', send: 'hello', receive: '^w.rld' }, 'world', 'up'],
  ['tcp that finds another', { monitorType: 'tcp', send: 'hello', receive: 'world' }, 'no', 'down'],
  ['tcp-half-open', { monitorType: 'tcp-half-open' }, '', 'up'],
  ['https against plain text', { monitorType: 'https' }, 'HTTP/1.0 200 OK\r\n\r\n', 'down'],
  ['icmp', { monitorType: 'icmp' }, '', 'up'],
];

test.each(answers)('%s', async (_, monitor, text, wanted) => {
  const answerer = await makeAnswerer(text);
  await declare(withMonitor(answerer.port, [{ use: 'own' }], { own: { class: 'Monitor', ...monitor } }));
  await becomes(answerer.port, wanted);
  await answerer.close();
});

test('with two monitors one is enough unless all are asked for', async () => {
  const backend = await makeBackend('web');
  const two = { monitors: ['http', { use: 'never' }] };
  const never = { never: { class: 'Monitor', monitorType: 'tcp', send: 'x', receive: 'never' } };
  await declare(makeAdc({ web_pool: makePool([backend], two), ...never }));
  await becomes(backend.port, 'up');
  await declare(makeAdc({ web_pool: makePool([backend], { ...two, minimumMonitors: 'all' }), ...never }));
  await becomes(backend.port, 'down');
  await backend.close();
});

test('an edited monitor looks anew, and a pool without one is unchecked', async () => {
  const port = await makeClosed();
  await declare(withMonitor(port, [{ use: 'own' }], { own: { class: 'Monitor', monitorType: 'tcp' } }));
  await becomes(port, 'down');
  await declare(withMonitor(port, [{ use: 'own' }], { own: { class: 'Monitor', monitorType: 'icmp' } }));
  await becomes(port, 'up');
  await declare(withMonitor(port, []));
  expect(state(port)).toBe('unchecked');
});
