// Taking back (issue of tickets, item 11): what was ours goes in an order that harms nobody, what was not ours stays.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { configMaps, namespaces, services } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, listner, service, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

const at = (name: string) => ({ name, namespace: 'shop' });

/** A ticket with two listners, their Services, and the agent's word that all is on the device. */
async function served(): Promise<World> {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  for (const name of ['svc01', 'svc02', 'stranger'])
    await made(
      here.target.create(services, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { ...at(name), labels: { own: 'yes' } },
        spec: { ports: [{ port: 8080 }] },
      }),
    );
  await made(
    here.management.create(lbtickets, ticket('test', { listners: [listner(80, 'svc01'), listner(81, 'svc02')] })),
  );
  await here.clock.advance(1000);
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  return here;
}

const labelsOf = async (here: World, name: string): Promise<string[]> => {
  const found = await made(here.target.get(services, at(name)));
  return Object.keys(found.metadata.labels ?? {}).sort();
};

const three = ['cis.f5.com/as3-app', 'cis.f5.com/as3-pool', 'cis.f5.com/as3-tenant'];

const change = async (here: World, spec: object) => {
  await made(
    here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body: { spec } }),
  );
  await here.clock.advance(1000);
};

const poolsOf = async (here: World) =>
  Object.keys(JSON.parse((await here.configMap())?.metadata.annotations?.['fairlead.io/pools'] ?? '{}') as object);

test('a listner that is removed takes its pool and the labels of its Service along, and nothing of its neighbour', async () => {
  const here = await served();
  const from = here.writes.length;
  await change(here, { listners: [listner(80, 'svc01')] });
  expect(await poolsOf(here)).toEqual(['shop_http_app/svc01_8080_pool']);
  expect(await labelsOf(here, 'svc02')).toEqual(['own']);
  expect(await labelsOf(here, 'svc01')).toEqual([...three, 'own']);
  // Out of the ConfigMap before the labels, or a CIS would show an empty pool in between.
  expect(here.writes.slice(from).filter((one) => !one.includes('lbtickets'))).toEqual([
    'apply configmaps fairlead-demo',
    'apply services svc02',
  ]);
  expect((await here.ticket('test')).status?.veip).toBe('20.1.0.1');
});

test('disabled and deleted: the state, the ConfigMap, the labels; the addresses once the agent has said that all is gone', async () => {
  const here = await served();
  const from = here.writes.length;
  await change(here, { state: 'disabled' });
  await change(here, { state: 'deleted' });
  expect((await here.ticket('test')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.1' });
  await here.report();
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('deleted');
  expect((await here.ticket('test')).status?.veip).toBeUndefined();
  const order = here.writes.slice(from).map((one) => one.replace('lbtickets/status test', 'ticket'));
  const firstAt = (text: string) => order.findIndex((one) => one.startsWith(text));
  const steps = ['patch ticket', 'apply configmaps', 'apply services', 'remove configmaps', 'apply namespaces'];
  expect(steps.map(firstAt)).toEqual(steps.map(firstAt).toSorted((a, b) => a - b));
  expect(steps.map(firstAt)).not.toContain(-1);
  for (const name of ['svc01', 'svc02']) expect(await labelsOf(here, name)).toEqual(['own']);
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).not.toHaveProperty('foo');
  expect(await labelsOf(here, 'stranger')).toEqual(['own']);
});

test('labels that others also set are left alone', async () => {
  const here = await served();
  const { labels = {} } = (await made(here.target.get(services, at('svc01')))).metadata;
  const pool = { 'cis.f5.com/as3-pool': labels['cis.f5.com/as3-pool'] ?? '' };
  const asOther = { fieldManager: 'gitops', force: false };
  const [service, space] = [
    { apiVersion: 'v1', kind: 'Service', metadata: { ...at('svc01'), labels: pool } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { foo: 'bar' } } },
  ];
  await made(here.target.apply(services, service as never, asOther));
  await made(here.target.apply(namespaces, space, asOther));
  await change(here, { state: 'disabled' });
  await here.report();
  await here.clock.advance(1000);
  expect(await labelsOf(here, 'svc01')).toEqual(['cis.f5.com/as3-pool', 'own']);
  expect(await labelsOf(here, 'svc02')).toEqual(['own']);
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).toMatchObject({ foo: 'bar' });
});

test('a Service that goes leaves its pool and its ticket; made anew it gets its labels', async () => {
  const here = await served();
  const before = await here.configMap();
  await made(here.target.remove(services, at('svc01')));
  await here.clock.advance(1000);
  expect((await here.configMap())?.data).toEqual(before?.data);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
  await made(
    here.target.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: at('svc01'),
      spec: { ports: [{ port: 8080 }] },
    }),
  );
  await here.clock.advance(1000);
  expect(await labelsOf(here, 'svc01')).toEqual(three);
});

test('a namespace that goes takes the ConfigMap along; the ticket keeps its addresses, says so, and is well when it is back', async () => {
  const here = await served();
  await made(here.target.remove(namespaces, { name: 'shop' }));
  await here.clock.advance(15_000);
  expect((await here.target.get(configMaps, at('fairlead-demo'))).ok).toBe(false);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.1' });
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'missing']);
  await made(here.target.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }));
  for (const name of ['svc01', 'svc02']) await made(here.target.create(services, service(name)));
  await here.clock.advance(2000);
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('a Loadbalancer that becomes external keeps what is written, and takes back alike', async () => {
  const here = await served();
  const cis = { mode: 'external', tenant: '{cluster}' };
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body: { spec: { cis } } }));
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['True', 'Written']);
  await change(here, { state: 'disabled' });
  await here.clock.advance(1000);
  expect((await here.target.get(configMaps, at('fairlead-demo'))).ok).toBe(false);
  expect(await labelsOf(here, 'svc01')).toEqual(['own']);
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).not.toHaveProperty('foo');
});
