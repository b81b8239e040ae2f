// Crashes between any two writes, lost answers, and two controllers at once: no address twice, none leaked, nothing filed twice.
import { lbtickets, loadbalancers, type Lbticket } from '@fairlead/api';
import { expect, test } from 'vitest';
import { testApprover, type TestApprover } from './testing/approver.ts';
import { made } from './testing/cluster.ts';
import { faults } from './testing/faults.ts';
import { lb, listner, ticket } from './testing/objects.ts';
import { world, type World } from './testing/world.ts';

const names = ['a', 'b'];

const all = (here: World): Promise<Lbticket[]> => Promise.all(names.map((name) => here.ticket(name)));

/** What must hold at every moment. */
async function expectSound(here: World, approver: TestApprover): Promise<void> {
  const { items } = await made(here.management.list(lbtickets));
  for (const field of ['veip', 'ltmip'] as const) {
    const held = items.flatMap(({ status }) => status?.[field] ?? []);
    expect(new Set(held).size, `${field} held twice: ${held.join(' ')}`).toBe(held.length);
  }
  const known = items.flatMap(({ status }) => status?.application ?? []);
  expect(new Set(known).size).toBe(known.length);
  const keys = [...approver.filed.values()];
  expect(new Set(keys).size, 'filed twice').toBe(keys.length);
  for (const { status } of items)
    if (status?.process === 'apply' || status?.process === 'enabled')
      expect(approver.filed.has(status.application ?? '')).toBe(true);
}

/** From nothing to two enabled tickets and back to deleted ones, with a crash at write `at` of each half. */
async function life(at: number, isLost: boolean): Promise<number> {
  const approver = testApprover({ status: 'opened', message: '' });
  const between = faults();
  const here = await world({ approvers: { auto: approver }, between: between.between });
  between.arm(at, isLost);
  await made(here.management.create(loadbalancers, lb()));
  for (const name of names) await made(here.management.create(lbtickets, ticket(name)));
  await here.clock.advance(1000);
  await expectSound(here, approver);
  const first = between.count;
  between.arm(Infinity, false);
  await here.restart();
  await here.clock.advance(10_000);
  await expectSound(here, approver);
  const enabled = await all(here);
  expect(enabled.map((one) => one.status?.process)).toEqual(['enabled', 'enabled']);
  expect(approver.filed.size).toBe(2);
  expect((await here.loadbalancer('demo')).status?.capacity?.ve.used).toBe(2);
  for (const one of enabled) expect(one.status?.history?.map(({ to }) => to)).toEqual(['created', 'apply', 'enabled']);

  between.arm(at, isLost);
  for (const state of ['disabled', 'deleted'])
    for (const name of names) {
      const patched = here.management.patch(
        lbtickets,
        { name, namespace: 'project' },
        { type: 'merge', body: { spec: { state } } },
      );
      if (state === 'disabled') await made(patched);
      else await patched;
      await here.clock.advance(500);
    }
  await expectSound(here, approver);
  between.arm(Infinity, false);
  await here.restart();
  for (const name of names)
    await made(
      here.management.patch(
        lbtickets,
        { name, namespace: 'project' },
        { type: 'merge', body: { spec: { state: 'deleted' } } },
      ),
    );
  await here.clock.advance(10_000);
  expect((await all(here)).map((one) => one.status?.process)).toEqual(['deleted', 'deleted']);
  expect(approver.filed.size, 'an application is forgotten').toBe(0);
  expect((await here.loadbalancer('demo')).status).toMatchObject({
    ips: [],
    capacity: { ve: { used: 0 }, ltm: { used: 0 } },
  });
  return first;
}

// Two tickets take four writes each, and the Loadbalancer some: with more the crash comes after the end.
for (let at = 0; at <= 10; at += 1) {
  for (const isLost of [false, true]) {
    test(`a crash ${isLost ? 'before the answer to' : 'before'} write ${at + 1} is made good after a restart`, async () => {
      const count = await life(at, isLost);
      expect(count).toBeGreaterThan(at < 8 ? at : 0);
    });
  }
}

test('two controllers at once, as in a hand-over, give no address twice and file nothing twice', async () => {
  const approver = testApprover({ status: 'opened', message: '' });
  const here = await world({ approvers: { auto: approver } });
  await here.begin();
  await made(here.management.create(loadbalancers, lb()));
  for (const name of [...names, 'd', 'e'])
    await made(here.management.create(lbtickets, ticket(name, { listners: [listner(80, name)] })));
  for (let i = 0; i < 40; i += 1) {
    await here.clock.advance(500);
    await expectSound(here, approver);
  }
  expect((await all(here)).map((one) => one.status?.process)).toEqual(['enabled', 'enabled']);
  expect(approver.filed.size).toBe(4);
});

test('a ticket that another controller was faster for is given another address', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await here.stop();
  // What two controllers wrote in the same moment, each for its own ticket.
  const pair = { veip: '20.1.0.1', ltmip: '10.0.0.1' };
  for (const name of ['first', 'second']) {
    const one = ticket(name, pair);
    const annotations = { 'fairlead.io/allocated': '20.1.0.1,10.0.0.1' };
    await made(here.management.create(lbtickets, { ...one, metadata: { ...one.metadata, annotations } }));
    await here.clock.advance(1000);
  }
  await here.begin();
  await here.clock.advance(1000);
  expect((await here.ticket('first')).status).toMatchObject({ process: 'enabled', ...pair });
  expect((await here.ticket('second')).status).toMatchObject({
    process: 'enabled',
    veip: '20.1.0.2',
    ltmip: '10.0.0.2',
  });
});
