// iControl REST: objects by kind and path, the device's refusals, members, statistics and transactions.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClock, makeDevice } from '../make.ts';
import type { Json } from './body.ts';

const clock = makeClock();
const { sim, ask } = makeDevice({ clock });
afterAll(() => sim.close());
beforeAll(async () => {
  await ask('POST', '/mgmt/tm/auth/partition', { name: 'P' });
  await ask('POST', '/mgmt/tm/sys/folder', { name: 'app', partition: 'P' });
});

const tm = '/mgmt/tm/ltm';
const inApp = (name: string, more: Json = {}): Json => ({ name, partition: 'P', subPath: 'app', ...more });

test('a pool is made, read, changed and deleted', async () => {
  const made = await ask(
    'POST',
    `${tm}/pool`,
    inApp('crud', { monitor: '/Common/tcp', members: [{ name: '/P/10.0.0.1:80' }] }),
  );
  expect(made).toMatchObject({
    status: 200,
    json: { kind: 'tm:ltm:pool:poolstate', fullPath: '/P/app/crud', monitor: '/Common/tcp' },
  });
  const read = await ask('GET', `${tm}/pool/~P~app~crud?expandSubcollections=true`);
  expect(read.json).toMatchObject({
    membersReference: { items: [{ name: '10.0.0.1:80', state: 'checking', session: 'monitor-enabled' }] },
  });
  const changed = await ask('PATCH', `${tm}/pool/~P~app~crud`, { description: 'new' });
  expect(changed.json).toMatchObject({ description: 'new', monitor: '/Common/tcp' });
  expect(Number(changed.json['generation'])).toBeGreaterThan(Number(read.json['generation']));
  expect((await ask('DELETE', `${tm}/pool/~P~app~crud`)).status).toBe(200);
  expect((await ask('GET', `${tm}/pool/~P~app~crud`)).json).toMatchObject({
    code: 404,
    message: expect.stringContaining('01020036:3'),
  });
});

test('making a member makes its node, and a node in use cannot go', async () => {
  await ask('POST', `${tm}/pool`, inApp('nodes'));
  await ask('POST', `${tm}/pool/~P~app~nodes/members`, { name: '/P/10.0.0.7:80' });
  expect((await ask('GET', `${tm}/node/~P~10.0.0.7`)).json).toMatchObject({ address: '10.0.0.7' });
  expect(await ask('DELETE', `${tm}/node/~P~10.0.0.7`)).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('01070265') },
  });
});

test('PATCH keeps what it does not name, and replaces arrays', async () => {
  const records = (...names: string[]) => names.map((name) => ({ name, data: name }));
  await ask('POST', `${tm}/data-group/internal`, inApp('dg', { type: 'string', records: records('b', 'a') }));
  const shown = async () => (await ask('GET', `${tm}/data-group/internal/~P~app~dg`)).json;
  expect((await shown())['records']).toEqual(records('a', 'b'));
  await ask('PATCH', `${tm}/data-group/internal/~P~app~dg`, { records: records('c') });
  expect(await shown()).toMatchObject({ type: 'string', records: records('c') });
  expect((await ask('PATCH', `${tm}/data-group/internal/~P~app~dg`, { records: records('c', 'c') })).status).toBe(400);
});

