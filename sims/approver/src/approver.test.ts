// The simulator refuses what an approver refuses, and fails on order.
import { expect, onTestFinished, test } from 'vitest';
import { approver, type Approver } from './approver.ts';

const body = { ticket: 'default/test', cluster: 'c', namespace: 'shop', veip: '20.1.0.1', ltmip: '10.0.0.1' };

async function ask(sim: Approver, line: string, options: { body?: unknown; key?: string; token?: string } = {}) {
  const [method = '', path = ''] = line.split(' ');
  const { key, token } = options;
  const headers = {
    ...(key ? { 'idempotency-key': key } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };
  const text = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  const sent = { method, headers, ...(options.body === undefined ? {} : { body: text }) };
  const answer = await sim.fetch(new Request(`http://approver.test/api${path}`, sent));
  const said = await answer.text();
  return [answer.status, said === '' ? undefined : (JSON.parse(said) as unknown)];
}

test('an application is filed, asked about, decided and revoked', async () => {
  const sim = approver();
  expect(await ask(sim, 'POST /applications', { body, key: 'k' })).toEqual([201, { id: 'app-1' }]);
  expect(await ask(sim, 'GET /applications/app-1')).toEqual([200, { status: 'pending', message: '' }]);
  sim.decide('app-1', 'rejected', 'no such project');
  expect(await ask(sim, 'GET /applications/app-1')).toEqual([200, { status: 'rejected', message: 'no such project' }]);
  expect((await ask(sim, 'DELETE /applications/app-1'))[0]).toBe(204);
  expect((await ask(sim, 'DELETE /applications/app-1'))[0]).toBe(404);
  expect((await ask(sim, 'GET /applications/app-1'))[0]).toBe(404);
});

test('a key gives its application again; without one each POST files anew', async () => {
  const sim = approver();
  const ids = [];
  for (const key of ['k', 'k', undefined, undefined, 'j'])
    ids.push((await ask(sim, 'POST /applications', { body, ...(key ? { key } : {}) }))[1]);
  expect(ids).toEqual(['app-1', 'app-1', 'app-2', 'app-3', 'app-4'].map((id) => ({ id })));
});

test('a key gives its id when the application is revoked, and files nothing', async () => {
  const sim = approver();
  await ask(sim, 'POST /applications', { body, key: 'k' });
  await ask(sim, 'DELETE /applications/app-1');
  expect(await ask(sim, 'POST /applications', { body, key: 'k' })).toEqual([201, { id: 'app-1' }]);
  expect((await ask(sim, 'GET /applications/app-1'))[0]).toBe(404);
  expect([sim.filed, sim.applications()]).toEqual([1, []]);
});

test.each<[string, string, Parameters<typeof ask>[2], number]>([
  ['what is no JSON', 'POST /applications', { body: 'hello' }, 400],
  ['an application without addresses', 'POST /applications', { body: { ticket: 'a/b' } }, 422],
  ['another path', 'GET /policies', {}, 404],
  ['another verb', 'PUT /applications/app-1', { body }, 405],
])('%s is refused', async (_, line, options, code) => {
  expect((await ask(approver(), line, options))[0]).toBe(code);
});

test('the token is asked for, and a new one counts at once', async () => {
  const sim = approver({ token: 'one' });
  expect((await ask(sim, 'POST /applications', { body }))[0]).toBe(401);
  expect((await ask(sim, 'POST /applications', { body, token: 'one' }))[0]).toBe(201);
  sim.setToken('two');
  expect((await ask(sim, 'GET /applications/app-1', { token: 'one' }))[0]).toBe(401);
  expect((await ask(sim, 'GET /applications/app-1', { token: 'two' }))[0]).toBe(200);
});

test('faults come in order, each once', async () => {
  const waits: number[] = [];
  const sim = approver({ sleep: async (ms) => void waits.push(ms) });
  sim.failNext({ kind: 'outage' }, { kind: 'lost' }, { kind: 'twice' }, { kind: 'slow', ms: 9000 });
  expect((await ask(sim, 'POST /applications', { body }))[0]).toBe(500);
  expect(sim.filed).toBe(0);
  await expect(ask(sim, 'POST /applications', { body, key: 'k' })).rejects.toThrow('broke');
  expect(await ask(sim, 'POST /applications', { body, key: 'k' })).toEqual([201, { id: 'app-1' }]);
  expect(sim.filed).toBe(1);
  await ask(sim, 'GET /applications/app-1');
  expect(waits).toEqual([9000]);
});

test('two deliveries of one POST are one application with a key, and two without', async () => {
  const sim = approver();
  sim.failNext({ kind: 'twice' }, { kind: 'twice' });
  await ask(sim, 'POST /applications', { body, key: 'k' });
  expect(sim.filed).toBe(1);
  await ask(sim, 'POST /applications', { body });
  expect(sim.filed).toBe(3);
});

test('behind a port, a person decides on its page, and what was filed is shown as text', async () => {
  const sim = approver();
  const { url } = await sim.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => sim.close());
  const hostile = { ...body, claimer: '<script>"&' };
  await fetch(`${url}/applications`, { method: 'POST', body: JSON.stringify(hostile) });
  const shown = await (await fetch(url)).text();
  expect(shown).toContain('<td>&lt;script&gt;&quot;&amp;');
  const form = new URLSearchParams({ id: 'app-1', status: 'opened', message: 'by hand' });
  const after = await fetch(`${url}/decide`, { method: 'POST', body: form });
  expect(await after.text()).toContain('opened: by hand');
  expect(sim.applications()).toMatchObject([{ status: 'opened', message: 'by hand' }]);
  form.set('id', 'none');
  expect((await fetch(`${url}/decide`, { method: 'POST', body: form })).status).toBe(404);
  sim.failNext({ kind: 'lost' });
  await expect(fetch(`${url}/applications/app-1`)).rejects.toThrow();
});
