// The device as a whole: who may ask, what goes wrong on order, and what survives a restart.
import { afterAll, expect, test } from 'vitest';
import { bigip } from './bigip.ts';
import { boundAt, get, makeAdc, makeBackend, makeClock, makeDevice, makeHttp, makePool } from './make.ts';
import type { Json } from './rest/body.ts';

const clock = makeClock();
const { sim, ask, declare } = makeDevice({ clock, users: { admin: 'admin', guest: 'secret' } });
afterAll(() => sim.close());

const from = (authorization: string | undefined, headers: Record<string, string> = {}) =>
  sim.fetch('http://d/mgmt/shared/appsvcs/info', {
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
  });

test("Basic passwords are asked for, and wrong ones answered with 401 in the framework's shape", async () => {
  expect((await from(`Basic ${btoa('guest:secret')}`)).status).toBe(200);
  for (const wrong of [
    undefined,
    'Basic x',
    `Basic ${btoa('admin:no')}`,
    `Basic ${btoa('constructor:x')}`,
    'Bearer x',
  ]) {
    const response = await from(wrong);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 401, kind: ':resterrorresponse', referer: 'd' });
  }
});

const login = (username: string, password: string) =>
  ask('POST', '/mgmt/shared/authn/login', { username, password, loginProviderName: 'tmos' });

test('a token works until it ends, and can be lengthened and dropped', async () => {
  expect((await login('admin', 'wrong')).status).toBe(401);
  const { json } = await login('admin', 'admin');
  const { token, timeout } = json['token'] as Json;
  expect(timeout).toBe(1200);
  const use = async () => (await from(undefined, { 'X-F5-Auth-Token': String(token) })).status;
  expect(await use()).toBe(200);
  const path = `/mgmt/shared/authz/tokens/${String(token)}`;
  expect((await ask('PATCH', path, { timeout: 36_001 })).status).toBe(400);
  expect((await ask('PATCH', path, { timeout: 3600 })).json).toMatchObject({ timeout: 3600 });
  await clock.advance(3_500_000);
  expect(await use()).toBe(200);
  await clock.advance(200_000);
  expect(await use()).toBe(401);
  const again = String(((await login('admin', 'admin')).json['token'] as Json)['token']);
  expect((await ask('DELETE', `/mgmt/shared/authz/tokens/${again}`)).status).toBe(200);
  expect((await from(undefined, { 'X-F5-Auth-Token': again })).status).toBe(401);
});

test('a user that is not admin has a hundred tokens at most', async () => {
  for (let i = 0; i < 100; i += 1) expect((await login('guest', 'secret')).status).toBe(200);
  expect((await login('guest', 'secret')).status).toBe(400);
});

test('AS3 shows its versions', async () => {
  expect((await ask('GET', '/mgmt/shared/appsvcs/info')).json).toMatchObject({
    version: '3.56.0',
    schemaCurrent: '3.56.0',
    schemaMinimum: '3.0.0',
  });
});

test('faults come in order, once each, and only for what they are meant for', async () => {
  const info = () => ask('GET', '/mgmt/shared/appsvcs/info');
  sim.failNext({ kind: 'unauthorized' }, { kind: 'unavailable' }, { kind: 'unregistered' });
  expect([(await info()).status, (await info()).status, (await info()).json['message'], (await info()).status]).toEqual(
    [401, 503, expect.stringContaining('not registered'), 200],
  );
  sim.failNext({ kind: 'html' });
  const page = await sim.fetch('http://d/mgmt/tm/ltm/pool');
  expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html']);
  sim.failNext({ kind: 'reset' });
  await expect(info()).rejects.toThrow('fetch failed');
  sim.failNext({ kind: 'unavailable', only: /^POST/ });
  expect((await info()).status).toBe(200);
  expect((await ask('POST', '/mgmt/tm/ltm/pool', { name: 'x' })).status).toBe(503);
});

test('a fault that lasts is met until its time is over', async () => {
  const status = async () => (await ask('GET', '/mgmt/shared/appsvcs/info')).status;
  sim.failNext({ kind: 'unavailable', lasts: 20_000 });
  expect([await status(), await status()]).toEqual([503, 503]);
  await clock.advance(20_001);
  expect(await status()).toBe(200);
});

