// cis.mode external: what we write is read by F5's own controllers, here by a stand-in that goes by their documented rules
// and knows nothing of ours.
import { lbrules, lbtickets, loadbalancers } from '@fairlead/api';
import { namespaces, services } from '@fairlead/kube';
import type { Controller } from '@fairlead/sim-cis';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { begun, file, found, messageAt, patched, serve } from './testing/external.ts';
import { listner, rule, ticket } from './testing/objects.ts';
import { conditionAt, type World } from './testing/world.ts';

const events = async (here: World, name: string, reason: string) =>
  (await here.events(name)).filter((one) => one.startsWith(reason));

const many = Array.from({ length: 21 }, (_, i) => ({ operator: 'equal' as const, value: `a${i}.example.com` }));

test.each<Controller>(['cis', 'cis-c'])(
  '%s finds the pods of listners and rules, and nothing else',
  async (controller) => {
    const here = await begun();
    await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
    await made(here.management.create(lbrules, rule('canary')));
    const svc01 = await serve(here, 'svc01');
    const svc03 = await serve(here, 'svc03');
    await serve(here, 'other');
    expect(await found(here, controller)).toEqual({
      members: {
        '/acp-region01_shop/shop_http_app/svc01_8080_pool': svc01,
        '/acp-region01_shop/shop_http_app/svc03_8080_pool': svc03,
      },
      complaints: [],
    });
    expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  },
);

