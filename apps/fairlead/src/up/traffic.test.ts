import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { clientAddress, greeting, measure } from './traffic.ts';

test('every client has an address of its own, none of them a network or broadcast address', () => {
  const all = new Set(Array.from({ length: 100_000 }, (_, n) => clientAddress(n)));
  expect(all.size).toBe(100_000);
  expect([...all].filter((a) => /\.(0|255)$/.test(a))).toEqual([]);
});

test('answers are counted by Service, and what is no answer by its reason', async () => {
  const seen = new Set<string>();
  const server = createServer((asked, answer) => {
    seen.add(asked.socket.remoteAddress ?? '');
    if (asked.headers['x-fail']) answer.writeHead(503).end();
    else answer.writeHead(200, { 'x-service': seen.size % 2 ? 'a' : 'b', 'x-pod': 'p' }).end('ok');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  expect((await measure(target, {}, 0, 50)).counts).toEqual({ a: 25, b: 25 });
  expect(seen.size).toBe(50);
  expect([...(await measure(target, { 'x-fail': '1' }, 0, 3)).wrong]).toEqual([['HTTP 503', 3]]);
  await new Promise((done) => server.close(done));
  expect([...(await measure(target, {}, 0, 2)).wrong.keys()]).toEqual(['ECONNREFUSED']);
});

test('a greeting is the first line', async () => {
  const server = createTcpServer((socket) => socket.end('hello\nrest\n'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  expect(await greeting({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, '127.64.0.1')).toEqual({
    line: 'hello',
  });
  await new Promise((done) => server.close(done));
});
