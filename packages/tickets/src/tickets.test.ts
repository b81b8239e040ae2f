// Whole paths of tickets, against two embedded API servers on one clock.
import { lbrules, lbtickets, loadbalancers, type Lbticket } from '@fairlead/api';
import { namespaces, services } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, listner, rule, service, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

const steps = (one: Lbticket) => one.status?.history?.map(({ from, to }) => `${from ?? 'new'} → ${to}`);

const change = (here: World, name: string, body: object) =>
  made(here.management.patch(lbtickets, { name, namespace: 'project' }, { type: 'merge', body }));

/** A ticket that is enabled and on the device. */
async function ready(here: World, one = ticket('test', { listners: [listner()] })): Promise<void> {
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, one));
  await here.clock.advance(1000);
  await here.report();
}

test('a ticket gets a pair of addresses, its network, its ConfigMap, and is ready once the agent says so', async () => {
  const here = await world({ services: ['svc01', 'svc02', 'svc03'] });
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner()] })));
  await here.clock.advance(1000);
  const enabled = await here.ticket('test');
  expect(here.log).toEqual([]);
  expect(enabled.spec).toMatchObject({ veip: '20.1.0.1', ltmip: '10.0.0.1' });
  expect(enabled.status).toMatchObject({ process: 'enabled', veip: '20.1.0.1', ltmip: '10.0.0.1' });
  expect(steps(enabled)).toEqual(['new → created', 'created → apply', 'apply → enabled']);
  expect(conditionAt(enabled, 'Programmed')).toEqual(['False', 'pending']);
  await here.report();
  const programmed = await here.ticket('test');
  expect(conditionAt(programmed, 'Programmed')).toEqual(['True', 'Programmed']);
  expect(conditionAt(programmed, 'Ready')).toEqual(['True', 'Ready']);
  expect((await here.events('test')).map((line) => line.split(':')[0])).toEqual(['Created', 'Applied', 'Enabled']);
  expect((await here.loadbalancer('demo')).status).toMatchObject({
    ips: [{ veip: '20.1.0.1', ltmip: '10.0.0.1', status: 'bond', ticket: 'project/test' }],
    capacity: { ve: { total: 254, used: 1 }, ltm: { total: 6, used: 1 } },
  });
});

test('a ticket without listners is ready with its addresses, and puts nothing on the device', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect(await here.configMap()).toBeUndefined();
});

test('a restart with nothing to do writes nothing', async () => {
  const here = await world();
  await ready(here);
  await made(here.management.create(lbrules, rule('canary')));
  await made(here.management.create(lbtickets, ticket('bad', { loadbalancer: 'nowhere' })));
  await here.clock.advance(1000);
  await here.report();
  here.writes.length = 0;
  await here.restart();
  await here.clock.advance(60_000);
  expect(here.writes).toEqual([]);
  expect(here.log).toEqual([]);
});

const refusals: { rule: string; spec: Partial<Lbticket['spec']>; reason: string; says: RegExp }[] = [
  { rule: 'an unknown load balancer', spec: { loadbalancer: 'nowhere' }, reason: 'missing', says: /spec\.loadbalancer: Loadbalancer "nowhere" does not exist; create it/ },
  { rule: 'an address outside the network', spec: { veip: '20.2.0.1' }, reason: 'invalid', says: /spec\.veip: 20\.2\.0\.1 is not in 20\.1\.0\.0\/24/ },
  { rule: 'the network address', spec: { ltmip: '10.0.0.0' }, reason: 'invalid', says: /spec\.ltmip: .*reserved or excluded/ },
  { rule: 'an excluded address', spec: { veip: '20.1.0.9' }, reason: 'invalid', says: /spec\.veip: .*reserved or excluded/ },
  { rule: 'an address that another ticket holds', spec: { veip: '20.1.0.200' }, reason: 'taken', says: /spec\.veip: 20\.1\.0\.200 is held by project\/holder/ },
  { rule: 'a namespace that is not there', spec: { namespace: 'ghost' }, reason: 'missing', says: /spec\.namespace: namespace "ghost" does not exist in cluster acp-region01; create it/ },
]; // prettier-ignore
for (const { rule, spec, reason, says } of refusals) {
  test(`${rule} fails the ticket, says what to do, and holds no address`, async () => {
    const here = await world();
    const exclude = { ve: { addr: '200.1.1.1', user: 'a', passwd: 'b', cidr: '20.1.0.0/24', exclude: ['20.1.0.9'] } };
    await made(here.management.create(loadbalancers, lb(exclude)));
    await made(here.management.create(lbtickets, ticket('holder', { veip: '20.1.0.200' })));
    await here.clock.advance(500);
    await made(here.management.create(lbtickets, ticket('test', spec)));
    await here.clock.advance(500);
    const failed = await here.ticket('test');
    expect(failed.status?.process).toBe('failed');
    expect(conditionAt(failed, 'Allocated')).toEqual(['False', reason]);
    expect(conditionAt(failed, 'Ready')).toEqual(['False', reason]);
    expect(failed.status?.conditions?.[0]?.message).toMatch(says);
    expect(await here.events('test')).toEqual([expect.stringMatching(/^Failed: /)]);
    expect((await here.loadbalancer('demo')).status?.capacity).toMatchObject({ ve: { used: 1 }, ltm: { used: 1 } });
  });
}