test('CIS goes by the Service port, CIS-C by that of the pods: where they differ, one of the two is wrong for a number', async () => {
  const here = await begun();
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  const all = await serve(here, 'svc01', { port: 8080, target: 9090 });
  expect((await found(here, 'cis')).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toEqual(all);
  expect((await found(here, 'cis-c')).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toEqual([]);
  expect(await messageAt(here, 'test')).toBe(
    'written for the CIS of the cluster, which does not report back; with CIS-C pool shop_http_app/svc01_8080_pool stays empty, for it goes by the port of the pods: give Service svc01 the port 9090, its targetPort, and use that',
  );
  const at = { name: 'svc01', namespace: 'shop' };
  const ports = [{ name: 'web', port: 8080, targetPort: 8080 }];
  await made(here.target.patch(services, at, { type: 'merge', body: { spec: { ports } } }));
  await here.clock.advance(2000);
  expect(await messageAt(here, 'test')).toBe('written for the CIS of the cluster, which does not report back');
});

test.each([
  ['an address', { type: 'ip' as const, values: [{ operator: 'equal' as const, value: '10.0.0.0/8' }] }, 'addresses'],
  ['more than 20 values', { type: 'domain' as const, values: many }, 'values'],
])('a rule with %s becomes a list, of which CIS-C knows nothing: the ticket says so', async (_, entry, ending) => {
  const here = await begun();
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await made(here.management.create(lbrules, rule('canary', { rules: [entry] })));
  await here.clock.advance(2000);
  const path = `shop_http_app/test_80_vs_canary_0_${ending}`;
  expect((await found(here, 'cis')).complaints).toEqual([]);
  expect((await found(here, 'cis-c')).complaints).toEqual([`/acp-region01_shop/${path}: class Data_Group is unknown`]);
  expect(await messageAt(here, 'test')).toContain(`CIS-C has no Data_Group, so what uses ${path} fails there`);
});

test('each namespace has a tenant of its own, and both controllers take both', async () => {
  const here = await begun();
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await file(here, ticket('two', { namespace: 'project', listners: [listner(80, 'svc02')] }));
  const svc01 = await serve(here, 'svc01');
  const svc02 = await serve(here, 'svc02', { namespace: 'project' });
  for (const controller of ['cis', 'cis-c'] as const)
    expect(await found(here, controller)).toEqual({
      members: {
        '/acp-region01_project/project_http_app/svc02_8080_pool': svc02,
        '/acp-region01_shop/shop_http_app/svc01_8080_pool': svc01,
      },
      complaints: [],
    });
});

test('a Service behind two pools fills one: the other is told by LabelConflict and an Event', async () => {
  const here = await begun();
  const tcp = { ...listner(22, 'svc01'), protocal: 'tcp' as const, session: 'none' as const };
  await file(here, ticket('test', { listners: [listner(80, 'svc01'), tcp] }));
  const svc01 = await serve(here, 'svc01');
  expect((await found(here)).members).toEqual({
    '/acp-region01_shop/shop_http_app/svc01_8080_pool': svc01,
    '/acp-region01_shop/shop_tcp_app/svc01_8080_pool': [],
  });
  const told = await here.ticket('test');
  expect(conditionAt(told, 'LabelConflict')).toEqual(['True', 'LabelConflict']);
  expect(conditionAt(told, 'Ready')).toEqual(['False', 'LabelConflict']);
  expect(told.status?.conditions?.find(({ type }) => type === 'LabelConflict')?.message).toMatch(
    /pool shop_tcp_app\/svc01_8080_pool stays empty: Service svc01 carries the labels of pool shop_http_app\/svc01_8080_pool/,
  );
  expect(await events(here, 'test', 'LabelConflict')).toHaveLength(1);
  const before = here.writes.length;
  await here.restart();
  await here.clock.advance(2000);
  expect(here.writes.slice(before)).toEqual([]);
  expect(await events(here, 'test', 'LabelConflict')).toHaveLength(1);

  // A Service of its own for the second listner, with the same pods, is the way out.
  const own = await serve(here, 'svc01-tcp');
  const body = {
    spec: { listners: [listner(80, 'svc01'), { ...tcp, services: [{ service: 'svc01-tcp', port: 8080, weight: 1 }] }] },
  };
  await made(here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toEqual(['False', 'NoConflict']);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await found(here)).members['/acp-region01_shop/shop_tcp_app/svc01-tcp_8080_pool']).toEqual(own);
});

test('before there is a Service, the pool of another ticket waits for it no longer than that ticket names it', async () => {
  const here = await begun();
  await file(here, ticket('first', { listners: [listner(80, 'svc01')] }));
  const tcp = { ...listner(22, 'svc01'), protocal: 'tcp' as const, session: 'none' as const };
  await file(here, ticket('second', { listners: [tcp] }));
  expect(conditionAt(await here.ticket('second'), 'LabelConflict')).toEqual(['True', 'LabelConflict']);
  const body = { spec: { listners: [] } };
  await made(here.management.patch(lbtickets, { name: 'first', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(2000);
  expect(conditionAt(await here.ticket('second'), 'LabelConflict')).toEqual(['False', 'NoConflict']);
});

test('a pool that comes later takes no labels from one that has them, whatever their names', async () => {
  const here = await begun();
  await serve(here, 'svc01');
  const tcp = { ...listner(22, 'svc01'), protocal: 'tcp' as const, session: 'none' as const };
  await file(here, ticket('test', { listners: [tcp] }));
  const before = await found(here);
  await file(here, ticket('late', { listners: [listner(80, 'svc01')] }));
  expect((await found(here)).members).toMatchObject(before.members);
  expect(conditionAt(await here.ticket('late'), 'LabelConflict')).toEqual(['True', 'LabelConflict']);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  // When the first gives it up, the other gets it, and is well.
  await made(
    here.management.patch(
      lbtickets,
      { name: 'test', namespace: 'project' },
      { type: 'merge', body: { spec: { state: 'disabled' } } },
    ),
  );
  await here.clock.advance(3000);
  expect(conditionAt(await here.ticket('late'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await found(here)).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toHaveLength(2);
});

test('labels that somebody else has set stay theirs, and are told', async () => {
  const here = await begun();
  const labels = { 'cis.f5.com/as3-tenant': 'theirs', 'cis.f5.com/as3-app': 'app', 'cis.f5.com/as3-pool': 'pool' };
  await serve(here, 'svc01', { labels });
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await here.clock.advance(2000);
  expect((await made(here.target.get(services, { name: 'svc01', namespace: 'shop' }))).metadata.labels).toEqual(labels);
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toEqual(['True', 'LabelConflict']);
  const body = {
    metadata: { labels: { 'cis.f5.com/as3-tenant': null, 'cis.f5.com/as3-app': null, 'cis.f5.com/as3-pool': null } },
  };
  await made(here.target.patch(services, { name: 'svc01', namespace: 'shop' }, { type: 'merge', body }));
  await here.clock.advance(2000);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await found(here)).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toHaveLength(2);
});

test('our own agent goes by the map, so a Service behind two pools is no conflict there', async () => {
  const here = await begun({});
  const tcp = { ...listner(22, 'svc01'), protocal: 'tcp' as const, session: 'none' as const };
  await file(here, ticket('test', { listners: [listner(80, 'svc01'), tcp] }));
  await serve(here, 'svc01');
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toBeUndefined();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('a namespace that somebody else has labelled otherwise is found by no agent: told, until the label goes', async () => {
  const here = await begun({ nsselector: { team: 'one' } });
  const relabel = (team: string | null) =>
    made(here.target.patch(namespaces, { name: 'shop' }, { type: 'merge', body: { metadata: { labels: { team } } } }));
  await relabel('two');
  await serve(here, 'svc01');
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await here.clock.advance(2000);
  const told = await here.ticket('test');
  expect(conditionAt(told, 'Ready')).toEqual(['False', 'LabelConflict']);
  expect(told.status?.conditions?.find(({ type }) => type === 'LabelConflict')?.message).toMatch(
    /finds its namespaces by team=one, and namespace shop is labelled team=two/,
  );
  await relabel(null);
  await here.clock.advance(60_000);
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toEqual(['False', 'NoConflict']);
});

/** Somebody labels the Service, over whatever is there; null takes a label away. */
const relabelled = async (here: World, name: string, labels: Record<string, string | null>) => {
  const body = { metadata: { labels } };
  await made(here.target.patch(services, { name, namespace: 'shop' }, { type: 'merge', body }));
  await here.clock.advance(2000);
};

test('one label that somebody sets over ours empties the pool: told with key and value, over a restart, until it goes', async () => {
  const here = await begun();
  await serve(here, 'svc01');
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toBeUndefined();
  await relabelled(here, 'svc01', { 'cis.f5.com/as3-pool': 'theirs' });
  expect((await found(here)).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toEqual([]);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['False', 'LabelConflict']);
  expect(await messageAt(here, 'test', 'LabelConflict')).toBe(
    'pool shop_http_app/svc01_8080_pool stays empty: somebody else has labelled Service svc01 with cis.f5.com/as3-pool=theirs; remove these labels, or use another Service',
  );
  const before = await events(here, 'test', 'LabelConflict');
  await here.restart();
  await here.clock.advance(2000);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['False', 'LabelConflict']);
  expect(await events(here, 'test', 'NoConflict')).toEqual([]);
  expect(await events(here, 'test', 'LabelConflict')).toEqual(before);
  await relabelled(here, 'svc01', { 'cis.f5.com/as3-pool': null });
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await found(here)).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toHaveLength(2);
});

test('a label that somebody takes away comes back, and is no conflict in between', async () => {
  const here = await begun();
  await serve(here, 'svc01');
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await relabelled(here, 'svc01', { 'cis.f5.com/as3-pool': null });
  expect((await found(here)).members['/acp-region01_shop/shop_http_app/svc01_8080_pool']).toHaveLength(2);
  expect(await events(here, 'test', 'LabelConflict')).toEqual([]);
  expect(conditionAt(await here.ticket('test'), 'LabelConflict')).toBeUndefined();
});

test('labels of a tenant that was another go too, though nobody looked when it changed', async () => {
  const here = await begun();
  await serve(here, 'svc01');
  await serve(here, 'svc02', { labels: { own: 'yes' } });
  await file(here, ticket('test', { listners: [listner(80, 'svc01'), listner(81, 'svc02')] }));
  await here.stop();
  const at = { name: 'test', namespace: 'project' };
  const cis = { tenant: 'new_{namespace}' };
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body: { spec: { cis } } }));
  const listners = [listner(80, 'svc01')];
  await made(here.management.patch(lbtickets, at, { type: 'merge', body: { spec: { listners } } }));
  await here.begin();
  await here.clock.advance(2000);
  const labelsOf = async (name: string) =>
    (await made(here.target.get(services, { name, namespace: 'shop' }))).metadata.labels;
  expect(await labelsOf('svc02')).toEqual({ own: 'yes' });
  expect(await labelsOf('svc01')).toMatchObject({ 'cis.f5.com/as3-tenant': 'new_shop' });
});

test('what we take back from a Service leaves nothing of ours on it, so that it is not taken back with each turn', async () => {
  const here = await begun();
  const pool = { 'cis.f5.com/as3-pool': 'svc02_8080_pool' };
  await serve(here, 'svc01');
  await serve(here, 'svc02', { labels: pool });
  await file(here, ticket('test', { listners: [listner(80, 'svc01'), listner(81, 'svc02')] }));
  await patched(here, 'test', { listners: [listner(80, 'svc01')] });
  const from = here.writes.length;
  await patched(here, 'test', { listners: [{ ...listner(80, 'svc01'), balance: 'least-connections-member' }] });
  expect(here.writes.slice(from).filter((one) => one.includes('services'))).toEqual([]);
  expect((await made(here.target.get(services, { name: 'svc02', namespace: 'shop' }))).metadata.labels).toEqual(pool);
});

test('taken out of what CIS reads is all that is known when a ticket is disabled', async () => {
  const here = await begun();
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await patched(here, 'test', { state: 'disabled' });
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'Withdrawn']);
  expect(await messageAt(here, 'test')).toMatch(/does not report back/);
  await patched(here, 'test', { state: 'deleted' });
  expect((await here.ticket('test')).status?.process).toBe('deleted');
  expect(await messageAt(here, 'test')).toMatch(/does not report back/);
});
