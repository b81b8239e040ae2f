// What a declaration does to a device that already has something: nothing, a little, or virtual servers made anew.
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  boundAt,
  get,
  makeAdc,
  makeBackend,
  makeClock,
  makeDevice,
  makeHttp,
  makePool,
  type Backend,
} from '../make.ts';
import type { Json } from '../rest/body.ts';

const { sim, declare, ask } = makeDevice();
let one: Backend;
let two: Backend;
beforeAll(async () => {
  [one, two] = await Promise.all([makeBackend('one'), makeBackend('two')]);
});
afterEach(() => ask('DELETE', '/mgmt/shared/appsvcs/declare'));
afterAll(async () => {
  await sim.close();
  await Promise.all([one.close(), two.close()]);
});

const rule = (text = 'when HTTP_REQUEST { pool web_pool }'): Json => ({ class: 'iRule', expand: false, iRule: text });
const items = (): Json => ({
  vs: makeHttp('20.31.2.10', { iRules: ['vs_irule'] }),
  vs_irule: rule(),
  web_pool: makePool([one]),
});
const results = (json: Json): unknown[] => json['results'] as unknown[];
const members = '/mgmt/tm/ltm/pool/~T1~app~web_pool/members';

/** A client connection that stays, and whether it is still there. */
async function keepOne(): Promise<Socket> {
  const socket = connect(boundAt(sim, '/T1/app/vs'));
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    socket.once('data', () => resolve());
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  });
  return socket;
}

async function isAlive(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve(false);
    socket.once('close', () => resolve(false));
    socket.once('data', () => resolve(true));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  });
}

test('the same declaration again is no change, and a new one says success', async () => {
  expect(results((await declare(makeAdc(items()))).json)).toEqual([
    expect.objectContaining({ code: 200, message: 'success', tenant: 'T1', declarationId: 'test' }),
  ]);
  expect(results((await declare(makeAdc(items()))).json)).toEqual([
    expect.objectContaining({ code: 200, message: 'no change', lineCount: 0 }),
  ]);
});

test('members added by iControl REST go with the next declaration that does not name them', async () => {
  await declare(makeAdc(items()));
  await ask('POST', members, { name: `/T1/127.0.0.1:${two.port}` });
  expect((await ask('GET', members)).json['items']).toHaveLength(2);
  expect(results((await declare(makeAdc(items()))).json)).toEqual([expect.objectContaining({ message: 'success' })]);
  expect((await ask('GET', members)).json['items']).toEqual([
    expect.objectContaining({ name: `127.0.0.1:${one.port}` }),
  ]);
});

test('what was drained by iControl REST is as declared again', async () => {
  await declare(makeAdc(items()));
  await ask('PATCH', `${members}/~T1~127.0.0.1:${one.port}`, { session: 'user-disabled' });
  await declare(makeAdc(items()));
  expect((await ask('GET', members)).json['items']).toEqual([expect.objectContaining({ session: 'user-enabled' })]);
});

interface Edit {
  change: string;
  edit(items: Json): Json;
  /** The virtual server is deleted and created, or left alone. */
  recreates: boolean;
}

const vsWith = (all: Json, more: Json): Json => ({ ...all, vs: { ...(all['vs'] as Json), ...more } });
const edits: Edit[] = [
  {
    change: 'the text of its rule',
    recreates: false,
    edit: (all) => ({ ...all, vs_irule: rule('when HTTP_REQUEST { log local0. x; pool web_pool }') }),
  },
  { change: 'a new pool', recreates: false, edit: (all) => ({ ...all, more_pool: makePool([two]) }) },
  { change: 'a member more', recreates: false, edit: (all) => ({ ...all, web_pool: makePool([one, two]) }) },
  {
    change: 'a data-group',
    recreates: false,
    edit: (all) => ({ ...all, group: { class: 'Data_Group', keyDataType: 'string', records: [{ key: 'a' }] } }),
  },
  { change: 'its remark', recreates: true, edit: (all) => vsWith(all, { remark: 'new' }) },
  { change: 'its persistence', recreates: true, edit: (all) => vsWith(all, { persistenceMethods: ['cookie'] }) },
  { change: 'its port', recreates: true, edit: (all) => vsWith(all, { virtualPort: 18_085 }) },
  { change: 'its first rule gone', recreates: true, edit: (all) => vsWith(all, { iRules: [] }) },
  {
    change: 'its rule renamed',
    recreates: true,
    edit: (all) => ({ ...vsWith(all, { iRules: ['other_irule'] }), other_irule: rule() }),
  },
  {
    change: 'the order of its rules',
    recreates: true,
    edit: (all) => ({ ...vsWith(all, { iRules: ['zero_irule', 'vs_irule'] }), zero_irule: rule() }),
  },
];

