// HTTP virtual servers with real clients and real servers: rules, balance, persistence, drain, and what breaks.
import { Agent, createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { boundAt, get, makeAdc, makeBackend, makeDevice, makeHttp, makePool, type Backend } from '../make.ts';
import type { Json } from '../rest/body.ts';

const device = makeDevice();
const { sim, declare } = device;
let one: Backend;
let two: Backend;
beforeAll(async () => {
  [one, two] = await Promise.all([makeBackend('one'), makeBackend('two')]);
});
afterEach(() => device.ask('DELETE', '/mgmt/shared/appsvcs/declare'));
afterAll(async () => {
  await sim.close();
  await Promise.all([one.close(), two.close()]);
});

const rule = (iRule: string): Json => ({ class: 'iRule', expand: false, iRule });
const members = '/mgmt/tm/ltm/pool/~T1~app~web_pool/members';
const nameOf = ({ port }: Backend) => `~T1~127.0.0.1:${port}`;

async function web(more: Json = {}, items: Json = {}, pool: Json = {}): Promise<{ host: string; port: number }> {
  const { status, json } = await declare(
    makeAdc({ vs: makeHttp('20.31.4.10', more), web_pool: makePool([one, two], pool), ...items }),
  );
  expect(JSON.stringify(json['results'] ?? json)).toContain(status === 200 ? 'success' : 'never');
  return boundAt(sim, '/T1/app/vs');
}

async function texts(count: number, ask: () => Promise<{ text: string }>): Promise<string[]> {
  const all: string[] = [];
  for (let i = 0; i < count; i += 1) all.push((await ask()).text);
  return all;
}

test('requests go round the members, with method, headers and body as sent', async () => {
  const at = await web();
  expect((await texts(4, () => get(at))).sort()).toEqual(['one', 'one', 'two', 'two']);
  one.requests.length = 0;
  two.requests.length = 0;
  const answer = await get(at, {
    method: 'POST',
    path: '/a?b=c',
    headers: { Host: 'shop.test', 'X-Two': ['1', '2'] },
    body: 'x'.repeat(100_000),
  });
  expect(answer).toMatchObject({ status: 200, headers: { 'x-backend': expect.stringMatching(/one|two/) } });
  const [seen] = [...one.requests, ...two.requests];
  expect(seen).toMatchObject({ method: 'POST', url: '/a?b=c', headers: { host: 'shop.test', 'x-two': '1, 2' } });
  expect(seen?.body).toHaveLength(100_000);
  expect(seen?.headers['x-forwarded-for']).toBeUndefined();
});

test('a profile inserts X-Forwarded-For with the address of the client', async () => {
  const at = await web({ profileHTTP: { use: 'xff' } }, { xff: { class: 'HTTP_Profile', xForwardedFor: true } });
  one.requests.length = 0;
  two.requests.length = 0;
  await get(at, { from: '127.31.9.1' });
  expect([...one.requests, ...two.requests][0]?.headers['x-forwarded-for']).toBe('127.31.9.1');
});

test('on a connection that stays, the pool a rule chose stays until another is chosen', async () => {
  const text =
    'when HTTP_REQUEST { if { [HTTP::path] equals "/one" } { pool one_pool } elseif { [HTTP::path] equals "/two" } { pool two_pool } }';
  const at = await web(
    { iRules: ['r1'], pool: 'one_pool' },
    { r1: rule(text), one_pool: makePool([one]), two_pool: makePool([two]) },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const path = (name: string) =>
    new Promise<string>((resolve, fail) => {
      ask({ ...at, path: name, agent }, (incoming) => {
        let all = '';
        incoming.on('data', (part) => (all += String(part)));
        incoming.on('end', () => resolve(all));
      })
        .on('error', fail)
        .end();
    });
  const seen: string[] = [];
  for (const name of ['/x', '/two', '/x', '/one', '/x']) seen.push(await path(name));
  expect(seen).toEqual(['one', 'two', 'two', 'one', 'one']);
  agent.destroy();
});

test('of node and pool the last one said counts', async () => {
  const text = `when HTTP_REQUEST {
    if { [HTTP::path] equals "/pool" } { node 127.0.0.1 ${two.port}; pool one_pool } else { pool one_pool; node 127.0.0.1 ${two.port} }
  }`;
  const at = await web({ iRules: ['r1'] }, { r1: rule(text), one_pool: makePool([one]) });
  expect([(await get(at, { path: '/pool' })).text, (await get(at, { path: '/node' })).text]).toEqual(['one', 'two']);
});

test('pipelined requests are answered in their order', async () => {
  const text = 'when HTTP_REQUEST { if { [HTTP::path] equals "/two" } { pool two_pool } else { pool one_pool } }';
  const at = await web({ iRules: ['r1'] }, { r1: rule(text), one_pool: makePool([one]), two_pool: makePool([two]) });
  const socket = connect(at);
  const answer = await new Promise<string>((resolve) => {
    let all = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      all += part;
      if ((all.match(/HTTP\/1.1 200/g) ?? []).length === 3 && all.endsWith('one')) resolve(all);
    });
    socket.write(
      'GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\n\r\nGET /one HTTP/1.1\r\nHost: a\r\n\r\n',
    );
  });
  expect(answer.match(/X-Backend: \w+/g)).toEqual(['X-Backend: one', 'X-Backend: two', 'X-Backend: one']);
  socket.destroy();
});

