// F5 Ingresses in the target cluster: what they get from their ticket, when it is taken back, and who waits for whom.
import {
  lbtickets,
  loadbalancers,
  type IngressReport,
  type Lbticket,
  type Loadbalancer,
  type VipClaim,
} from '@fairlead/api';
import { events, ingresses, namespaces, type Ingress } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, ticket } from './testing/objects.ts';
import { toldSurroundings } from './testing/surroundings.ts';
import { conditionAt, world, type World, type WorldOptions } from './testing/world.ts';

const at = (name: string, namespace = 'shop') => ({ name, namespace });

async function begun(
  spec: Partial<Loadbalancer['spec']> = {},
  of: Partial<Lbticket['spec']> = {},
  options: WorldOptions = {},
): Promise<World> {
  const here = await world(options);
  await made(here.management.create(loadbalancers, lb(spec)));
  await made(here.management.create(lbtickets, ticket('web', { lbtype: 'ingress', ...of })));
  await here.clock.advance(1000);
  return here;
}

const ingress = (
  name: string,
  { ticket: of = 'project/web', namespace = 'shop', annotations = {}, ingressClassName = 'f5' } = {},
): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace, annotations: { ...(of && { 'fairlead.io/ticket': of }), ...annotations } },
  spec: { ingressClassName, defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
});

async function create(here: World, one: Ingress): Promise<void> {
  await made(here.target.create(ingresses, one));
  await here.clock.advance(1000);
}

const read = async (here: World, name: string, namespace = 'shop') => {
  const found = await here.target.get(ingresses, at(name, namespace));
  return found.ok ? found.value : undefined;
};

const annotationsOf = async (here: World, name: string) => (await read(here, name))?.metadata.annotations ?? {};

/** Answers as the agent would. */
async function report(here: World, name: string, said: Partial<IngressReport>): Promise<void> {
  const claim = JSON.parse((await annotationsOf(here, name))['fairlead.io/vip'] ?? '{}') as VipClaim;
  const status = JSON.stringify({ revision: claim.revision, ...said });
  const body = { metadata: { annotations: { 'fairlead.io/status': status } } };
  await made(here.target.patch(ingresses, at(name), { type: 'merge', body }));
  await here.clock.advance(1000);
}

async function change(here: World, body: object): Promise<void> {
  await made(here.management.patch(lbtickets, { name: 'web', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(1000);
}

const told = async (here: World) => {
  const { items } = await made(here.target.list(events, { namespace: 'shop' }));
  return items.map(({ reason, message }) => `${reason}: ${message}`);
};

test('an Ingress gets address and partition of its ticket, and the namespace its labels', async () => {
  const here = await begun();
  await create(here, ingress('web'));
  expect(await annotationsOf(here, 'web')).toMatchObject({
    'virtual-server.f5.com/ip': '20.1.0.1',
    'virtual-server.f5.com/partition': 'acp-region01',
  });
  expect((await read(here, 'web'))?.metadata.finalizers).toEqual(['fairlead.io/ingress']);
  expect(await told(here)).toEqual(['AddressGiven: address 20.1.0.1 of Lbticket project/web']);
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).toMatchObject({ foo: 'bar' });
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'pending']);
  await report(here, 'web', { ok: false, code: 'invalid', message: 'no' });
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'invalid']);
  await report(here, 'web', { ok: true });
  expect(conditionAt(await here.ticket('web'), 'Ready')).toEqual(['True', 'Ready']);
});

test('the Ingress may be there before its ticket, and is told why it waits', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await create(here, ingress('web'));
  // The cluster is met with its first ticket: before, nobody looks there.
  await made(here.management.create(lbtickets, ticket('other', { lbtype: 'ingress' })));
  await here.clock.advance(1000);
  expect((await annotationsOf(here, 'web'))['fairlead.io/refused']).toMatch(
    /Lbticket project\/web does not exist; file it/,
  );
  await made(here.management.create(lbtickets, ticket('web', { lbtype: 'ingress' })));
  await here.clock.advance(2000);
  expect(await annotationsOf(here, 'web')).toMatchObject({ 'virtual-server.f5.com/ip': '20.1.0.2' });
  expect(await annotationsOf(here, 'web')).not.toHaveProperty('fairlead.io/refused');
});