test('a member is drained, brought back and counted', async () => {
  const before = sim.counters.memberWrites;
  await ask('POST', `${tm}/pool`, inApp('drain'));
  const members = `${tm}/pool/~P~app~drain/members`;
  expect((await ask('POST', members, { name: '10.0.0.1:80', partition: 'P' })).json).toMatchObject({
    fullPath: '/P/10.0.0.1:80',
    session: 'user-enabled',
    state: 'unchecked',
  });
  const one = `${members}/~P~10.0.0.1:80`;
  expect((await ask('PATCH', one, { session: 'user-disabled' })).json).toMatchObject({
    session: 'user-disabled',
    state: 'unchecked',
  });
  expect((await ask('PATCH', one, { state: 'user-down' })).json).toMatchObject({
    session: 'user-disabled',
    state: 'user-down',
  });
  expect((await ask('PATCH', one, { session: 'user-enabled', state: 'user-up' })).json).toMatchObject({
    session: 'user-enabled',
    state: 'unchecked',
  });
  expect((await ask('PATCH', one, { ratio: 3 })).json).toMatchObject({ ratio: 3 });
  expect((await ask('POST', members, { name: '/P/10.0.0.1:80' })).status).toBe(409);
  expect((await ask('DELETE', one)).status).toBe(200);
  expect((await ask('DELETE', one)).status).toBe(404);
  expect((await ask('GET', members)).json['items']).toBeUndefined();
  expect(sim.counters.memberWrites - before).toBe(6);
});

test('writes at the same time are made one after another, and none is lost', async () => {
  await ask('POST', `${tm}/pool`, inApp('many'));
  const add = (_: unknown, i: number) => ask('POST', `${tm}/pool/~P~app~many/members`, { name: `/P/10.0.1.${i}:80` });
  await Promise.all(Array.from({ length: 50 }, add));
  expect((await ask('GET', `${tm}/pool/~P~app~many/members`)).json['items']).toHaveLength(50);
});

test('statistics nest entries by URL', async () => {
  await ask('POST', `${tm}/pool`, inApp('stats', { members: ['/P/10.0.0.1:80'] }));
  const { json } = await ask('GET', `${tm}/pool/~P~app~stats/members/stats`);
  const [entry] = Object.values(json['entries'] as Record<string, Json>);
  expect(entry).toMatchObject({
    nestedStats: {
      entries: { 'status.availabilityState': { description: 'unknown' }, 'serverside.curConns': { value: 0 } },
    },
  });
  expect((await ask('GET', `${tm}/pool/~P~app~stats/stats`)).status).toBe(200);
});

const refusals: [what: string, method: string, path: string, body: Json, status: number, message: string][] = [
  ['an object that is there', 'POST', `${tm}/pool`, inApp('once'), 409, '01020066:3'],
  ['an unknown property', 'POST', `${tm}/pool`, inApp('x', { colour: 1 }), 400, '"colour" unknown property'],
  ['a wrong type', 'POST', `${tm}/pool`, inApp('x', { description: 5 }), 400, '"description"'],
  ['a folder that is not there', 'POST', `${tm}/pool`, { name: '/P/none/x' }, 404, 'folder (/P/none)'],
  ['a monitor that is not there', 'POST', `${tm}/pool`, inApp('x', { monitor: '/Common/none' }), 400, '/Common/none'],
  ['no name', 'POST', `${tm}/pool`, {}, 400, 'name'],
  ['a member without a port', 'POST', `${tm}/pool/~P~app~once/members`, { name: '/P/10.0.0.1' }, 400, 'address:port'],
  ['an unknown object', 'PATCH', `${tm}/pool/~P~app~none`, {}, 404, '01020036:3'],
  ['a virtual server without a destination', 'POST', `${tm}/virtual`, inApp('x'), 400, 'destination'],
  [
    'a virtual server with an unknown pool',
    'POST',
    `${tm}/virtual`,
    inApp('x', { destination: '/P/20.31.3.1:18090', pool: '/P/none' }),
    400,
    '/P/none',
  ],
  [
    'a rule that does not load',
    'POST',
    `${tm}/rule`,
    inApp('x', { apiAnonymous: 'when HTTP_REQUEST { exec }' }),
    400,
    '01070151',
  ],
  ['a folder that is not empty', 'DELETE', '/mgmt/tm/sys/folder/~P~app', {}, 400, 'not empty'],
];

test.each(refusals)('refuses %s', async (...row) => {
  const [, method, path, body, status, message] = row;
  if ((await ask('GET', `${tm}/pool/~P~app~once`)).status === 404) await ask('POST', `${tm}/pool`, inApp('once'));
  expect(await ask(method, path, body)).toMatchObject({
    status,
    json: { code: status, message: expect.stringContaining(message) },
  });
});

