// One ConfigMap for a tenant: who has it, who is refused, and what happens when the first one goes.
import { lbtickets, loadbalancers, type Loadbalancer } from '@fairlead/api';
import { configMaps, namespaces, type ConfigMap } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { begun, file, found, messageAt, patched, serve } from './testing/external.ts';
import { lb, listner, ticket } from './testing/objects.ts';
import { conditionAt, type World } from './testing/world.ts';

test('a second ConfigMap with the same tenant is not written, for CIS would forget the first; the ticket is told what to set', async () => {
  const here = await begun({ cis: { mode: 'external', tenant: '{cluster}' } });
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  const svc01 = await serve(here, 'svc01');
  await file(here, ticket('two', { namespace: 'project', listners: [listner(80, 'svc02')] }));
  expect(conditionAt(await here.ticket('two'), 'Programmed')).toEqual(['False', 'taken']);
  const message = (await here.ticket('two')).status?.conditions?.find(({ type }) => type === 'Programmed')?.message;
  expect(message).toMatch(
    /ConfigMap shop\/fairlead-demo already.*set spec\.cis\.tenant of Loadbalancer demo to \{cluster\}_\{namespace\}/,
  );
  expect(await found(here)).toEqual({
    members: { '/acp-region01/shop_http_app/svc01_8080_pool': svc01 },
    complaints: [],
  });
});

/** A ConfigMap of somebody else's that declares `tenant`. */
const foreign = (tenant: string, metadata: object = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'theirs',
    namespace: 'project',
    labels: { f5type: 'virtual-server', as3: 'true' },
    ...metadata,
  },
  data: {
    template: JSON.stringify({
      class: 'AS3',
      declaration: { class: 'ADC', [tenant]: { class: 'Tenant', app: { class: 'Application' } } },
    }),
  },
});

/** Our CIS reads the namespace, as it would after the first ticket there. */
const watched = async (here: World, name: string, foo: string | null = 'bar') => {
  await made(here.target.patch(namespaces, { name }, { type: 'merge', body: { metadata: { labels: { foo } } } }));
  await here.clock.advance(1000);
};

test.each([{ foo: 'bar' }, {}])(
  'when the first ConfigMap goes, the one that was refused is written: %j',
  async (nsselector) => {
    const here = await begun({ cis: { mode: 'external', tenant: '{cluster}' }, nsselector });
    await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
    await file(here, ticket('two', { namespace: 'project', listners: [listner(80, 'svc02')] }));
    const svc02 = await serve(here, 'svc02', { namespace: 'project' });
    expect(conditionAt(await here.ticket('two'), 'Programmed')).toEqual(['False', 'taken']);
    await patched(here, 'test', { state: 'disabled' });
    expect(conditionAt(await here.ticket('two'), 'Programmed')).toEqual(['True', 'Written']);
    expect((await found(here, 'cis', nsselector)).members).toEqual({
      '/acp-region01/project_http_app/svc02_8080_pool': svc02,
    });
  },
);

test('a tenant that the Loadbalancer gives up is free for another one', async () => {
  const here = await begun({ cis: { mode: 'external', tenant: 'prod' } });
  await made(
    here.management.create(loadbalancers, lb({ ...beside, cis: { mode: 'external', tenant: 'prod' } }, 'two')),
  );
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  await file(here, ticket('two', { loadbalancer: 'two', namespace: 'project', listners: [listner(80, 'svc02')] }));
  expect(conditionAt(await here.ticket('two'), 'Programmed')).toEqual(['False', 'taken']);
  const body = { spec: { cis: { tenant: 'stage' } } };
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body }));
  await here.clock.advance(2000);
  expect(conditionAt(await here.ticket('two'), 'Programmed')).toEqual(['True', 'Written']);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['True', 'Written']);
});

