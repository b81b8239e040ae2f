// What lands in the target cluster, and what happens to it when an edit is bad or somebody else writes there.
import { lbrules, lbtickets, loadbalancers, type Lbrule } from '@fairlead/api';
import { configMaps, namespaces, services } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, listner, rule, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

async function enabled(...names: string[]): Promise<World> {
  const here = await world({ services: ['svc0', 'svc1', 'svc03', 'svc7', 'svc8', 'svc9'] });
  await made(here.management.create(loadbalancers, lb()));
  for (const [i, name] of names.entries()) {
    await made(here.management.create(lbtickets, ticket(name, { listners: [listner(80, `svc${i}`)] })));
    await here.clock.advance(1000);
  }
  await here.report();
  return here;
}

const objects = async (here: World): Promise<Record<string, Record<string, unknown>>> => {
  const text = (await here.configMap())?.data?.['template'] ?? '{}';
  const template = JSON.parse(text) as { declaration: Record<string, Record<string, Record<string, unknown>>> };
  return template.declaration['acp-region01']?.['shop_http_app'] as Record<string, Record<string, unknown>>;
};

const change = (here: World, name: string, body: object) =>
  made(here.management.patch(lbtickets, { name, namespace: 'project' }, { type: 'merge', body }));

const badRule = rule('canary', {
  rules: [{ type: 'url', values: [{ operator: 'regexp', value: '(' }] }],
});

const ruleConditions = async (here: World) => {
  const found: Lbrule = await made(here.management.get(lbrules, { name: 'canary', namespace: 'project' }));
  return found.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
};

test('the ConfigMap has what CIS and our agent look for', async () => {
  const here = await enabled('test');
  const { metadata, data } = (await here.configMap()) ?? {};
  expect(metadata?.labels).toEqual({ f5type: 'virtual-server', as3: 'true' });
  expect(metadata?.annotations).toMatchObject({
    'fairlead.io/loadbalancer': 'demo',
    'fairlead.io/revision': expect.stringMatching(/^[0-9a-f]{16}$/),
    'fairlead.io/pools': '{"shop_http_app/svc0_8080_pool":{"service":"svc0","port":8080}}',
  });
  expect(JSON.parse(data?.['template'] ?? '')).toMatchObject({ class: 'AS3', declaration: { class: 'ADC' } });
  expect(Object.keys(await objects(here))).toEqual(
    expect.arrayContaining(['test_80_vs', 'test_80_vs_irule', 'svc0_8080_pool']),
  );
});

test('a rule whose regexp does not compile leaves the last good configuration, and is told where it is wrong', async () => {
  const here = await enabled('test', 'other');
  const before = await objects(here);
  await made(here.management.create(lbrules, badRule));
  await here.clock.advance(1000);
  const told = await here.ticket('test');
  expect(told.status?.process).toBe('enabled');
  expect(conditionAt(told, 'Programmed')).toEqual(['False', 'invalid']);
  expect(told.status?.conditions?.find((one) => one.type === 'Programmed')?.message).toMatch(
    /spec\.rules\[0\]\.values\[0\]\.value: Lbrule canary: /,
  );
  expect(await ruleConditions(here)).toEqual([
    'Accepted False invalid',
    'Programmed False invalid',
    'Ready False invalid',
  ]);
  expect(await objects(here)).toEqual(before);

  await change(here, 'other', { spec: { listners: [listner(80, 'svc1'), listner(81, 'svc9')] } });
  await here.clock.advance(1000);
  expect(await objects(here)).toMatchObject({ ...before, other_81_vs: {}, svc9_8080_pool: {} });
  await here.report();
  expect(conditionAt(await here.ticket('other'), 'Ready')).toEqual(['True', 'Ready']);

  await made(
    here.management.patch(
      lbrules,
      { name: 'canary', namespace: 'project' },
      { type: 'merge', body: { spec: rule('canary').spec } },
    ),
  );
  await here.clock.advance(1000);
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect(await ruleConditions(here)).toEqual([
    'Accepted True Accepted',
    'Programmed True Programmed',
    'Ready True Ready',
  ]);
  expect(await objects(here)).toHaveProperty('svc03_8080_pool');
});

test('a bad rule that is there first fails the ticket before it takes an address', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbrules, badRule));
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner()] })));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('failed');
  expect(conditionAt(await here.ticket('test'), 'Allocated')).toEqual(['False', 'invalid']);
  await made(here.management.remove(lbrules, { name: 'canary', namespace: 'project' }));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
});

