// The client against the embedded API server: both sides of the protocol, no network.
import { apiServer, memory } from '@fairlead/apiserver';
import { fakeClock } from '@fairlead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { kube } from './client.ts';
import { type ConfigMap, configMaps, events, leases, namespaces } from './kinds.ts';
import type { Kube } from './kube.ts';
import { lead } from './lease.ts';
import type { KubeObject } from './object.ts';
import { recorder } from './recorder.ts';
import { fetchSend } from './send.ts';
import { store } from './store.ts';

async function begin() {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  let seed = 0;
  const reports: string[] = [];
  const server = await apiServer({
    storage: memory(),
    clock,
    name: 'test',
    random: (bytes) => Uint8Array.from({ length: bytes }, () => (seed = (seed * 31 + 7) % 251)),
    tokens: [{ token: 't', user: 'admin', groups: ['system:masters'] }],
    report: (message) => reports.push(message),
  });
  onTestFinished(async () => {
    await server.close();
    expect(reports).toEqual([]);
  });
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: 'Bearer t' } }) as const,
    refused: () => false,
  };
  const send = fetchSend(server.answer);
  const client = kube({ server: 'http://kube.test', send, auth, clock, random: () => 0 });
  const stranger = kube({ server: 'http://kube.test', send, clock, random: () => 0 });
  await value(client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }));
  return { clock, client, stranger };
}

async function value<T>(
  answer: ReturnType<() => Promise<{ ok: true; value: T } | { ok: false; problem: { message: string } }>>,
): Promise<T> {
  const got = await answer;
  if (!got.ok) throw new Error(got.problem.message);
  return got.value;
}

const configMap = (name: string, words: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', labels: { app: 'web' } },
  data: words,
});
const at = { namespace: 'shop', name: 'a' };
const code = async (answer: Promise<{ ok: boolean; problem?: { code: string } }>) => (await answer).problem?.code;

test('objects are made, read, changed, found and removed', async () => {
  const { client } = await begin();
  const made = await value(client.create(configMaps, configMap('a', { a: '1' })));
  expect(await code(client.create(configMaps, configMap('a', {})))).toBe('exists');
  expect(await value(client.get(configMaps, at))).toEqual(made);
  const changed = await value(client.replace(configMaps, { ...made, data: { a: '2' } }));
  expect(await code(client.replace(configMaps, { ...made, data: { a: '3' } }))).toBe('conflict');
  const patched = await value(client.patch(configMaps, at, { type: 'merge', body: { data: { b: '1', a: null } } }));
  expect([changed.data, patched.data]).toEqual([{ a: '2' }, { b: '1' }]);
  const listed = await value(client.list(configMaps, { namespace: 'shop', labelSelector: 'app=web' }));
  expect(listed.items).toEqual([patched]);
  expect(await code(client.remove(configMaps, at, { uid: 'another' }))).toBe('conflict');
  await value(client.remove(configMaps, at));
  expect(await code(client.get(configMaps, at))).toBe('missing');
  expect(await code(client.create(configMaps, { ...configMap('a', {}), data: { a: 1 } } as unknown as ConfigMap))).toBe(
    'invalid',
  );
});

test('two appliers own their fields, and a quarrel is a conflict', async () => {
  const { client } = await begin();
  await value(client.apply(configMaps, configMap('a', { a: '1' }), { fieldManager: 'one' }));
  const both = await value(client.apply(configMaps, configMap('a', { b: '1' }), { fieldManager: 'two' }));
  expect(both.data).toEqual({ a: '1', b: '1' });
  expect(await code(client.apply(configMaps, configMap('a', { a: '2' }), { fieldManager: 'two' }))).toBe('conflict');
  const forced = await value(
    client.apply(configMaps, configMap('a', { a: '2' }), { fieldManager: 'two', force: true }),
  );
  expect(forced.data).toEqual({ a: '2' });
});

test('a stranger is denied', async () => {
  expect(await code((await begin()).stranger.get(configMaps, at))).toBe('denied');
});

test('a store is filled by the initial list, and follows each change', async () => {
  const { client, clock } = await begin();
  await value(client.create(configMaps, configMap('a', { a: '1' })));
  const copy = store(client, configMaps, { namespace: 'shop', labelSelector: 'app=web' });
  const seen: string[] = [];
  copy.listen(({ before, after }) => seen.push(`${words(before)}>${words(after)}`));
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  await copy.ready();
  await value(client.create(configMaps, configMap('b', { b: '1' })));
  await value(client.patch(configMaps, at, { type: 'merge', body: { data: { a: '2' } } }));
  await value(client.patch(configMaps, at, { type: 'merge', body: { metadata: { labels: { app: 'db' } } } }));
  await value(client.remove(configMaps, { ...at, name: 'b' }));
  await clock.advance(0);
  expect(seen).toEqual(['>a:1', '>b:1', 'a:1>a:2', 'a:2>', 'b:1>']);
  stop.abort();
  await running;
});

const words = (object: ConfigMap | undefined) =>
  Object.entries(object?.data ?? {})
    .map(([key, text]) => `${key}:${text}`)
    .join();

test('a long list comes whole, through pages too', async () => {
  const { client } = await begin();
  await Promise.all(Array.from({ length: 1_100 }, (_, index) => client.create(configMaps, configMap(`n${index}`, {}))));
  expect((await value(client.list(configMaps, { namespace: 'shop' }))).items.length).toBe(
    1_100 + (await published(client)),
  );
});

/** What the server itself puts into each namespace. */
const published = async (client: Kube) =>
  (await value(client.list(configMaps, { namespace: 'shop', labelSelector: '!app' }))).items.length;

test('an event told twice is one Event with a count of two', async () => {
  const { client, clock } = await begin();
  const about: KubeObject = await value(client.create(configMaps, configMap('a', {})));
  const replicas = [1, 2].map(() => recorder({ kube: client, clock, component: 'fairlead-agent' }));
  for (const each of replicas) await value(each.event(about, { type: 'Normal', reason: 'Placed', message: 'placed' }));
  const { items } = await value(client.list(events, { namespace: 'shop' }));
  expect(items.map(({ reason, count }) => [reason, count])).toEqual([['Placed', 2]]);
});

test('a leader is elected, and its end makes way for the next', async () => {
  const { client, clock } = await begin();
  const leading: string[] = [];
  const enter = (identity: string) => {
    const stop = new AbortController();
    const options = { kube: client, clock, random: () => 0, namespace: 'shop', name: 'leader', identity };
    return {
      stop,
      running: lead(options, { started: () => void leading.push(identity), stopped: () => {} }, stop.signal),
    };
  };
  const [a, b] = [enter('a'), enter('b')];
  await clock.advance(60_000);
  expect(leading).toEqual(['a']);
  a.stop.abort();
  await clock.advance(5_000);
  expect(leading).toEqual(['a', 'b']);
  expect((await value(client.get(leases, { namespace: 'shop', name: 'leader' }))).spec?.holderIdentity).toBe('b');
  b.stop.abort();
  await clock.advance(5_000);
  await Promise.all([a.running, b.running]);
});