test.each(edits)('with $change, the virtual server is made anew: $recreates', async ({ edit, recreates }) => {
  await declare(makeAdc(items()));
  const before = sim.counters.recreated;
  const socket = await keepOne();
  expect((await declare(makeAdc(edit(items())))).status).toBe(200);
  expect(await isAlive(socket)).toBe(!recreates);
  expect(sim.counters.recreated - before).toBe(recreates ? 1 : 0);
  socket.destroy();
  expect((await get(boundAt(sim, '/T1/app/vs'))).status).toBe(200);
});

test("a member's ratio is changed by deleting it first, which resets its connections", async () => {
  const pool = (ratio: number): Json => ({
    ...items(),
    web_pool: { class: 'Pool', members: [{ servicePort: one.port, serverAddresses: ['127.0.0.1'], ratio }] },
  });
  await declare(makeAdc(pool(1)));
  const socket = await keepOne();
  await declare(makeAdc(pool(2)));
  expect(await isAlive(socket)).toBe(false);
  expect(sim.counters.connectionsReset).toBeGreaterThan(0);
});

test("a pool whose monitor changes is made anew: its members' connections are reset, the virtual server stays", async () => {
  await declare(makeAdc(items()));
  const before = sim.counters.recreated;
  const socket = await keepOne();
  await declare(makeAdc({ ...items(), web_pool: makePool([one], { monitors: ['tcp'] }) }));
  expect(await isAlive(socket)).toBe(false);
  expect(sim.counters.recreated).toBe(before);
});

test('members are not deleted first for a tenant that then fails', async () => {
  const pool = (ratio: number): Json => ({
    class: 'Pool',
    members: [{ servicePort: one.port, serverAddresses: ['127.0.0.1'], ratio }],
  });
  await declare(makeAdc({ ...items(), web_pool: pool(1) }));
  const socket = await keepOne();
  const bad = { ...items(), web_pool: pool(2), vs_irule: rule('when HTTP_REQUEST { pool gone_pool }') };
  expect((await declare(makeAdc(bad))).status).toBe(422);
  expect(await isAlive(socket)).toBe(true);
  socket.destroy();
});

test('a new rule text counts from the next request on a living connection', async () => {
  await declare(makeAdc({ ...items(), more_pool: makePool([two]) }));
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('one');
  await declare(
    makeAdc({ ...items(), more_pool: makePool([two]), vs_irule: rule('when HTTP_REQUEST { pool more_pool }') }),
  );
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('two');
});

test('a tenant that fails keeps its former state while its neighbour succeeds: 207', async () => {
  await declare(makeAdc(items()));
  const bad = { ...items(), vs_irule: rule('when HTTP_REQUEST { pool gone_pool }'), web_pool: makePool([two]) };
  const other = makeAdc({ vs: makeHttp('20.31.2.11'), web_pool: makePool([two]) }, { tenant: 'T2' });
  const { status, json } = await declare({ ...makeAdc(bad), T2: other['T2'] });
  expect(status).toBe(207);
  expect(results(json)).toEqual([
    expect.objectContaining({ code: 422, tenant: 'T1' }),
    expect.objectContaining({ code: 200, tenant: 'T2' }),
  ]);
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('one');
  expect((await get(boundAt(sim, '/T2/app/vs'))).text).toBe('two');
  expect(Object.keys(sim.tenants).sort()).toEqual(['T1', 'T2']);
});

test('selective leaves other tenants, complete removes them, an empty tenant removes itself', async () => {
  const second = makeAdc({ web_pool: makePool([]) }, { tenant: 'T2' });
  await declare(makeAdc(items()));
  await declare(second);
  expect(Object.keys(sim.tenants).sort()).toEqual(['T1', 'T2']);
  await declare({ ...second, updateMode: 'complete' });
  expect(Object.keys(sim.tenants)).toEqual(['T2']);
  expect(sim.virtuals()).toEqual([]);
  await declare({ class: 'ADC', schemaVersion: '3.0.0', T2: { class: 'Tenant' } });
  expect((await ask('GET', '/mgmt/shared/appsvcs/declare')).status).toBe(204);
  expect((await ask('GET', '/mgmt/tm/auth/partition')).json['items']).toEqual([
    expect.objectContaining({ name: 'Common' }),
  ]);
});

test('only the tenants in the path are run', async () => {
  const both = { ...makeAdc(items()), T2: makeAdc({ web_pool: makePool([]) }, { tenant: 'T2' })['T2'] };
  const { json } = await declare(both, '/T2');
  expect(results(json)).toEqual([expect.objectContaining({ tenant: 'T2' })]);
  expect(Object.keys(sim.tenants)).toEqual(['T2']);
});

test('a dry run says what would come of it and changes nothing', async () => {
  const { status, json } = await declare({ class: 'AS3', action: 'dry-run', declaration: makeAdc(items()) });
  expect(status).toBe(200);
  expect(json).toMatchObject({ dryRun: true, results: [{ code: 200, message: 'success' }] });
  expect(sim.virtuals()).toEqual([]);
});