test('of two that are written in one moment, one is', async () => {
  const here = await begun({ cis: { mode: 'external', tenant: '{cluster}' } });
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner(80, 'svc01')] })));
  await file(here, ticket('two', { namespace: 'project', listners: [listner(80, 'svc02')] }));
  const reasons = [await here.ticket('test'), await here.ticket('two')].map((one) => conditionAt(one, 'Programmed'));
  expect(reasons.toSorted()).toEqual([
    ['False', 'taken'],
    ['True', 'Written'],
  ]);
  expect((await found(here)).complaints).toEqual([]);
});

/** Another Loadbalancer with networks of its own: the same CIS, on another VE. */
const beside: Partial<Loadbalancer['spec']> = {
  ltm: { ...lb().spec.ltm, cidr: '10.1.0.0/29' },
  ve: { ...lb().spec.ve, addr: '200.1.1.2', cidr: '20.2.0.0/24' },
};

test.each<[string, Partial<Loadbalancer['spec']>, string]>([
  ['the same CIS, another VE', {}, 'taken'],
  ['another CIS, another VE', { nsselector: { cis: 'two' } }, 'Written'],
  ['our own agent, another VE', { nsselector: { cis: 'two' }, cis: { mode: 'fairlead', tenant: 'prod' } }, 'Written'],
  [
    'another CIS, the same VE in other letters',
    { nsselector: { cis: 'two' }, ve: { ...lb().spec.ve, addr: 'VE.example.com', cidr: '20.2.0.0/24' } },
    'taken',
  ],
])('a ConfigMap with the same tenant, and %s', async (_, spec, reason) => {
  const cis = { mode: 'external' as const, tenant: 'prod' };
  const here = await begun({ cis, ve: { ...lb().spec.ve, addr: 've.example.com' } });
  await made(here.management.create(loadbalancers, lb({ ...beside, cis, ...spec }, 'two')));
  await file(here, ticket('two', { loadbalancer: 'two', namespace: 'project', listners: [listner(80, 'svc02')] }));
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  expect(conditionAt(await here.ticket('test'), 'Programmed')?.[1]).toBe(reason);
});

test('what somebody else declares is theirs: told by name, and written when it is gone', async () => {
  const here = await begun();
  await watched(here, 'project');
  await made(here.target.create(configMaps, foreign('acp-region01_shop')));
  await here.clock.advance(1000);
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'taken']);
  expect(await messageAt(here, 'test')).toMatch(
    /tenant acp-region01_shop is declared by ConfigMap project\/theirs already.*such as \{cluster\}_\{namespace\}_demo, or remove that ConfigMap/,
  );
  expect((await found(here)).complaints).toEqual([]);
  const before = here.writes.length;
  await made(here.target.patch(configMaps, { name: 'theirs', namespace: 'project' }, touch));
  await here.clock.advance(2000);
  expect(here.writes.slice(before)).toEqual([]);
  await made(here.target.apply(configMaps, foreign('other'), { fieldManager: 'them', force: true }));
  await here.clock.advance(2000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['True', 'Written']);
});

const touch = { type: 'merge' as const, body: { metadata: { annotations: { touched: 'yes' } } } };

test.each<[string, ConfigMap]>([
  ['declares another tenant', foreign('acp-region01')],
  ['is in a namespace that our CIS does not read', foreign('acp-region01_shop', { namespace: 'elsewhere' })],
  ['is none for a CIS', foreign('acp-region01_shop', { labels: { f5type: 'virtual-server' } })],
  ['holds no JSON', { ...foreign('acp-region01_shop'), data: { template: 'class: AS3' } }],
])('a ConfigMap of somebody else that %s is no rival', async (_, theirs) => {
  const here = await begun();
  await watched(here, 'project');
  await made(here.target.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } }));
  await made(here.target.create(configMaps, theirs));
  await here.clock.advance(1000);
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['True', 'Written']);
});

test('a namespace that our CIS reads no longer takes the rival in it along', async () => {
  const here = await begun();
  await watched(here, 'project');
  await made(here.target.create(configMaps, foreign('acp-region01_shop')));
  await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'taken']);
  await watched(here, 'project', null);
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['True', 'Written']);
});