test.each<[string, Parameters<typeof ingress>[1], Partial<Lbticket['spec']>, RegExp]>([
  ['no namespace/name', { ticket: 'web' }, {}, /not of the form namespace\/name/],
  ['an unknown ticket', { ticket: 'project/nobody' }, {}, /Lbticket project\/nobody does not exist/],
  ['a ticket of listners', {}, { lbtype: 'listner' }, /is for listners/],
  ["another namespace's ticket", {}, { namespace: 'project' }, /is for namespace project, not for this one/],
  ['hostile text', { ticket: '"]; exec' }, {}, /not of the form/],
])('%s: nothing is given, and an Event says why, once', async (_, of, spec, words) => {
  const here = await begun({}, spec);
  await create(here, ingress('web', of));
  expect(await annotationsOf(here, 'web')).not.toHaveProperty('virtual-server.f5.com/ip');
  expect((await annotationsOf(here, 'web'))['fairlead.io/refused']).toMatch(words);
  expect(await told(here)).toEqual([expect.stringMatching(words)]);
  const before = here.writes.length;
  await here.restart();
  await here.clock.advance(1000);
  expect(here.writes.slice(before)).toEqual([]);
  expect(await told(here)).toHaveLength(1);
});

test('an Ingress of another class, or one that names no ticket, is left alone', async () => {
  const here = await begun();
  await create(here, ingress('nginx', { ingressClassName: 'nginx' }));
  await create(here, ingress('cis', { ticket: '', annotations: { 'virtual-server.f5.com/ip': '9.9.9.9' } }));
  expect(await annotationsOf(here, 'nginx')).toEqual({ 'fairlead.io/ticket': 'project/web' });
  expect(await annotationsOf(here, 'cis')).toEqual({ 'virtual-server.f5.com/ip': '9.9.9.9' });
  expect(here.writes.filter((one) => one.includes('ingresses'))).toEqual([]);
});

test('an address that somebody writes by hand gives way to that of the ticket', async () => {
  const here = await begun();
  await create(here, ingress('web', { annotations: { 'virtual-server.f5.com/ip': '20.1.0.99' } }));
  expect(await annotationsOf(here, 'web')).toMatchObject({ 'virtual-server.f5.com/ip': '20.1.0.1' });
  const body = { metadata: { annotations: { 'virtual-server.f5.com/ip': '20.1.0.98' } } };
  await made(here.target.patch(ingresses, at('web'), { type: 'merge', body }));
  await here.clock.advance(1000);
  expect(await annotationsOf(here, 'web')).toMatchObject({ 'virtual-server.f5.com/ip': '20.1.0.1' });
});

test('disable: traffic first, then configuration, then addresses, then policy; nothing is given on before the device said so', async () => {
  const here = await begun();
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  await change(here, { spec: { state: 'disabled' } });
  expect((await here.ticket('web')).status?.process).toBe('disabled');
  expect(await annotationsOf(here, 'web')).not.toHaveProperty('virtual-server.f5.com/ip');
  expect(JSON.parse((await annotationsOf(here, 'web'))['fairlead.io/vip'] ?? '')).toMatchObject({ wanted: false });
  // An old word of the agent says nothing of the new claim.
  await change(here, { spec: { state: 'deleted' } });
  expect((await here.ticket('web')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.1' });
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'pending']);
  await report(here, 'web', { gone: true });
  expect((await read(here, 'web'))?.metadata.finalizers).toBeUndefined();
  expect((await here.ticket('web')).status?.process).toBe('deleted');
  expect((await here.ticket('web')).status?.veip).toBeUndefined();
  expect((await made(here.target.get(namespaces, { name: 'shop' }))).metadata.labels).not.toHaveProperty('foo');
  // What the user wrote is there still, and the Ingress as well.
  expect(await annotationsOf(here, 'web')).toMatchObject({ 'fairlead.io/ticket': 'project/web' });
});

