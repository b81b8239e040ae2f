// A listner that names a Service that is not there, or a port that it has not: the ticket says so, and says when it is over.
import { lbtickets, loadbalancers, type Lbticket } from '@fairlead/api';
import { services, type Service } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, listner, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

const service = (name: string, port = 8080): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { ports: [{ name: 'web', port, targetPort: 80 }] },
});

async function begun(mode: 'fairlead' | 'external'): Promise<World> {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ cis: { mode, tenant: '{cluster}_{namespace}' } })));
  return here;
}

async function file(here: World, one: Lbticket): Promise<void> {
  await made(here.management.create(lbtickets, one));
  await here.clock.advance(1000);
  await here.report();
}

const patch = (here: World, spec: Partial<Lbticket['spec']>) =>
  made(here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body: { spec } }));

const messageAt = (one: Lbticket, type: string) => one.status?.conditions?.find((is) => is.type === type)?.message;

const told = async (here: World) => (await here.events('test')).filter((one) => one.startsWith('Service'));

for (const mode of ['fairlead', 'external'] as const) {
  test(`${mode}: a Service that is not there is named, by an Event too, until it comes`, async () => {
    const here = await begun(mode);
    await file(here, ticket('test', { listners: [listner(80, 'nope')] }));
    const lacks = await here.ticket('test');
    expect(conditionAt(lacks, 'Programmed')?.[0]).toBe('True');
    expect(conditionAt(lacks, 'ServicesFound')).toEqual(['False', 'missing']);
    expect(conditionAt(lacks, 'Ready')).toEqual(['False', 'missing']);
    const message = 'listner lsnr80: Service shop/nope is not there; create it, or name another';
    expect(messageAt(lacks, 'ServicesFound')).toBe(message);
    expect(await told(here)).toEqual([`ServiceMissing: ${message}`]);
    await made(here.target.create(services, service('nope')));
    await here.clock.advance(2000);
    const well = await here.ticket('test');
    expect(conditionAt(well, 'ServicesFound')).toEqual(['True', 'Found']);
    expect(conditionAt(well, 'Ready')).toEqual(['True', 'Ready']);
    expect((await told(here)).slice(1)).toEqual(['ServicesFound: all Services are there']);
    await made(here.target.remove(services, { name: 'nope', namespace: 'shop' }));
    await here.clock.advance(2000);
    expect(conditionAt(await here.ticket('test'), 'ServicesFound')).toEqual(['False', 'missing']);
  });

  test(`${mode}: a port that the Service has not is named, until it has it`, async () => {
    const here = await begun(mode);
    await made(here.target.create(services, service('svc01', 9090)));
    await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
    expect(messageAt(await here.ticket('test'), 'ServicesFound')).toBe(
      'listner lsnr80: Service shop/svc01 has no port 8080; its ports are 9090',
    );
    const body = { spec: { ports: [{ name: 'web', port: 9090, targetPort: 8080 }] } };
    await made(here.target.patch(services, { name: 'svc01', namespace: 'shop' }, { type: 'merge', body }));
    await here.clock.advance(2000);
    expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  });

  test(`${mode}: where all are there, nothing is said and nothing more written`, async () => {
    const here = await begun(mode);
    await made(here.target.create(services, service('svc01')));
    await file(here, ticket('test', { listners: [listner(80, 'svc01')] }));
    expect(conditionAt(await here.ticket('test'), 'ServicesFound')).toBeUndefined();
    const before = here.writes.length;
    const body = { metadata: { annotations: { note: 'x' } } };
    await made(here.target.patch(services, { name: 'svc01', namespace: 'shop' }, { type: 'merge', body }));
    await made(here.target.create(services, service('other')));
    await here.clock.advance(2000);
    expect(here.writes.slice(before)).toEqual([]);
    expect(await told(here)).toEqual([]);
  });
}

test('a Service that comes wakes the tickets that name it, and no other of the namespace', async () => {
  const here = await begun('fairlead');
  for (const n of [1, 2, 3]) await file(here, ticket(`t${n}`, { listners: [listner(80 + n, `svc0${n}`)] }));
  const before = here.writes.length;
  await made(here.target.create(services, service('svc02')));
  await here.clock.advance(2000);
  expect(here.writes.slice(before)).toEqual(['apply services svc02', 'patch lbtickets/status t2']);
});

test('an edit that names what is there ends it; so does the last listner that goes', async () => {
  const here = await begun('fairlead');
  await made(here.target.create(services, service('svc01')));
  await file(here, ticket('test', { listners: [listner(80, 'svc01'), listner(81, 'nope')] }));
  expect(messageAt(await here.ticket('test'), 'ServicesFound')).toMatch(/^listner lsnr81: /);
  await patch(here, { listners: [listner(80, 'svc01')] });
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'ServicesFound')).toEqual(['True', 'Found']);
  await patch(here, { listners: [listner(80, 'away')] });
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'ServicesFound')).toEqual(['False', 'missing']);
  await patch(here, { listners: [] });
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('test'), 'ServicesFound')).toEqual(['True', 'NoServices']);
});
