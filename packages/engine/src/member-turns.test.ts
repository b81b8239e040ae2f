// The fast lane: members follow their pods, whatever structure waits for.
import { expect, test } from 'vitest';
import { make, place, pod, poolOf, ToldSource, world } from './testing/world.ts';

const web = make('shop/web');
const stop = new AbortController().signal;

async function served(options: Parameters<typeof world>[0] = {}) {
  const w = world(options);
  w.source.supplyWith(web, [pod(1)]);
  w.source.want(web);
  await w.clock.advance(200);
  w.place.calls.length = 0;
  return w;
}

test('a new pool starts with its members in the same write', async () => {
  const w = world();
  w.source.supplyWith(web, [pod(1), pod(2)]);
  w.source.want(web);
  await w.clock.advance(100);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 enabled', '10.0.0.2 enabled']);
  await w.end();
});

test('a change of pods is written in milliseconds, as members and not as structure', async () => {
  const w = await served();
  w.source.supplyWith(web, [pod(1, 'draining'), pod(2)]);
  await w.clock.advance(5);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 draining', '10.0.0.2 enabled']);
  expect(w.place.calls).toEqual(['write shop/web']);
  await w.end();
});

test('members do not wait behind structure', async () => {
  const w = await served();
  const open = w.place.hold('apply');
  w.source.want(make('shop/web', 81));
  await w.clock.advance(100);
  w.source.supplyWith(web, [pod(2)]);
  await w.clock.advance(5);
  expect(await w.members('shop/web')).toEqual(['10.0.0.2 enabled']);
  open();
  await w.clock.advance(0);
  await w.end();
});

test('what a whole write may have undone is read again and put right', async () => {
  const w = await served();
  const other = make('shop/other', 81);
  const open = w.place.hold('apply');
  w.source.want(other);
  await w.clock.advance(100);
  w.source.supplyWith(web, [pod(2)]);
  await w.clock.advance(5);
  // The declaration under way was made before, and carries the member of then.
  await w.place.inner.members.write(poolOf('shop/web'), { add: [pod(1)], change: [], remove: [pod(2)] }, stop);
  open();
  await w.clock.advance(5);
  expect(await w.members('shop/web')).toEqual(['10.0.0.2 enabled']);
  await w.end();
});

test('after a whole write, pools that nothing happened to are left in peace', async () => {
  const w = await served();
  w.source.want(make('shop/other', 81));
  await w.clock.advance(200);
  expect(w.place.calls.filter((call) => call.endsWith('shop/web'))).toEqual([]);
  await w.end();
});

test('what is known is not read again until its time is up', async () => {
  const w = await served({ resync: 100_000 });
  for (let n = 2; n < 10; n++) {
    w.source.supplyWith(web, [pod(n)]);
    await w.clock.advance(10);
  }
  expect(w.place.count('members')).toBe(0);
  await w.clock.advance(130_000);
  expect(w.place.count('members')).toBe(1);
  await w.end();
});

test('a member that someone took out by hand is put back when the place is read again', async () => {
  const w = await served({ resync: 60_000 });
  await w.place.inner.members.write(poolOf('shop/web'), { add: [], change: [], remove: [pod(1)] }, stop);
  await w.clock.advance(80_000);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 enabled']);
  await w.end();
});

test('a write that fails is tried again after a read, for nobody knows how far it went', async () => {
  const w = await served();
  w.place.failNext('write', 'busy');
  w.source.supplyWith(web, [pod(2)]);
  await w.clock.advance(5);
  expect(w.reports.at(-1)).toMatchObject({ key: 'shop/web', pool: 'web', problem: { code: 'busy' } });
  await w.clock.advance(100);
  expect(w.place.calls).toEqual(['write shop/web', 'members shop/web', 'write shop/web']);
  expect(await w.members('shop/web')).toEqual(['10.0.0.2 enabled']);
  expect(w.reports.at(-1)).toMatchObject({ pool: 'web', problem: undefined });
  await w.end();
});

test('a pool whose members nobody knows keeps them', async () => {
  const w = await served();
  w.source.supplyWith(web, undefined);
  await w.clock.advance(1000);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 enabled']);
  w.source.supplyWith(web, []);
  await w.clock.advance(5);
  expect(await w.members('shop/web')).toEqual([]);
  await w.end();
});

test('a problem of a pool is told once, and once more when it is over', async () => {
  const w = await served();
  const told = () => w.reports.filter(({ pool }) => pool === 'web').length;
  for (let n = 0; n < 3; n++) {
    w.source.supplyWith(web, [], { code: 'missing', message: 'Service shop/web is not there' });
    await w.clock.advance(10);
  }
  expect(told()).toBe(1);
  w.source.supplyWith(web, [pod(1)]);
  await w.clock.advance(10);
  expect(told()).toBe(2);
  await w.end();
});

test('a load balancer whose object cannot be read still follows its pods', async () => {
  const w = await served();
  w.source.refuse(web, { code: 'invalid', message: 'not JSON' });
  await w.clock.advance(100);
  w.source.supplyWith(web, [pod(3)]);
  await w.clock.advance(5);
  expect(await w.members('shop/web')).toEqual(['10.0.0.3 enabled']);
  await w.end();
});

test("members are never written into someone else's load balancer", async () => {
  const at = place();
  const them = world({ place: at, owner: 'them' });
  them.source.supplyWith(web, [pod(9)]);
  them.source.want(web);
  await them.clock.advance(100);
  await them.end();
  const us = world({ place: at });
  us.source.supplyWith(web, [pod(1)]);
  us.source.want(web);
  await us.clock.advance(1000);
  expect(await us.members('shop/web')).toEqual(['10.0.0.9 enabled']);
  await us.end();
});

test('of two that ask for one key, only the pods of the one that has it become members', async () => {
  const w = await served();
  const rival = make('shop/web', 80, { object: 'rival' });
  w.source.want(rival);
  w.source.supplyWith(rival, [pod(66)]);
  await w.clock.advance(200);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 enabled']);
  await w.end();
});

test('a pool that vanished from the place brings its structure back', async () => {
  const w = await served();
  await w.place.inner.apply({ scope: 'shop', owner: 'us', create: [], update: [], remove: [], after: [] }, stop);
  w.source.supplyWith(web, [pod(2)]);
  await w.clock.advance(200);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  expect(await w.members('shop/web')).toEqual(['10.0.0.2 enabled']);
  await w.end();
});

test('a pool that is wanted no longer is forgotten', async () => {
  const w = await served();
  expect(w.engine.load.pools).toBe(1);
  w.source.forget(web);
  await w.clock.advance(200);
  await w.clock.advance(400_000);
  expect(w.engine.load).toEqual({ scopes: 0, pools: 0 });
  await w.end();
});

test('under dry-run no member is written', async () => {
  const first = await served();
  await first.end();
  const w = world({ place: first.place, source: new ToldSource(), policy: 'dry-run' });
  w.source.want(web);
  w.source.supplyWith(web, [pod(5)]);
  await w.clock.advance(1000);
  expect(await w.members('shop/web')).toEqual(['10.0.0.1 enabled']);
  await w.end();
});
