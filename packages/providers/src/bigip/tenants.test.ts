// What is peculiar to a BIG-IP: tenants written whole beside others, tasks, and members written one by one.
import type { Application } from '@fairlead/as3';
import { isPlanEmpty, plan, type Item, type LoadBalancer, type Member, type Result } from '@fairlead/core';
import { bigip as sim, realClock, type Bigip as Sim } from '@fairlead/sim-bigip';
import { as3Validation, fakeClock } from '@fairlead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { bigip } from './bigip.ts';
import { destinationsOf } from './claims.ts';
import { declarations } from './declare.ts';

const never = new AbortController().signal;

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.message}`);
  return result.value;
}

const pod = (n: number, state: Member['state'] = 'enabled'): Member => ({
  address: `127.77.42.${n}`,
  port: 8080,
  state,
});
const pool = { scope: 't1', key: 't1/app', pool: 'web_pool' };

/** An application in AS3's own words, as a ConfigMap brings it. */
const native = (port: number, member: Record<string, unknown> = {}): Record<string, unknown> => ({
  class: 'Application',
  template: 'generic',
  web_vs: {
    class: 'Service_TCP',
    virtualAddresses: ['10.77.41.7'],
    virtualPort: port,
    pool: 'web_pool',
    persistenceMethods: [],
  },
  web_pool: { class: 'Pool', monitors: ['icmp'], members: [{ servicePort: 80, serverAddresses: [], ...member }] },
});

const lb = (form: Record<string, unknown>): LoadBalancer => ({
  key: 't1/app',
  scope: 't1',
  origin: { cluster: 'c1', kind: 'ConfigMap', namespace: 'shop', name: 'cm', uid: 'u', created: 0, revision: '1' },
  listeners: [],
  pools: [],
  native: form,
});

async function world() {
  const device = sim(as3Validation());
  onTestFinished(() => device.close());
  await device.ready;
  const provider = bigip({
    url: 'https://bigip.test',
    fetch: device.fetch,
    clock: realClock(),
    user: 'admin',
    password: 'admin',
  });
  const wish = (form: Record<string, unknown>, members: Member[]): Item<Application> => ({
    key: 't1/app',
    form: must(provider.compile(lb(form))),
    owner: 'us',
    asker: 'c1/shop/cm',
    members: new Map([['web_pool', members]]),
  });
  return {
    device,
    provider,
    /** Declares without Fairlead, as another controller would. */
    async declare(tenant: string, body: Record<string, unknown>): Promise<void> {
      await ask(device, 'POST', `/mgmt/shared/appsvcs/declare/${tenant}`, {
        class: 'ADC',
        schemaVersion: '3.0.0',
        [tenant]: { class: 'Tenant', ...body },
      });
    },
    async turn(form: Record<string, unknown> | undefined, members: Member[] = []) {
      const found = must(await provider.read('t1', never));
      const wanted = form ? [wish(form, members)] : [];
      const answer = plan({ scope: 't1', owner: 'us', wanted, found });
      if (!isPlanEmpty(answer.plan)) must(await provider.apply(answer.plan, never));
      return answer;
    },
    /** Writes since the last call. */
    writes: () =>
      device.calls
        .splice(0)
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
    members: async () => must(await provider.members.read(pool, never)),
  };
}

async function ask(device: Sim, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Basic ${btoa('admin:admin')}`, 'content-type': 'application/json' };
  const response = await device.fetch(
    `https://bigip.test${path}`,
    body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) },
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

const theirs = {
  class: 'Application',
  template: 'generic',
  fixed_pool: { class: 'Pool', members: [{ servicePort: 80, serverAddresses: ['127.77.42.99'] }] },
};

test('a tenant is written whole: applications of others in it, and its own words, stay as they are', async () => {
  const w = await world();
  await w.declare('t1', { other: theirs, label: 'by hand' });
  await w.turn(native(8080), [pod(1)]);
  expect(w.device.tenants['t1']).toMatchObject({
    label: 'by hand',
    other: theirs,
    app: { constants: { label: 'us', key: 't1/app', source: 'c1/shop/cm' } },
  });
  await w.turn(undefined);
  expect(w.device.tenants['t1']).toEqual({ class: 'Tenant', label: 'by hand', other: theirs });
});

test('a tenant goes with the last application in it', async () => {
  const w = await world();
  await w.turn(native(8080));
  await w.turn(undefined);
  expect(w.device.tenants).toEqual({});
});

