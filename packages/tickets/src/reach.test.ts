// A target cluster that is slow, or away: what is said of it and when, and that nothing is taken for absent that is late.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { expect, test } from 'vitest';
import { made } from './testing/cluster.ts';
import { lb, listner, ticket } from './testing/objects.ts';
import { conditionAt, world } from './testing/world.ts';

async function ready() {
  const here = await world({ services: ['test', 'off'] });
  await made(here.management.create(loadbalancers, lb()));
  for (const name of ['test', 'off', 'bare'])
    await made(
      here.management.create(lbtickets, ticket(name, name === 'bare' ? {} : { listners: [listner(80, name)] })),
    );
  await here.clock.advance(1000);
  await here.report();
  const body = { spec: { state: 'disabled' } };
  await made(here.management.patch(lbtickets, { name: 'off', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(1000);
  await here.report();
  expect(conditionAt(await here.ticket('off'), 'Programmed')).toEqual(['False', 'disabled']);
  await here.stop();
  here.writes.length = 0;
  return here;
}

const reachable = async (here: Awaited<ReturnType<typeof ready>>) =>
  (await here.loadbalancer('demo')).status?.conditions?.find(({ type }) => type === 'ClusterReachable')?.status;

test('a cluster that is read late changes nothing: no status, no ConfigMap', async () => {
  const here = await ready();
  here.slow(3000);
  await here.begin();
  await here.clock.advance(60_000);
  expect(here.writes).toEqual([]);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
});

test('a cluster that stays away is said on its tickets, and nothing of theirs is given up', async () => {
  const here = await ready();
  here.slow(Infinity);
  await here.begin();
  await here.clock.advance(60_000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'unreachable']);
  expect(conditionAt(await here.ticket('bare'), 'Ready')).toEqual(['True', 'Ready']);
  expect(await reachable(here)).toBe('False');
  const body = { spec: { state: 'deleted' } };
  await made(here.management.patch(lbtickets, { name: 'off', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(60_000);
  expect((await here.ticket('off')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.2' });
  await here.stop();
  here.slow(0);
  await here.begin();
  await here.clock.advance(60_000);
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['True', 'Ready']);
  expect((await here.ticket('off')).status?.process).toBe('deleted');
  expect(await reachable(here)).toBe('True');
});

test('a cluster that gets connected while we run is met at the next look', async () => {
  const here = await world({ services: ['svc2'] });
  await here.stop();
  here.slow(200_000);
  await here.begin();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test', { namespace: 'unknown', listners: [listner()] })));
  await made(here.management.create(lbtickets, ticket('good', { listners: [listner(81, 'svc2')] })));
  await here.clock.advance(100_000);
  // Whether the namespace is there nobody knows yet.
  expect((await here.ticket('test')).status?.process).toBe('enabled');
  expect(conditionAt(await here.ticket('good'), 'Programmed')).toEqual(['False', 'unreachable']);
  await here.clock.advance(200_000);
  expect(conditionAt(await here.ticket('test'), 'Programmed')).toEqual(['False', 'missing']);
  await here.report();
  expect(conditionAt(await here.ticket('good'), 'Ready')).toEqual(['True', 'Ready']);
});
