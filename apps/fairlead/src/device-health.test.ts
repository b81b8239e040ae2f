// What is said of a device that does not answer, or does not take us: conditions and Events, over the whole wiring.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { fail, ok, type Provider, type Result } from '@fairlead/core';
import { secrets } from '@fairlead/kube';
import { memory } from '@fairlead/providers';
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { health } from './device-health.ts';
import { kubeconfigOf, loadbalancerOf, made, ownNamespace, ticketOf, world, type World } from './testing/world.ts';

async function begun(spec: object = {}) {
  const here = await world(['east']);
  await here.secret('clusters', { east: kubeconfigOf('east') });
  const lb = loadbalancerOf('lb', 'east', 1);
  await made(here.management.kube.create(loadbalancers, { ...lb, spec: { ...lb.spec, ...spec } }));
  await made(here.management.kube.create(lbtickets, ticketOf('one', 'lb')));
  here.begin();
  await here.clock.advance(10_000);
  return here;
}

const deviceOf = (here: World, url = 'https://200.1.1.1') => {
  const device = here.devices.get(url);
  if (!device) throw new Error('bug: the device was never opened');
  return device;
};

const conditionOf = async (here: World, type: string) =>
  (await here.loadbalancer('lb')).status?.conditions?.find((one) => one.type === type);
const programmed = async (here: World) =>
  (await here.ticket('one')).status?.conditions?.find(({ type }) => type === 'Programmed');

test('a device that does not answer is told since when, with its tickets, and that it answers again', async () => {
  const here = await begun();
  const well = await conditionOf(here, 'DeviceReachable');
  expect(well).toMatchObject({ status: 'True', reason: 'Connected', observedGeneration: 1 });
  deviceOf(here).problem = { code: 'unreachable', message: 'GET /mgmt/shared/appsvcs/info: no answer' };
  await here.clock.advance(60_000);
  const away = await conditionOf(here, 'DeviceReachable');
  expect(away).toMatchObject({ status: 'False', reason: 'unreachable', observedGeneration: 1 });
  expect(away?.message).toMatch(
    /^the VE 200\.1\.1\.1 cannot be worked with since 2026-01-01T00:00:\d\dZ: GET .*: no answer; what is on it stays/,
  );
  expect(Date.parse(away?.lastTransitionTime ?? '')).toBeGreaterThan(Date.parse(well?.lastTransitionTime ?? ''));
  expect(await conditionOf(here, 'Ready')).toMatchObject({ status: 'False', reason: 'unreachable' });
  expect(await programmed(here)).toMatchObject({ status: 'Unknown', reason: 'unreachable' });
  await here.clock.advance(60_000);
  expect(await conditionOf(here, 'DeviceReachable')).toEqual(away);
  // Longer than until its configuration is looked through again.
  await here.clock.advance(900_000);
  expect(await programmed(here)).toMatchObject({ status: 'Unknown', reason: 'unreachable' });
  deviceOf(here).problem = undefined;
  await here.clock.advance(20_000);
  expect(await conditionOf(here, 'Ready')).toMatchObject({ status: 'True' });
  expect(await programmed(here)).toMatchObject({ status: 'True', reason: 'Programmed' });
  expect(await here.events('lb')).toEqual([
    expect.stringContaining('DeviceUnreachable: the VE 200.1.1.1'),
    'DeviceReachable: device answers again',
  ]);
});

test('a password that the device does not take is told at once, and not tried often', async () => {
  const here = await begun();
  let asked = 0;
  const device = deviceOf(here);
  Object.defineProperty(device, 'problem', {
    get() {
      asked += 1;
      return { code: 'denied', message: 'POST /mgmt/shared/authn/login: 401 Authentication failed.' };
    },
  });
  await here.clock.advance(31_000);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'False', reason: 'denied' });
  expect((await conditionOf(here, 'DeviceReachable'))?.message).toContain('401 Authentication failed');
  const before = asked;
  await here.clock.advance(120_000);
  expect(asked - before).toBeLessThanOrEqual(3);
});

test('credentials that are not there are told, and looked for no longer once they are', async () => {
  const here = await begun({
    ve: {
      ...loadbalancerOf('lb', 'east', 1).spec.ve,
      user: undefined,
      passwd: undefined,
      credentialsSecretRef: { name: 've' },
    },
  });
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'False', reason: 'missing' });
  expect((await conditionOf(here, 'DeviceReachable'))?.message).toContain('create the Secret that spec.ve refers to');
  const data = { username: 'YWRtaW4=', password: 'YWRtaW4=' };
  const metadata = { name: 've', namespace: ownNamespace };
  await made(here.management.kube.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }));
  await here.clock.advance(10_000);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'True' });
  expect(await programmed(here)).toMatchObject({ status: 'True' });
});

