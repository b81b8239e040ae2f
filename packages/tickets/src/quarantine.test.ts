// The rules of quarantine: a released address rests, is shown as such, and survives a restart.
import { lbtickets, loadbalancers } from '@fairlead/api';
import type { Kube } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { durationOf } from './quarantine.ts';
import { made } from './testing/cluster.ts';
import { lb, ticket } from './testing/objects.ts';
import { world, type World, type WorldOptions } from './testing/world.ts';

const change = (state: 'disabled' | 'deleted') => ({ type: 'merge' as const, body: { spec: { state } } });

for (const isRestarted of [false, true]) {
  test(`a released pair rests before it is given on${isRestarted ? ', over a restart too' : ''}`, async () => {
    const here = await world();
    const small = lb({ reclaimQuarantine: '3h', ltm: { url: 'http://l/api', cidr: '10.0.0.0/32', mode: 'allocate' } });
    await made(here.management.create(loadbalancers, small));
    await made(here.management.create(lbtickets, ticket('first')));
    await here.clock.advance(1000);
    for (const state of ['disabled', 'deleted'] as const) {
      await made(here.management.patch(lbtickets, { name: 'first', namespace: 'project' }, change(state)));
      await here.clock.advance(1000);
    }
    await made(here.management.create(lbtickets, ticket('second')));
    await made(here.management.create(lbtickets, ticket('third', { veip: '20.1.0.1' })));
    if (isRestarted) await here.restart();
    await here.clock.advance(3_600_000);
    expect((await here.loadbalancer('demo')).status).toMatchObject({
      ips: [{ veip: '20.1.0.1', ltmip: '10.0.0.0', status: 'quarantine', ticket: 'project/first' }],
      capacity: { ltm: { total: 1, used: 1 } },
    });
    expect((await here.ticket('second')).status?.process).toBe('failed');
    const told = (await here.ticket('third')).status?.conditions?.find(({ type }) => type === 'Allocated');
    expect(told?.message).toMatch(/held by the quarantine of project\/first until 2026-01-01T03:00:0\dZ/);
    await here.clock.advance(3 * 3_600_000);
    const states = await Promise.all(['second', 'third'].map((name) => here.ticket(name)));
    expect(states.map(({ status }) => status?.process).sort()).toEqual(['enabled', 'failed']);
    expect((await here.loadbalancer('demo')).status?.ips).toMatchObject([{ status: 'bond' }]);
  });
}

const small = () =>
  lb({ reclaimQuarantine: '3h', ltm: { url: 'http://l/api', cidr: '10.0.0.0/32', mode: 'allocate' } });

/** A ticket that had a pair, disabled. */
async function disabled(options: WorldOptions = {}, balancer = small()): Promise<World> {
  const here = await world(options);
  await made(here.management.create(loadbalancers, balancer));
  await made(here.management.create(lbtickets, ticket('first')));
  await here.clock.advance(1000);
  await made(here.management.patch(lbtickets, { name: 'first', namespace: 'project' }, change('disabled')));
  await here.clock.advance(1000);
  return here;
}

/** `kubectl delete`, after which the controller has so many milliseconds. */
async function remove(here: World, ms = 1000): Promise<void> {
  await made(here.management.remove(lbtickets, { name: 'first', namespace: 'project' }));
  await here.clock.advance(ms);
}

test('a pair whose ticket is removed rests over restarts too, though a new ticket names it, and then it is free', async () => {
  const here = await disabled();
  await remove(here);
  await expect(here.ticket('first')).rejects.toThrow('404');
  await here.stop();
  await made(here.management.create(lbtickets, ticket('second', { veip: '20.1.0.1', ltmip: '10.0.0.0' })));
  await here.begin();
  await here.clock.advance(3_600_000);
  await here.restart();
  expect((await here.loadbalancer('demo')).status).toMatchObject({
    ips: [{ veip: '20.1.0.1', ltmip: '10.0.0.0', status: 'quarantine', ticket: 'project/first' }],
    capacity: { ltm: { total: 1, used: 1 } },
  });
  expect((await here.loadbalancer('demo')).status?.ips?.[0]?.until).toMatch(/^2026-01-01T03:00:0\dZ$/);
  expect((await here.ticket('second')).status?.process).toBe('failed');
  await here.clock.advance(2 * 3_600_000);
  expect((await here.ticket('second')).status?.process).toBe('enabled');
  expect((await here.loadbalancer('demo')).status?.ips).toEqual([
    { veip: '20.1.0.1', ltmip: '10.0.0.0', status: 'bond', ticket: 'project/second' },
  ]);
});

test('the object of a ticket stays until the Loadbalancer tells of the quarantine', async () => {
  const state = { isBroken: false };
  const between = (kube: Kube): Kube => ({
    ...kube,
    async patch(kind, ...rest) {
      if (!state.isBroken || kind.plural !== 'loadbalancers') return kube.patch(kind, ...rest);
      return { ok: false, problem: { code: 'unreachable', message: 'the connection is gone' } };
    },
  });
  const here = await disabled({ between });
  state.isBroken = true;
  await remove(here, 30_000);
  expect((await here.ticket('first')).status?.process).toBe('deleted');
  state.isBroken = false;
  await here.restart();
  await here.clock.advance(120_000);
  await expect(here.ticket('first')).rejects.toThrow('404');
  await here.restart();
  expect((await here.loadbalancer('demo')).status?.ips).toMatchObject([{ status: 'quarantine' }]);
  expect((await here.loadbalancer('demo')).status?.capacity?.ltm.used).toBe(1);
});

test('without a quarantine a removed ticket goes at once, and its pair is free', async () => {
  const here = await disabled({}, lb());
  await remove(here);
  await expect(here.ticket('first')).rejects.toThrow('404');
  expect((await here.loadbalancer('demo')).status?.ips).toEqual([]);
});

test('what a failed ticket asked for was never its own, and does not rest, over a restart either', async () => {
  const here = await world();
  const small = lb({ reclaimQuarantine: '3h', ltm: { url: 'http://l/api', cidr: '10.0.0.0/32', mode: 'allocate' } });
  await made(here.management.create(loadbalancers, small));
  await made(here.management.create(lbtickets, ticket('holder')));
  await here.clock.advance(1000);
  await made(here.management.create(lbtickets, ticket('failed', { veip: '20.1.0.5' })));
  await here.clock.advance(1000);
  await made(here.management.patch(lbtickets, { name: 'failed', namespace: 'project' }, change('deleted')));
  await here.clock.advance(1000);
  expect((await here.ticket('failed')).status?.history?.map(({ to }) => to)).toEqual(['failed', 'deleted']);
  await here.restart();
  await here.clock.advance(1000);
  expect((await here.loadbalancer('demo')).status?.capacity?.ve.used).toBe(1);
});

const durations: [text: string, ms: number][] = [
  ['0s', 0],
  ['250ms', 250],
  ['1h30m', 5_400_000],
  ['1.5m', 90_000],
];
for (const [text, ms] of durations)
  test(`${text} is ${ms} milliseconds`, () => {
    expect(durationOf(text)).toBe(ms);
  });