test('a failed ticket goes on when what it lacked is there', async () => {
  const here = await world();
  await made(here.management.create(lbtickets, ticket('test', { namespace: 'later' })));
  await here.clock.advance(500);
  await made(here.management.create(loadbalancers, lb()));
  await here.clock.advance(500);
  expect((await here.ticket('test')).status?.process).toBe('failed');
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } };
  await made(here.target.create(namespaces, namespace));
  await here.clock.advance(500);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
});

test('tickets beyond the last address wait, and the oldest goes on when one comes free', async () => {
  const here = await world();
  await made(
    here.management.create(loadbalancers, lb({ ltm: { url: 'http://l/api', cidr: '10.0.0.0/30', mode: 'allocate' } })),
  );
  for (const name of ['a', 'b', 'y', 'x']) {
    await made(here.management.create(lbtickets, ticket(name)));
    await here.clock.advance(1000);
  }
  const states = async () => {
    const all = await Promise.all(['a', 'b', 'y', 'x'].map((name) => here.ticket(name)));
    return all.map((one) => one.status?.process);
  };
  expect(await states()).toEqual(['enabled', 'enabled', 'failed', 'failed']);
  expect(conditionAt(await here.ticket('y'), 'Allocated')).toEqual(['False', 'exhausted']);
  const full = (await here.loadbalancer('demo')).status?.conditions?.find((one) => one.type === 'AddressesAvailable');
  expect(full).toMatchObject({ status: 'False', reason: 'exhausted' });
  await change(here, 'b', { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  await change(here, 'b', { spec: { state: 'deleted' } });
  await here.clock.advance(1000);
  expect(await states()).toEqual(['enabled', 'deleted', 'enabled', 'failed']);
  expect((await here.ticket('y')).status).toMatchObject({ ltmip: '10.0.0.2' });
});

test('a ticket that asked for a taken address gets it when the holder lets go', async () => {
  const here = await world();
  await ready(here, ticket('holder', { veip: '20.1.0.9', listners: [listner()] }));
  await made(here.management.create(lbtickets, ticket('test', { veip: '20.1.0.9' })));
  await here.clock.advance(1000);
  await change(here, 'holder', { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  await change(here, 'holder', { spec: { state: 'deleted' } });
  await here.clock.advance(1000);
  // Not before the device has confirmed.
  expect((await here.ticket('holder')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.9' });
  expect((await here.ticket('test')).status?.process).toBe('failed');
  await here.report();
  expect((await here.ticket('holder')).status?.process).toBe('deleted');
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.9' });
  await here.clock.advance(1000);
  expect(await here.configMap()).toBeUndefined();
});

test('an edit of a failed ticket starts again, and what we chose ourselves may be chosen anew', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  const ve = { addr: '200.1.1.2', user: 'a', passwd: 'b', cidr: '30.1.0.0/24' };
  const other = lb({ ve, ltm: { ...lb().spec.ltm, cidr: '10.8.0.0/24' } });
  await made(here.management.create(loadbalancers, { ...other, metadata: { name: 'other' } }));
  await made(here.management.create(lbtickets, ticket('test', { ltmip: '10.9.9.9' })));
  await here.clock.advance(500);
  expect((await here.ticket('test')).status?.process).toBe('failed');
  await change(here, 'test', { spec: { ltmip: null, loadbalancer: 'other' } });
  await here.clock.advance(500);
  const enabled = await here.ticket('test');
  expect(enabled.status).toMatchObject({ process: 'enabled', veip: '30.1.0.1', ltmip: '10.8.0.1' });
  expect(steps(enabled)).toEqual(['new → failed', 'failed → created', 'created → apply', 'apply → enabled']);
  expect((await here.loadbalancer('demo')).status?.ips).toEqual([]);
});

test('disabling withdraws the configuration and keeps the addresses, enabling brings it back', async () => {
  const here = await world();
  await made(here.target.create(services, service('svc01', { 'cis.f5.com/other': 'kept' })));
  await ready(here);
  const labelled = await made(here.target.get(services, { name: 'svc01', namespace: 'shop' }));
  expect(labelled.metadata.labels).toEqual({
    'cis.f5.com/other': 'kept',
    'cis.f5.com/as3-tenant': 'acp-region01',
    'cis.f5.com/as3-app': 'shop_http_app',
    'cis.f5.com/as3-pool': 'svc01_8080_pool',
  });
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).toMatchObject({ foo: 'bar' });

  await change(here, 'test', { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'pending']);
  // The agent looks only into namespaces that the selector takes, and has yet to confirm.
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).toMatchObject({ foo: 'bar' });
  await here.report();
  await here.clock.advance(1000);
  const disabled = await here.ticket('test');
  expect(disabled.status).toMatchObject({ process: 'disabled', veip: '20.1.0.1', ltmip: '10.0.0.1' });
  expect(conditionAt(disabled, 'Programmed')).toEqual(['False', 'disabled']);
  expect(await here.configMap()).toBeUndefined();
  const plain = await made(here.target.get(services, { name: 'svc01', namespace: 'shop' }));
  expect(plain.metadata.labels).toEqual({ 'cis.f5.com/other': 'kept' });
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).not.toHaveProperty('foo');

  await change(here, 'test', { spec: { state: 'enabled' } });
  await here.clock.advance(1000);
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('a removed ticket is cleaned up first: configuration, then addresses, then the object', async () => {
  const here = await world();
  await ready(here);
  await made(here.management.remove(lbtickets, { name: 'test', namespace: 'project' }));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.1' });
  await here.report();
  await here.clock.advance(1000);
  await expect(here.ticket('test')).rejects.toThrow('404');
  expect((await here.loadbalancer('demo')).status).toMatchObject({ ips: [], capacity: { ve: { used: 0 } } });
  expect(here.log).toEqual([]);
});

test('what the agent reports of an application is what its tickets say', async () => {
  const here = await world({ services: ['svc01', 'svc02', 'svc03'] });
  await ready(here);
  await here.report({ shop_http_app: { ok: false, code: 'busy', message: '503' } });
  const busy = await here.ticket('test');
  expect(conditionAt(busy, 'Programmed')).toEqual(['False', 'busy']);
  expect(conditionAt(busy, 'Ready')).toEqual(['False', 'busy']);
  await here.report();
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('history has the user where an edit is the cause, and nobody where the approver or a removal is', async () => {
  const here = await world();
  const { management, clock } = here;
  await made(management.create(loadbalancers, lb()));
  const one = ticket('test');
  const signed = (who: string) => ({ annotations: { 'fairlead.io/changed-by': who } });
  await made(management.create(lbtickets, { ...one, metadata: { ...one.metadata, ...signed('ann') } }));
  await clock.advance(1000);
  const edit = (state: string, who: string) =>
    made(
      management.patch(
        lbtickets,
        { name: 'test', namespace: 'project' },
        { type: 'merge', body: { metadata: signed(who), spec: { state } } },
      ),
    );
  await edit('disabled', 'bob');
  await clock.advance(1000);
  await edit('enabled', 'eve');
  await clock.advance(1000);
  const { status } = await here.ticket('test');
  expect(status?.history?.map(({ to, who }) => [to, who])).toEqual([
    ['created', 'ann'],
    ['apply', undefined],
    ['enabled', undefined],
    ['disabled', 'bob'],
    ['enabled', 'eve'],
  ]);
});

test.each([
  ['external', 1],
  ['fairlead', 2],
] as const)(
  'an edit of what is served is one write of its ConfigMap; with cis.mode %s %i of its status',
  async (mode, times) => {
    const here = await world({ services: ['svc01', 'svc02', 'svc03'] });
    await made(here.management.create(loadbalancers, lb({ cis: { mode, tenant: '{cluster}_{namespace}' } })));
    await made(here.management.create(lbtickets, ticket('test', { listners: [listner()] })));
    await here.clock.advance(1000);
    await here.report();
    expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
    here.writes.length = 0;
    const body = { spec: { listners: [listner(80, 'svc02')] } };
    await made(here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body }));
    await here.clock.advance(1000);
    await here.report();
    expect(here.writes.filter((one) => one.startsWith('apply configmaps'))).toHaveLength(1);
    expect(here.writes.filter((one) => one === 'patch lbtickets/status test')).toHaveLength(times);
    expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  },
);