const ltmUrl = 'http://100.1.1.1/api';
const asLtm = { ltm: { ...loadbalancerOf('lb', 'east', 1).spec.ltm, mode: 'as3', tokenSecretRef: { name: 'ltm' } } };

async function putToken(here: World) {
  const metadata = { name: 'ltm', namespace: ownNamespace };
  await made(
    here.management.kube.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { token: btoa('t') } }),
  );
  await here.clock.advance(10_000);
}

test('of a LTM that is ours the same is told, and which of the two it is', async () => {
  const here = await begun(asLtm);
  const says = async () => (await conditionOf(here, 'DeviceReachable'))?.message;
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'False', reason: 'missing' });
  expect(await says()).toMatch(
    /^the LTM http:\/\/100\.1\.1\.1\/api .*create the Secret that spec\.ltm\.tokenSecretRef/,
  );
  await putToken(here);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'True', reason: 'Connected' });
  expect(await programmed(here)).toMatchObject({ status: 'True' });
  const problem = { code: 'unreachable' as const, message: 'no answer' };
  deviceOf(here, ltmUrl).problem = problem;
  await here.clock.advance(60_000);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'False', reason: 'unreachable' });
  expect(await says()).toMatch(/^the LTM [^;]*; what is on it stays as it is$/);
  expect(await conditionOf(here, 'Ready')).toMatchObject({ status: 'False', reason: 'unreachable' });
  expect(await programmed(here)).toMatchObject({ status: 'Unknown', reason: 'unreachable' });
  expect((await programmed(here))?.message).toMatch(/^the LTM http:/);
  await here.clock.advance(900_000);
  expect(await programmed(here)).toMatchObject({ status: 'Unknown', reason: 'unreachable' });
  await made(here.management.kube.create(lbtickets, ticketOf('two', 'lb')));
  await here.clock.advance(60_000);
  const two = (await here.ticket('two')).status?.conditions?.find(({ type }) => type === 'Programmed');
  expect(two).toMatchObject({ status: 'False', reason: 'unreachable', message: 'LTM: no answer' });
  deviceOf(here).problem = problem;
  await here.clock.advance(60_000);
  expect(await says()).toMatch(/^the VE 200\.1\.1\.1 .*; the LTM http:/);
  deviceOf(here, ltmUrl).problem = undefined;
  await here.clock.advance(60_000);
  expect(await says()).not.toContain('LTM');
  deviceOf(here).problem = undefined;
  await here.clock.advance(60_000);
  expect(await conditionOf(here, 'Ready')).toMatchObject({ status: 'True' });
});

test('an external CIS knows nothing of the LTM that is ours', async () => {
  const here = await begun({ ...asLtm, cis: { mode: 'external', tenant: '{cluster}' } });
  await putToken(here);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'Unknown', reason: 'External' });
  deviceOf(here, ltmUrl).problem = { code: 'denied', message: '401' };
  await here.clock.advance(60_000);
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'False', reason: 'denied' });
});

test('of a device that an external CIS talks to nobody here says anything', async () => {
  const here = await begun({ cis: { mode: 'external', tenant: '{cluster}' } });
  expect(await conditionOf(here, 'DeviceReachable')).toMatchObject({ status: 'Unknown', reason: 'External' });
  expect(await conditionOf(here, 'Ready')).toMatchObject({ status: 'True' });
});

test('a call that fails is a reason to look, and one look decides', async () => {
  const clock = fakeClock();
  let [checks, answer]: [number, Result<void>] = [0, ok(undefined)];
  const inner = memory();
  const provider = {
    ...inner,
    check: async () => {
      checks += 1;
      return answer;
    },
    read: async () => fail('busy', '503'),
  } as Provider;
  const watched = health({ provider, clock, changed: () => undefined });
  expect(watched.state).toBe('pending');
  const stop = new AbortController();
  const done = watched.run(stop.signal);
  await clock.advance(1_000);
  expect([watched.state, checks]).toEqual(['reachable', 1]);
  await watched.provider.read('t', stop.signal);
  await clock.advance(10);
  expect([watched.state, checks]).toEqual(['reachable', 2]);
  answer = fail('unreachable', 'gone');
  await watched.provider.read('t', stop.signal);
  await clock.advance(10);
  expect(watched.state).toEqual({ problem: { code: 'unreachable', message: 'gone' }, since: 1_010 });
  stop.abort();
  await clock.advance(0);
  await done;
});