test('a half-applied run leaves the second half of its tenants as they were', async () => {
  const adc = {
    ...makeAdc({ web_pool: makePool([]) }),
    T2: makeAdc({ web_pool: makePool([]) }, { tenant: 'T2' })['T2'],
  };
  sim.failNext({ kind: 'half-applied' });
  expect(await declare(adc)).toMatchObject({
    status: 207,
    json: {
      results: [
        { tenant: 'T1', code: 200 },
        { tenant: 'T2', code: 500 },
      ],
    },
  });
  expect(Object.keys(sim.tenants)).toEqual(['T1']);
  expect((await declare(adc)).status).toBe(200);
  await ask('DELETE', '/mgmt/shared/appsvcs/declare');
});

test('a lost answer is lost after the work was done', async () => {
  sim.failNext({ kind: 'lost-answer' });
  await expect(declare(makeAdc({ web_pool: makePool([]) }))).rejects.toThrow('fetch failed');
  expect(Object.keys(sim.tenants)).toEqual(['T1']);
  await ask('DELETE', '/mgmt/shared/appsvcs/declare');
});

test('every call is on record', () => {
  expect(sim.calls.at(-1)).toMatchObject({ method: 'DELETE', path: '/mgmt/shared/appsvcs/declare', status: 200 });
});

test('behind a port it answers the same, and a broken connection is really broken', async () => {
  const { url } = await sim.listen();
  const headers = { authorization: `Basic ${btoa('admin:admin')}` };
  const response = await fetch(`${url}/mgmt/shared/appsvcs/info`, { headers });
  expect([response.status, ((await response.json()) as Json)['version']]).toEqual([200, '3.56.0']);
  sim.failNext({ kind: 'reset' });
  await expect(fetch(`${url}/mgmt/shared/appsvcs/info`, { headers })).rejects.toThrow('fetch failed');
});

test('the configuration, its traffic and what was declared survive a restart', async () => {
  const backend = await makeBackend('kept');
  let text: string | undefined;
  const saved = { load: () => text, save: (now: string) => void (text = now) };
  const rule = { class: 'iRule', expand: false, iRule: 'when HTTP_REQUEST { pool /T1/app/web_pool }' };
  const adc = makeAdc({ vs: makeHttp('20.31.7.10', { iRules: ['vs_irule'] }), vs_irule: rule, web_pool: makePool([]) });
  const first = makeDevice({ saved });
  await first.declare(adc);
  await first.ask('POST', '/mgmt/tm/ltm/pool/~T1~app~web_pool/members', { name: `/T1/127.0.0.1:${backend.port}` });
  const generation = (await first.ask('GET', '/mgmt/tm/ltm/pool/~T1~app~web_pool')).json['generation'];
  await first.sim.close();
  const second = makeDevice({ saved });
  await second.sim.ready;
  expect((await get(boundAt(second.sim, '/T1/app/vs'))).text).toBe('kept');
  expect((await second.ask('GET', '/mgmt/tm/ltm/pool/~T1~app~web_pool')).json['generation']).toBe(generation);
  expect(Object.keys(second.sim.tenants)).toEqual(['T1']);
  await second.sim.close();
  await backend.close();
});

test('a device without a Tcl interpreter works until a rule is brought, and then says what to install', async () => {
  const bare = makeDevice({ tcl: { command: '/nowhere/tclsh' } });
  expect((await bare.declare(makeAdc({ web_pool: makePool([]) }))).status).toBe(200);
  const rule = { class: 'iRule', expand: false, iRule: 'when HTTP_REQUEST { pool web_pool }' };
  await expect(bare.declare(makeAdc({ web_pool: makePool([]), rule1: rule }))).rejects.toThrow('apt-get install tcl');
  await bare.sim.close();
});

test('closed while someone waits, it says so', async () => {
  const short = bigip();
  await short.ready;
  const waiting = expect(short.until(() => false)).rejects.toThrow('closed');
  await short.close();
  await waiting;
});