test('never a whole device: nothing is deleted, and only the one tenant is named', async () => {
  const w = await world();
  await w.declare('other', { app: theirs });
  w.writes();
  await w.turn(native(8080));
  await w.turn(undefined);
  expect(w.writes().filter((line) => !line.includes('login'))).toEqual([
    'POST /mgmt/shared/appsvcs/declare/t1',
    'POST /mgmt/shared/appsvcs/declare/t1',
  ]);
  expect(Object.keys(w.device.tenants)).toEqual(['other']);
});

test('an application that lacks what it points at is refused before it is sent', async () => {
  const w = await world();
  const { web_pool: _pool, ...rest } = native(8080);
  await expect(w.turn(rest)).rejects.toThrow(/invalid: .*web_pool/);
  expect(w.device.tenants).toEqual({});
});

test('members are written one by one, and several of them in one transaction', async () => {
  const w = await world();
  await w.turn(native(8080), [pod(1)]);
  w.writes();
  must(await w.provider.members.write(pool, { add: [], change: [pod(1, 'draining')], remove: [] }, never));
  expect(w.writes()).toEqual(['PATCH /mgmt/tm/ltm/pool/~t1~app~web_pool/members/~t1~127.77.42.1:8080']);
  must(await w.provider.members.write(pool, { add: [pod(2)], change: [], remove: [pod(1)] }, never));
  expect(w.writes().map((line) => line.replace(/\d{6,}/, 'ID'))).toEqual([
    'POST /mgmt/tm/transaction',
    'POST /mgmt/tm/ltm/pool/~t1~app~web_pool/members',
    'DELETE /mgmt/tm/ltm/pool/~t1~app~web_pool/members/~t1~127.77.42.1:8080',
    'PATCH /mgmt/tm/transaction/ID',
  ]);
  expect(await w.members()).toEqual([pod(2)]);
});

test('of several members, one that the device refuses does not keep out the others', async () => {
  const w = await world();
  await w.turn(native(8080));
  const bad: Member = { ...pod(9), ratio: 70_000 };
  const written = await w.provider.members.write(pool, { add: [bad, pod(1)], change: [], remove: [] }, never);
  expect(written.ok ? 'ok' : written.problem.code).toBe('invalid');
  expect(await w.members()).toEqual([pod(1)]);
});

test('a member gets the attributes of its template, so that the next declaration finds nothing to change', async () => {
  const w = await world();
  const template = { connectionLimit: 50, priorityGroup: 3, ratio: 7, shareNodes: true };
  await w.turn(native(8080, template), [pod(1)]);
  must(await w.provider.members.write(pool, { add: [pod(2)], change: [], remove: [] }, never));
  const shown = await ask(w.device, 'GET', '/mgmt/tm/ltm/pool/~t1~app~web_pool/members');
  const [first, second] = (shown['items'] as Record<string, unknown>[]).map(
    ({ partition, connectionLimit, priorityGroup, ratio, description }) => ({
      partition,
      connectionLimit,
      priorityGroup,
      ratio,
      description,
    }),
  );
  expect(second).toEqual(first);
  expect(first).toEqual({
    partition: 'Common',
    connectionLimit: 50,
    priorityGroup: 3,
    ratio: 7,
    description: 'fairlead: enabled',
  });
  expect(await w.members()).toEqual([pod(1), pod(2)]);
  const results = (
    await ask(w.device, 'POST', '/mgmt/shared/appsvcs/declare/t1', {
      class: 'AS3',
      action: 'dry-run',
      declaration: await redeclared(w),
    })
  )['results'];
  expect(results).toMatchObject([{ message: 'no change' }]);
});

/** What the provider would declare now, caught on its way. */
async function redeclared({ device }: Awaited<ReturnType<typeof world>>): Promise<unknown> {
  let caught: unknown;
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (init.method !== 'POST' || !url.includes('/declare/')) return device.fetch(url, init);
    caught = JSON.parse(String(init.body));
    return Response.json({ results: [{ code: 200, tenant: 't1', message: 'no change' }] });
  };
  const provider = bigip({ url: 'https://bigip.test', fetch, clock: realClock(), user: 'admin', password: 'admin' });
  const found = must(await provider.read('t1', never));
  must(
    await provider.apply(
      {
        scope: 't1',
        owner: 'us',
        create: [],
        update: found.map((one) => ({ from: one, to: one })),
        remove: [],
        after: found,
      },
      never,
    ),
  );
  return (caught as { declaration: unknown }).declaration;
}