test('a virtual server carries its own shape, its address comes and goes with it', async () => {
  await ask('POST', `${tm}/pool`, inApp('used'));
  const body = inApp('vs', {
    destination: '/P/20.31.3.2:18091',
    pool: '/P/app/used',
    profiles: ['/Common/http', '/Common/tcp'],
    persist: [{ name: 'cookie', partition: 'Common' }],
  });
  const { json } = await ask('POST', `${tm}/virtual`, body);
  expect(json).toMatchObject({
    enabled: true,
    pool: '/P/app/used',
    persist: [{ name: 'cookie', partition: 'Common', tmDefault: 'yes' }],
  });
  expect((await ask('GET', `${tm}/virtual-address/~P~20.31.3.2`)).status).toBe(200);
  expect((await ask('DELETE', `${tm}/pool/~P~app~used`)).json['message']).toContain(
    'in use by a Virtual Server (/P/app/vs)',
  );
  expect((await ask('DELETE', `${tm}/virtual/~P~app~vs`)).status).toBe(200);
  expect((await ask('GET', `${tm}/virtual-address/~P~20.31.3.2`)).status).toBe(404);
});

test('a collection is filtered by partition and cut into pages', async () => {
  await ask('POST', `${tm}/pool`, { name: 'common_pool' });
  const names = async (query: string) =>
    (((await ask('GET', `${tm}/pool?${query}`)).json['items'] ?? []) as Json[]).map(({ name }) => name);
  expect(await names('$filter=partition eq Common&$select=name')).toEqual(['common_pool']);
  expect(await names('$top=1&$skip=1')).toHaveLength(1);
  expect((await ask('GET', `${tm}/pool?$filter=name eq x`)).status).toBe(400);
});

test('a transaction is made whole or not at all, and forgotten when it waits too long', async () => {
  const begin = async () => Number((await ask('POST', '/mgmt/tm/transaction', {})).json['transId']);
  const add = (id: number, path: string, body: Json) =>
    ask('POST', path, body, { 'X-F5-REST-Coordination-Id': String(id) });
  const good = await begin();
  await add(good, `${tm}/pool`, inApp('tx1'));
  await add(good, `${tm}/pool`, inApp('tx2'));
  expect((await ask('GET', `${tm}/pool/~P~app~tx1`)).status).toBe(404);
  expect((await ask('GET', `/mgmt/tm/transaction/${good}/commands`)).json['items']).toHaveLength(2);
  expect((await ask('PATCH', `/mgmt/tm/transaction/${good}`, { state: 'VALIDATING' })).json).toMatchObject({
    state: 'COMPLETED',
  });
  expect((await ask('GET', `${tm}/pool/~P~app~tx2`)).status).toBe(200);
  const bad = await begin();
  await add(bad, `${tm}/pool`, inApp('tx3'));
  await add(bad, `${tm}/pool`, inApp('tx1'));
  expect(await ask('PATCH', `/mgmt/tm/transaction/${bad}`, { state: 'VALIDATING' })).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('transaction failed') },
  });
  expect((await ask('GET', `${tm}/pool/~P~app~tx3`)).status).toBe(404);
  const late = await begin();
  await clock.advance(121_000);
  expect((await ask('GET', `/mgmt/tm/transaction/${late}`)).status).toBe(404);
});

test('the version is shown, saving is answered, and an unknown path is not registered', async () => {
  expect(JSON.stringify((await ask('GET', '/mgmt/tm/sys/version')).json)).toContain('16.1.3');
  expect((await ask('POST', '/mgmt/tm/sys/config', { command: 'save' })).status).toBe(200);
  expect((await ask('GET', '/mgmt/tm/net/arp')).json).toMatchObject({
    code: 404,
    message: expect.stringContaining('not registered'),
  });
});