test('a rule answers, redirects, edits what passes, and rejects', async () => {
  const text = `when HTTP_REQUEST {
    switch [HTTP::path] {
      "/sorry" { HTTP::respond 503 content "sorry {x}" "Retry-After" 5 }
      "/moved" { HTTP::redirect "https://[HTTP::host]/new" }
      "/reject" { reject }
      default {
        HTTP::header insert X-Client [IP::client_addr]
        HTTP::header remove X-Gone
        HTTP::header replace Host inner.test
        HTTP::uri "/v2[HTTP::uri]"
      }
    }
  }
  when HTTP_RESPONSE { HTTP::header insert X-Status [HTTP::status]; HTTP::header remove X-Backend }`;
  const at = await web({ iRules: ['r1'] }, { r1: rule(text) });
  expect(await get(at, { path: '/sorry' })).toMatchObject({
    status: 503,
    text: 'sorry {x}',
    headers: { 'retry-after': '5' },
  });
  expect(await get(at, { path: '/moved', headers: { Host: 'h' } })).toMatchObject({
    status: 302,
    headers: { location: 'https://h/new' },
  });
  await expect(get(at, { path: '/reject' })).rejects.toThrow('ECONNRESET');
  one.requests.length = 0;
  two.requests.length = 0;
  const answer = await get(at, { path: '/p?q=1', headers: { 'X-Gone': '1', Host: 'outer.test' }, from: '127.31.9.2' });
  expect(answer.headers).toMatchObject({ 'x-status': '200' });
  expect(answer.headers['x-backend']).toBeUndefined();
  expect([...one.requests, ...two.requests][0]).toMatchObject({
    url: '/v2/p?q=1',
    headers: { host: 'inner.test', 'x-client': '127.31.9.2' },
  });
});