test('a tenant whose optimisticLockKey is old fails', async () => {
  await declare(makeAdc(items()));
  const shown = await ask('GET', '/mgmt/shared/appsvcs/declare/T1?showHash=true');
  const key = (shown.json['T1'] as Json)['optimisticLockKey'];
  const next = (lock: unknown, remark: string): Json => {
    const adc = makeAdc({ ...items(), extra: { ...makePool([]), remark } });
    return { ...adc, T1: { ...(adc['T1'] as Json), optimisticLockKey: lock } };
  };
  expect((await declare(next(key, 'first'))).status).toBe(200);
  expect((await declare(next(key, 'second'))).json).toMatchObject({
    results: [{ code: 422, response: expect.stringContaining('optimisticLockKey') }],
  });
});

test('a patch changes what it names', async () => {
  await declare(makeAdc(items()));
  const patch = [{ op: 'replace', path: '/T1/app/web_pool/members/0/servicePort', value: two.port }];
  expect((await ask('PATCH', '/mgmt/shared/appsvcs/declare', patch)).status).toBe(200);
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('two');
  expect((await ask('PATCH', '/mgmt/shared/appsvcs/declare', [{ op: 'test', path: '/T1', value: 1 }])).status).toBe(
    422,
  );
});

test('GET shows what was declared, and 404 for a tenant that was not', async () => {
  await declare(makeAdc(items()));
  expect((await ask('GET', '/mgmt/shared/appsvcs/declare')).json).toMatchObject({
    class: 'ADC',
    T1: { class: 'Tenant', app: { web_pool: { class: 'Pool' } } },
  });
  expect((await ask('GET', '/mgmt/shared/appsvcs/declare?filterClass=iRule')).json['T1']).toMatchObject({
    app: { vs_irule: {} },
  });
  expect((await ask('GET', '/mgmt/shared/appsvcs/declare/T9')).status).toBe(404);
});

test('a task is in progress, then has its results; while a run lasts a second one is refused with 503', async () => {
  const clock = makeClock();
  const slow = makeDevice({ clock, slowness: { perRun: 1000, perTenant: 500 } });
  const { status, json } = await slow.declare(makeAdc({ web_pool: makePool([]) }), '?async=true');
  expect(status).toBe(202);
  expect(json).toMatchObject({
    results: [{ code: 0, message: 'Declaration successfully submitted' }],
    selfLink: expect.stringContaining(String(json['id'])),
  });
  const task = `/mgmt/shared/appsvcs/task/${String(json['id'])}`;
  expect((await slow.ask('GET', task)).json).toMatchObject({ results: [{ code: 0, message: 'in progress' }] });
  expect(await slow.declare(makeAdc({}))).toMatchObject({
    status: 503,
    json: { code: 503, message: expect.stringContaining('in progress') },
  });
  await clock.advance(1500);
  await slow.sim.until(() => 'T1' in slow.sim.tenants);
  expect((await slow.ask('GET', task)).json).toMatchObject({
    results: [{ code: 200, message: 'success', tenant: 'T1' }],
  });
  expect((await slow.ask('GET', '/mgmt/shared/appsvcs/task/none')).status).toBe(404);
  await slow.sim.close();
});

test('a schema handed in is asked too', async () => {
  const strict = makeDevice({ validate: () => ['/T1: no'] });
  expect((await strict.declare(makeAdc({}))).json).toMatchObject({ code: 422, errors: ['/T1: no'] });
  await strict.sim.close();
});

test('members by REST go on while a long run is under way, and what the run finds at its end counts', async () => {
  const clock = makeClock();
  const slow = makeDevice({ clock, slowness: { perChange: 1000 } });
  const first = slow.declare(makeAdc({ web_pool: makePool([]) }));
  await clock.advance(10_000);
  await first;
  const running = slow.declare(makeAdc({ web_pool: makePool([one]) }));
  await clock.advance(500);
  expect((await slow.ask('POST', members, { name: '/T1/10.0.0.9:80' })).status).toBe(200);
  await clock.advance(10_000);
  expect((await running).status).toBe(200);
  expect((await slow.ask('GET', members)).json['items']).toEqual([expect.objectContaining({ address: '127.0.0.1' })]);
  await slow.sim.close();
});

test("objects shared in Common are pointed at from other tenants, and only its folder Shared is AS3's", async () => {
  await ask('POST', '/mgmt/tm/ltm/pool', { name: 'by_hand' });
  await declare(
    makeAdc({ template: 'shared', shared_pool: makePool([two]) }, { tenant: 'Common', application: 'Shared' }),
  );
  const { vs } = { vs: makeHttp('20.31.2.12', { pool: '/Common/Shared/shared_pool' }) };
  expect((await declare(makeAdc({ vs }))).status).toBe(200);
  expect((await get(boundAt(sim, '/T1/app/vs'))).text).toBe('two');
  await ask('DELETE', '/mgmt/shared/appsvcs/declare/T1');
  await ask('DELETE', '/mgmt/shared/appsvcs/declare/Common');
  expect((await ask('GET', '/mgmt/tm/ltm/pool/~Common~by_hand')).status).toBe(200);
  expect((await ask('GET', '/mgmt/tm/ltm/pool/~Common~Shared~shared_pool')).status).toBe(404);
});