test('a rule of no ticket, or of no listner, says what there is', async () => {
  const here = await enabled('test');
  await made(here.management.create(lbrules, rule('canary', { listner: 'lsnr99' })));
  await here.clock.advance(1000);
  const found = await made(here.management.get(lbrules, { name: 'canary', namespace: 'project' }));
  expect(found.status?.conditions?.[0]?.message).toBe(
    'spec.listner: Lbticket project/test has no listner "lsnr99"; it has lsnr80',
  );
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('of two tickets that want one name for different things the older has it, and the other is told', async () => {
  const here = await enabled('test');
  await made(here.management.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'rival' } }));
  const rival = ticket('test', { listners: [listner(80, 'svc7')] });
  await made(here.management.create(lbtickets, { ...rival, metadata: { name: 'test', namespace: 'rival' } }));
  await here.clock.advance(1000);
  const told = await made(here.management.get(lbtickets, { name: 'test', namespace: 'rival' }));
  expect(conditionAt(told, 'Programmed')).toEqual(['False', 'taken']);
  expect(told.status?.conditions?.find((one) => one.type === 'Programmed')?.message).toMatch(
    /belongs to ticket project\/test/,
  );
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  await change(here, 'test', { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  expect(await objects(here)).toHaveProperty('svc7_8080_pool');
});

test("a neighbour's edit on its way leaves the conditions of a ticket as they were", async () => {
  const here = await enabled('test', 'other');
  const before = await here.ticket('test');
  await change(here, 'other', { spec: { listners: [listner(80, 'svc8')] } });
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('other'), 'Programmed')).toEqual(['False', 'pending']);
  expect((await here.ticket('test')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  await here.report();
  expect(conditionAt(await here.ticket('other'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await here.ticket('test')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test('what somebody else changes in our fields is put back, what they add stays', async () => {
  const here = await enabled('test');
  const before = await here.configMap();
  const body = { metadata: { annotations: { theirs: 'x' } }, data: { template: '{}', notes: 'y' } };
  await made(here.target.patch(configMaps, { name: 'fairlead-demo', namespace: 'shop' }, { type: 'merge', body }));
  await here.clock.advance(1000);
  const after = await here.configMap();
  expect(after?.data).toEqual({ ...before?.data, notes: 'y' });
  expect(after?.metadata.annotations).toMatchObject({ ...before?.metadata.annotations, theirs: 'x' });
});

test('a Service that is made later gets its labels, and a label that others set to another value stays', async () => {
  const here = await enabled('test');
  const labels = { 'cis.f5.com/as3-pool': 'theirs' };
  const spec = { ports: [{ port: 8080 }] };
  const at = { name: 'svc0', namespace: 'shop' };
  await made(here.target.remove(services, at));
  await made(here.target.create(services, { apiVersion: 'v1', kind: 'Service', metadata: { ...at, labels }, spec }));
  await here.clock.advance(1000);
  expect((await made(here.target.get(services, at))).metadata.labels).toEqual(labels);
  expect(here.log).toEqual([expect.stringMatching(/labels of Service svc0 stay as somebody else set them/)]);
  await made(here.target.remove(services, at));
  await made(here.target.create(services, { apiVersion: 'v1', kind: 'Service', metadata: at, spec }));
  await here.clock.advance(1000);
  expect((await made(here.target.get(services, at))).metadata.labels).toMatchObject({
    'cis.f5.com/as3-pool': 'svc0_8080_pool',
  });
});

test('a controller that stopped between two writes leaves nothing behind', async () => {
  const here = await enabled('test');
  await change(here, 'test', { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  await here.stop();
  await here.report();
  await made(here.target.remove(configMaps, { name: 'fairlead-demo', namespace: 'shop' }));
  await here.begin();
  await here.clock.advance(1000);
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).not.toHaveProperty('foo');
});

test('nonsense that somebody wrote into our annotations is written over', async () => {
  const here = await enabled('test');
  const before = await here.configMap();
  for (const nonsense of [
    '{',
    'null',
    '[1]',
    '{"project/test":1}',
    '{"project/test":{"digest":"x","items":{"a":5}}}',
  ]) {
    const annotations = {
      'fairlead.io/tickets': nonsense,
      'fairlead.io/pools': nonsense,
      'fairlead.io/status': nonsense,
    };
    const body = { metadata: { annotations }, data: { template: nonsense } };
    await made(here.target.patch(configMaps, { name: 'fairlead-demo', namespace: 'shop' }, { type: 'merge', body }));
    await here.clock.advance(1000);
    expect((await here.configMap())?.data).toEqual(before?.data);
  }
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect(here.log).toEqual([]);
});

test('a ticket that is given up while the labels of its Services are written is not programmed any more', async () => {
  const here = await world({
    betweenTarget: (kube) => ({
      ...kube,
      async apply(kind, object, options) {
        if (kind.plural === 'services') await here.clock.sleep(1000);
        return kube.apply(kind, object, options);
      },
    }),
  });
  await made(here.management.create(loadbalancers, lb()));
  const metadata = { name: 'svc', namespace: 'shop' };
  await made(
    here.target.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 8080 }] } }),
  );
  await here.clock.advance(1000);
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner(80, 'svc')] })));
  await here.clock.advance(100);
  expect(here.writes.filter((one) => one.includes('configmaps'))).toEqual([]);
  expect(here.writes).toContain('apply services svc');
  await change(here, 'test', { spec: { state: 'disabled' } });
  await here.clock.advance(100);
  await change(here, 'test', { spec: { state: 'deleted' } });
  await here.clock.advance(100);
  expect((await here.ticket('test')).status?.process).toBe('disabled');
  await here.clock.advance(10_000);
  expect(here.writes.filter((one) => one.includes('configmaps'))).toEqual([]);
  expect((await here.ticket('test')).status?.process).toBe('deleted');
});
