// What Prometheus is told: true, named as it likes, and no more the more tickets there are.
import { readFileSync } from 'node:fs';
import { lbtickets, loadbalancers } from '@fairlead/api';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { device, type DeviceCall } from '../device.ts';
import { serve } from '../serve.ts';
import { kubeconfigOf, loadbalancerOf, made, serve as serveService, ticketOf, world } from '../testing/world.ts';
import { metrics } from './metrics.ts';
import { parseListen, serveMetrics } from './server.ts';

/** Samples by name and labels, `process_` and `nodejs_` aside. */
async function samples(counted: ReturnType<typeof metrics>): Promise<Map<string, number>> {
  const lines = (await counted.text()).text.split('\n').filter((line) => line.startsWith('fairlead_'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

async function begun() {
  const here = await world(['east', 'west']);
  const counted = metrics();
  const east = here.servers.get('east');
  if (!east) throw new Error('bug: no server');
  await here.secret('clusters', { east: kubeconfigOf('east'), west: kubeconfigOf('west') });
  await serveService(east.kube, 'svc', ['10.1.1.1', '10.1.1.2']);
  await made(here.management.kube.create(loadbalancers, loadbalancerOf('lb', 'east', 1)));
  await made(here.management.kube.create(lbtickets, ticketOf('one', 'lb', 'svc')));
  const end = here.begin({ metrics: counted });
  await here.clock.advance(10_000);
  return { ...here, east, counted, end };
}

test('turns, tickets, addresses, clusters, devices and members are told as they are', async () => {
  const { counted, clock, east, servers, devices, end } = await begun();
  const before = await samples(counted);
  for (const [sample, value] of [
    ['fairlead_leader', 1],
    ['fairlead_tickets{state="enabled"}', 1],
    ['fairlead_tickets{state="failed"}', 0],
    ['fairlead_addresses{loadbalancer="lb",layer="ltm"}', 254],
    ['fairlead_addresses_used{loadbalancer="lb",layer="ve"}', 1],
    ['fairlead_tickets_waiting_for_address{loadbalancer="lb"}', 0],
    ['fairlead_cluster_reachable{cluster="west"}', 1],
    ['fairlead_device_reachable{loadbalancer="lb",layer="ve"}', 1],
    ['fairlead_queue_overdue_seconds{queue="tickets"}', 0],
  ] as const)
    expect([sample, before.get(sample)]).toEqual([sample, value]);
  expect(before.get('fairlead_turns_total{queue="ticket",result="done"}')).toBeGreaterThan(0);
  expect(before.get('fairlead_turns_total{queue="scope",result="done"}')).toBeGreaterThan(0);
  expect(before.get('fairlead_turn_duration_seconds_count{queue="configmap"}')).toBeGreaterThan(0);
  await serveService(east.kube, 'svc', ['10.1.1.2', '10.1.1.3']);
  await clock.advance(1_000);
  const west = servers.get('west');
  const ve = devices.get('https://200.1.1.1');
  if (!west || !ve) throw new Error('bug: no such part');
  west.way = 'cut';
  ve.problem = { code: 'unreachable', message: 'gone' };
  await clock.advance(170_000);
  const after = await samples(counted);
  for (const change of ['add', 'remove'])
    expect(after.get(`fairlead_member_changes_total{device="200.1.1.1",change="${change}"}`)).toBe(1);
  expect(after.get('fairlead_member_write_latency_seconds_sum{device="200.1.1.1"}')).toBeCloseTo(0.005, 2);
  expect(after.get('fairlead_cluster_reachable{cluster="west"}')).toBe(0);
  expect(after.get('fairlead_cluster_reachable{cluster="east"}')).toBe(1);
  expect(after.get('fairlead_device_reachable{loadbalancer="lb",layer="ve"}')).toBe(0);
  await end();
  const ended = await samples(counted);
  expect([ended.get('fairlead_leader'), ended.has('fairlead_tickets{state="enabled"}')]).toEqual([0, false]);
});

test('ten times the tickets are no sample more, and names are as Prometheus has them', async () => {
  const { counted, clock, management } = await begun();
  const before = [...(await samples(counted)).keys()].sort();
  for (let i = 0; i < 10; i++) await made(management.kube.create(lbtickets, ticketOf(`more${i}`, 'lb', `svc${i}`)));
  await clock.advance(10_000);
  const after = await samples(counted);
  expect(after.get('fairlead_tickets{state="enabled"}')).toBe(11);
  // One more is a pair of labels that was not met before, such as a turn that came again.
  expect([...after.keys()].filter((name) => !before.includes(name) && /more|svc|project|shop/.test(name))).toEqual([]);
  expect(after.size - before.length).toBeLessThan(12);
  for (const name of after.keys()) expect(name).toMatch(/^fairlead_[a-z_]+(\{[^}]*\})?$/);
  const { text } = await counted.text();
  for (const [, name, type] of text.matchAll(/^# TYPE (fairlead_\S+) (\S+)$/gm))
    expect([name, name?.endsWith('_total')]).toEqual([name, type === 'counter']);
});

test('each turn that changed something is one line', async () => {
  const { log } = await begun();
  expect(log.filter((line) => line === 'ticket changed')).toHaveLength(3);
  expect(log.filter((line) => line === 'configmap changed')).toHaveLength(1);
  expect(log.filter((line) => line === 'a tenant was written')).toHaveLength(1);
});

test('docs/metrics.md has a row for each metric, and no other', async () => {
  const { text } = await metrics().text();
  const served = [...text.matchAll(/^# TYPE (fairlead_\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const docs = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8');
  const told = [...docs.matchAll(/^\| `(fairlead_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(told.sort()).toEqual(served.sort());
});

test('metrics, health and readiness are served', async () => {
  const counted = metrics();
  const served = await serveMetrics(counted, { host: '127.0.0.1', port: 0 });
  if (!served.ok) throw new Error(served.problem.message);
  onTestFinished(served.value.close);
  const get = async (path: string) => {
    const answer = await fetch(`${served.value.url}${path}`);
    return [answer.status, answer.headers.get('content-type')?.split(';')[0], await answer.text()] as const;
  };
  expect(await get('/healthz')).toEqual([200, 'text/plain', 'ok\n']);
  expect(await get('/readyz')).toEqual([200, 'text/plain', 'ok\n']);
  const [status, , text] = await get('/metrics');
  expect([status, /^fairlead_leader 0$/m.test(text), text.includes('process_cpu_seconds_total')]).toEqual([
    200,
    true,
    true,
  ]);
  expect((await get('/other'))[0]).toBe(404);
  counted.scrape({
    loadbalancers: () => [],
    lbtickets: () => [],
    clusters: () => [],
    isDeviceReachable: () => undefined,
    queues: () => ({}),
    unready: () => 'not read yet',
  });
  expect(await get('/readyz')).toEqual([503, 'text/plain', 'not read yet\n']);
  const taken = await serveMetrics(counted, { host: '127.0.0.1', port: served.value.port });
  expect(taken.ok ? '' : taken.problem.message).toContain('EADDRINUSE');
});

test('a request to a device is told with its answer, or that there was none', async () => {
  const calls: DeviceCall[] = [];
  const answering = await serve(async () => Response.json({ message: 'no' }, { status: 401 }), {
    host: '127.0.0.1',
    port: 0,
  });
  const credentials = { user: 'u', password: 'p' };
  const made = device({ url: answering.url, credentials, clock: systemClock, onCall: (call) => calls.push(call) });
  const signal = new AbortController().signal;
  await made.provider.check?.(signal);
  await answering.close();
  await made.provider.check?.(signal);
  await made.close();
  expect(calls.map(({ method, code, isDeclaration }) => [method, code, isDeclaration])).toEqual([
    ['POST', '4xx', false],
    ['POST', 'none', false],
  ]);
});

test.each([
  ['8480', { host: '127.0.0.1', port: 8480 }],
  ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
  ['[::1]:80', { host: '::1', port: 80 }],
  ['off', undefined],
  ['x:y', 'refused'],
  ['127.0.0.1:70000', 'refused'],
])('--metrics %s', (text, want) => {
  const at = parseListen(text);
  expect(at.ok ? at.value : 'refused').toEqual(want);
});