test('an Ingress that is deleted stays until the device has confirmed; its ticket stays as it is', async () => {
  const here = await begun();
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  await made(here.target.remove(ingresses, at('web')));
  await here.clock.advance(1000);
  expect((await read(here, 'web'))?.metadata.deletionTimestamp).toBeDefined();
  await report(here, 'web', { ok: true });
  expect(await read(here, 'web')).toBeDefined();
  await report(here, 'web', { gone: true });
  expect(await read(here, 'web')).toBeUndefined();
  expect((await here.ticket('web')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.1' });
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['True', 'NothingToProgram']);
});

test('a namespace that is deleted goes once the device has confirmed', async () => {
  const here = await begun();
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  await made(here.target.remove(namespaces, { name: 'shop' }));
  await here.clock.advance(2000);
  expect(await read(here, 'web')).toBeDefined();
  await report(here, 'web', { gone: true });
  await here.clock.advance(10_000);
  expect(await read(here, 'web')).toBeUndefined();
  expect((await here.target.get(namespaces, { name: 'shop' })).ok).toBe(false);
});

test('one that names another ticket gives back the first address before it gets the second', async () => {
  const here = await begun();
  await made(here.management.create(lbtickets, ticket('two', { lbtype: 'ingress' })));
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  const body = { metadata: { annotations: { 'fairlead.io/ticket': 'project/two' } } };
  await made(here.target.patch(ingresses, at('web'), { type: 'merge', body }));
  await here.clock.advance(1000);
  expect(await annotationsOf(here, 'web')).not.toHaveProperty('virtual-server.f5.com/ip');
  await report(here, 'web', { gone: true });
  expect(await annotationsOf(here, 'web')).toMatchObject({ 'virtual-server.f5.com/ip': '20.1.0.2' });
});

test('with a CIS of somebody else, nothing waits for a report that never comes', async () => {
  const here = await begun({
    cis: { mode: 'external', tenant: '{cluster}_{namespace}' },
    ve: { ...lb().spec.ve, partition: 'cis' },
  });
  await create(here, ingress('web'));
  expect(await annotationsOf(here, 'web')).toMatchObject({
    'virtual-server.f5.com/ip': '20.1.0.1',
    'virtual-server.f5.com/partition': 'cis',
  });
  expect((await read(here, 'web'))?.metadata.finalizers).toBeUndefined();
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['True', 'Written']);
  await change(here, { spec: { state: 'disabled' } });
  await change(here, { spec: { state: 'deleted' } });
  expect((await here.ticket('web')).status?.process).toBe('deleted');
  expect(await annotationsOf(here, 'web')).toEqual({
    'fairlead.io/ticket': 'project/web',
    'fairlead.io/refused': expect.stringMatching(/is deleted/) as string,
  });
});

test('a restart with nothing to do writes nothing', async () => {
  const here = await begun();
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  const before = here.writes.length;
  await here.restart();
  await here.clock.advance(5000);
  expect(here.writes.slice(before)).toEqual([]);
});

test('a CIS of somebody else keeps the address until the LTM leads there no longer', async () => {
  const surroundings = toldSurroundings();
  const here = await begun({ cis: { mode: 'external', tenant: '{cluster}' } }, {}, { surroundings });
  surroundings.ltmSays('pending', 'project/web');
  await create(here, ingress('web'));
  const address = async () => (await annotationsOf(here, 'web'))['virtual-server.f5.com/ip'];
  expect(await address()).toBe('20.1.0.1');
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'pending']);
  surroundings.ltmSays('programmed', 'project/web');
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['True', 'Written']);
  surroundings.ltmSays('pending');
  await made(here.target.patch(ingresses, at('web'), { type: 'merge', body: { spec: { ingressClassName: 'other' } } }));
  await here.clock.advance(1000);
  expect(await address()).toBe('20.1.0.1');
  surroundings.ltmSays('clear', 'project/web');
  await here.clock.advance(1000);
  expect(await address()).toBeUndefined();
});

test('the ticket tells what the LTM lacks of its Ingresses, and what it keeps of those that are gone', async () => {
  const surroundings = toldSurroundings();
  const here = await begun({}, {}, { surroundings });
  await create(here, ingress('web'));
  await report(here, 'web', { ok: true });
  expect(conditionAt(await here.ticket('web'), 'Ready')).toEqual(['True', 'Ready']);
  surroundings.ltmSays({ problem: { code: 'denied', message: '401' } }, 'project/web');
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'denied']);
  await made(here.target.remove(ingresses, at('web')));
  await report(here, 'web', { gone: true });
  expect(await read(here, 'web')).toBeUndefined();
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['False', 'denied']);
  surroundings.ltmSays('clear', 'project/web');
  await here.clock.advance(1000);
  expect(conditionAt(await here.ticket('web'), 'Programmed')).toEqual(['True', 'NothingToProgram']);
});
