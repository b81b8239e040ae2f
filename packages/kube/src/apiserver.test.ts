// The client against the embedded API server: both sides of the protocol, no network.
import { apiServer, memory } from '@fairlead/apiserver';
import { fakeClock, testKube } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { kube } from './client.ts';
import { configMaps, events, leases } from './kinds.ts';
import type { KubeResult } from './kube.ts';
import { lead } from './lease.ts';
import { recorder } from './recorder.ts';
import { fetchSend } from './send.ts';

async function make() {
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
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: 'Bearer t' } }) as const,
    refused: () => false,
  };
  const shared = { server: 'http://kube.test', send: fetchSend(server.answer), clock, random: () => 0 };
  const close = async () => {
    await server.close();
    expect(reports).toEqual([]);
  };
  return { clock, kube: kube({ ...shared, auth }), stranger: kube(shared), close };
}

testKube({ make, prefix: 'suite' });

async function value<T>(answer: Promise<KubeResult<T>>): Promise<T> {
  const got = await answer;
  if (!got.ok) throw new Error(got.problem.message);
  return got.value;
}

test('an event told by two replicas is one Event with a count of two', async () => {
  const { kube: client, clock, close } = await make();
  const about = await value(
    client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }),
  );
  const replicas = [1, 2].map(() => recorder({ kube: client, clock, component: 'fairlead-agent' }));
  for (const each of replicas) await value(each.event(about, { type: 'Normal', reason: 'Placed', message: 'placed' }));
  const { items } = await value(client.list(events, { namespace: 'default' }));
  expect(items.map(({ reason, count }) => [reason, count])).toEqual([['Placed', 2]]);
  await close();
});

test('a leader is elected, and its end makes way for the next', async () => {
  const { kube: client, clock, close } = await make();
  const leading: string[] = [];
  const enter = (identity: string) => {
    const stop = new AbortController();
    const options = { kube: client, clock, random: () => 0, namespace: 'default', name: 'leader', identity };
    const leader = { started: () => void leading.push(identity), stopped: () => {} };
    return { stop, running: lead(options, leader, stop.signal) };
  };
  const [a, b] = [enter('a'), enter('b')];
  await clock.advance(60_000);
  expect(leading).toEqual(['a']);
  a.stop.abort();
  await clock.advance(5_000);
  expect(leading).toEqual(['a', 'b']);
  const lease = await value(client.get(leases, { namespace: 'default', name: 'leader' }));
  expect(lease.spec?.holderIdentity).toBe('b');
  b.stop.abort();
  await clock.advance(5_000);
  await Promise.all([a.running, b.running]);
  await close();
});