test('a member that an operator forced offline stays so, also over a declaration', async () => {
  const w = await world();
  await w.turn(native(8080), [pod(1), pod(2)]);
  await ask(w.device, 'PATCH', '/mgmt/tm/ltm/pool/~t1~app~web_pool/members/~t1~127.77.42.1:8080', {
    session: 'user-disabled',
    state: 'user-down',
  });
  must(await w.provider.members.write(pool, { add: [], change: [pod(1)], remove: [] }, never));
  await w.turn(native(8081), [pod(1), pod(2)]);
  expect(await w.members()).toEqual([{ ...pod(1, 'draining'), byHand: 'offline' }, pod(2)]);
});

test('what was changed on the device by hand is found by a dry run, and declared again', async () => {
  const w = await world();
  await w.turn(native(8080), [pod(1)]);
  must(await w.provider.members.write(pool, { add: [pod(2)], change: [pod(1, 'draining')], remove: [] }, never));
  const found = must(await w.provider.read('t1', never));
  expect(await w.provider.drifted?.('t1', found, never)).toEqual({ ok: true, value: false });
  await ask(w.device, 'PATCH', '/mgmt/tm/ltm/pool/~t1~app~web_pool', { loadBalancingMode: 'least-connections-member' });
  expect(await w.provider.drifted?.('t1', found, never)).toEqual({ ok: true, value: true });
  expect(must(await w.provider.read('t1', never))).toEqual(found);
});

test('an address and port that nobody else may have is a claim, whatever way it is written', () => {
  const application = {
    class: 'Application',
    a_vs: { class: 'Service_HTTP', virtualAddresses: ['10.0.0.1', '2001:DB8:0::1'] },
    b_vs: { class: 'Service_HTTPS', virtualAddresses: ['10.0.0.2'] },
    c_vs: { class: 'Service_HTTPS', virtualAddresses: ['10.0.0.3'], virtualPort: 8443, redirect80: false },
    d_vs: { class: 'Service_UDP', virtualAddresses: [['10.0.0.4', '192.0.2.0/24']], virtualPort: 53 },
    e_vs: { class: 'Service_L4', virtualAddresses: [{ use: 'address' }], virtualPort: 1 },
    pool: { class: 'Pool' },
  };
  expect(destinationsOf(application)).toEqual([
    '10.0.0.1:80/tcp',
    '10.0.0.2:443/tcp',
    '10.0.0.2:80/tcp',
    '10.0.0.3:8443/tcp',
    '10.0.0.4 from 192.0.2.0/24:53/udp',
    '2001:db8::1:80/tcp',
  ]);
});

test.each<{ name: string; tasks: (Response | 'busy')[]; code: string }>([
  { name: 'done', tasks: [Response.json({ results: [{ code: 200, tenant: 't1' }] })], code: 'ok' },
  {
    name: 'in progress, then done',
    tasks: [
      Response.json({ results: [{ code: 0, message: 'in progress' }] }),
      Response.json({ results: [{ code: 200, tenant: 't1' }] }),
    ],
    code: 'ok',
  },
  {
    name: 'too busy to say, then failed',
    tasks: ['busy', Response.json({ results: [{ code: 422, tenant: 't1', message: 'declaration failed' }] })],
    code: 'invalid',
  },
  { name: 'forgotten', tasks: [new Response('{}', { status: 404 })], code: 'missing' },
])('a declaration that became a task is followed to its end: $name', async ({ tasks, code }) => {
  const clock = fakeClock();
  const waiting = [...tasks];
  const posted = declarations(async ({ method, path }) => {
    if (method === 'POST') return { ok: true, value: { status: 202, body: { id: 'abc', results: [{ code: 0 }] } } };
    expect(path).toBe('/mgmt/shared/appsvcs/task/abc');
    const next = waiting.shift();
    if (next === 'busy') return { ok: false, problem: { code: 'busy', message: '503' } };
    if (!next?.ok) return { ok: false, problem: { code: 'missing', message: '404' } };
    return { ok: true, value: { status: 200, body: (await next.json()) as Record<string, unknown> } };
  }, clock).post('t1', {}, never);
  await clock.advance(60_000);
  const result = await posted;
  expect(result.ok ? 'ok' : result.problem.code).toBe(code);
});

test('a mixed answer (207) is judged by our tenant alone', async () => {
  const answer = (code: number) =>
    declarations(
      async () => ({
        ok: true,
        value: {
          status: 207,
          body: {
            results: [
              { code: 422, tenant: 'x' },
              { code, tenant: 't1' },
            ],
          },
        },
      }),
      fakeClock(),
    ).post('t1', {}, never);
  expect((await answer(200)).ok).toBe(true);
  expect((await answer(422)).ok).toBe(false);
});