test('a rule that fails resets the connection and says why in the log', async () => {
  const at = await web({ iRules: ['r1'] }, { r1: rule('when HTTP_REQUEST { set x $missing }') });
  await expect(get(at)).rejects.toThrow('ECONNRESET');
  expect(sim.log.at(-1)).toMatch(/TCL error: \/T1\/app\/r1 <HTTP_REQUEST> - can't read "missing"/);
});

test('a chosen pool without members resets the connection; LB_FAILED may answer or choose another', async () => {
  const empty = { empty_pool: makePool([]) };
  const at = await web({ iRules: ['r1'] }, { ...empty, r1: rule('when HTTP_REQUEST { pool empty_pool }') });
  await expect(get(at)).rejects.toThrow('ECONNRESET');
  await web(
    { iRules: ['r1'] },
    { ...empty, r1: rule('when HTTP_REQUEST { pool empty_pool }\nwhen LB_FAILED { HTTP::respond 503 content none }') },
  );
  expect(await get(at)).toMatchObject({ status: 503, text: 'none' });
  await web(
    { iRules: ['r1'] },
    { ...empty, r1: rule('when HTTP_REQUEST { pool empty_pool }\nwhen LB_FAILED { pool web_pool }') },
  );
  expect((await get(at)).status).toBe(200);
});

test('active_members follows the members at once', async () => {
  const at = await web(
    { iRules: ['r1'] },
    { r1: rule('when HTTP_REQUEST { HTTP::respond 200 content [active_members web_pool] }') },
  );
  expect((await get(at)).text).toBe('2');
  await device.ask('PATCH', `${members}/${nameOf(one)}`, { session: 'user-disabled' });
  expect((await get(at)).text).toBe('1');
});

test('a change of members is felt by the very next connection', async () => {
  const at = await web();
  await device.ask('DELETE', `${members}/${nameOf(one)}`);
  expect(new Set(await texts(4, () => get(at)))).toEqual(new Set(['two']));
  await device.ask('POST', members, { name: `/T1/127.0.0.1:${one.port}` });
  await device.ask('DELETE', `${members}/${nameOf(two)}`);
  expect(new Set(await texts(4, () => get(at)))).toEqual(new Set(['one']));
});

test('a drained member keeps its connections and gets no new ones', async () => {
  const at = await web({}, { web_pool: makePool([one]) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const again = () =>
    new Promise<number>((resolve, fail) =>
      ask({ ...at, agent }, (incoming) => incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0)))
        .on('error', fail)
        .end(),
    );
  await again();
  await device.ask('PATCH', `${members}/${nameOf(one)}`, { session: 'user-disabled' });
  expect(await again()).toBe(200);
  await expect(get(at)).rejects.toThrow('ECONNRESET');
  expect(sim.member('/T1/app/web_pool', `127.0.0.1:${one.port}`)).toMatchObject({
    connections: 1,
    session: 'user-disabled',
  });
  agent.destroy();
});

const firstCookie = (headers: Json): string =>
  String((headers['set-cookie'] as string[] | undefined)?.[0] ?? '').split(';')[0] ?? '';

test('a cookie leads back to its member, also to a disabled one, not to one forced down', async () => {
  const at = await web({ persistenceMethods: ['cookie'] });
  const first = await get(at);
  const cookie = firstCookie(first.headers);
  expect(cookie).toMatch(/^BIGipServer~T1~app~web_pool=16777343\.\d+\.0000$/);
  const again = () => get(at, { headers: { Cookie: `a=b; ${cookie}` } });
  expect(new Set(await texts(4, again))).toEqual(new Set([first.text]));
  expect((await again()).headers['set-cookie']).toBeUndefined();
  const held = first.text === 'one' ? one : two;
  await device.ask('PATCH', `${members}/${nameOf(held)}`, { session: 'user-disabled' });
  expect((await again()).text).toBe(first.text);
  await device.ask('PATCH', `${members}/${nameOf(held)}`, { state: 'user-down' });
  const moved = await again();
  expect(moved.text).not.toBe(first.text);
  expect(firstCookie(moved.headers)).not.toBe(cookie);
});

test('a cookie of another pool is ignored', async () => {
  const at = await web({ persistenceMethods: ['cookie'], pool: 'one_pool' }, { one_pool: makePool([one]) });
  const cookie = `BIGipServer~T1~app~web_pool=${firstCookie((await get(at)).headers).split('=')[1] ?? ''}`;
  expect(firstCookie((await get(at, { headers: { Cookie: cookie } })).headers)).toContain('one_pool');
});

test('source addresses stay with their member', async () => {
  const at = await web({ persistenceMethods: ['source-address'] });
  const of = (from: string) => texts(3, () => get(at, { from }));
  expect(new Set(await of('127.31.9.3')).size).toBe(1);
  expect(new Set([...(await of('127.31.9.4')), ...(await of('127.31.9.5'))]).size).toBe(2);
});

test('a body that breaks off at the server does not look complete to the client', async () => {
  const broken = await makeBackend('broken');
  await broken.close();
  const server = createServer((_, outgoing) => {
    outgoing.writeHead(200, { 'Content-Length': '100' });
    outgoing.write('part', () => outgoing.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(broken.port, '127.0.0.1', resolve));
  const at = await web({ pool: 'broken_pool' }, { broken_pool: makePool([broken]) });
  await expect(get(at)).rejects.toThrow(/ECONNRESET|aborted/);
  await new Promise((resolve) => server.close(resolve));
});

test('an upgraded connection carries bytes both ways', async () => {
  const server = createServer();
  server.on('upgrade', (incoming, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n${incoming.headers.upgrade ?? ''}`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const at = await web({ pool: 'up_pool' }, { up_pool: makePool([{ port }]) });
  const socket = connect(at);
  const seen = await new Promise<string>((resolve) => {
    let all = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      all += part;
      if (all.endsWith('echo')) socket.write('ping');
      if (all.endsWith('ping')) resolve(all);
    });
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  });
  expect(seen).toContain('101 Switching Protocols');
  socket.destroy();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});

test('LB_SELECTED sees the member that was chosen', async () => {
  const text =
    'when LB_SELECTED { HTTP::header insert X-Member "[LB::server addr]:[LB::server port] [LB::server pool]" }';
  const at = await web({ iRules: ['r1'] }, { r1: rule(text), web_pool: makePool([one]) });
  one.requests.length = 0;
  await get(at);
  expect(one.requests[0]?.headers['x-member']).toBe(`127.0.0.1:${one.port} /T1/app/web_pool`);
});

test('an IPv6 virtual address is bound on loopback by its last bytes', async () => {
  const at = await web({ virtualAddresses: ['2001:db8::1f:409'] });
  expect(at.host).toBe('127.31.4.9');
  expect((await get(at)).status).toBe(200);
});

test('a header that cannot be written costs its connection and is logged', async () => {
  const at = await web(
    { iRules: ['r1'] },
    { r1: rule('when HTTP_REQUEST { HTTP::header insert X-Bad "a\\r\\nb: c" }') },
  );
  await expect(get(at)).rejects.toThrow('ECONNRESET');
  expect(sim.log.at(-1)).toContain('Invalid character in header');
});

test('hostile text in a request chooses a pool and does nothing else', async () => {
  const text =
    'when HTTP_REQUEST { if { [HTTP::header value X-Text] equals "a" } { pool web_pool } else { HTTP::respond 200 content [string length [HTTP::header value X-Text]] } }';
  const at = await web({ iRules: ['r1'] }, { r1: rule(text) });
  for (const hostile of ['"]; exec rm -rf /; [', '}{$x', '[exit]', '\\', '\u00e9']) {
    expect((await get(at, { headers: { 'X-Text': hostile } })).text).toBe(String(hostile.length));
  }
});
