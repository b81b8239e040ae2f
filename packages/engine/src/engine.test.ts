// Whole paths: from a change in a source to what stands in a place, and what is reported of it.
import { expect, test } from 'vitest';
import { make, place, ToldSource, world } from './testing/world.ts';

const web = make('shop/web');

test('a wanted load balancer is placed, changed and removed', async () => {
  const w = world();
  w.source.want(web);
  await w.clock.advance(100);
  expect(w.reports.findLast(({ key }) => key === 'shop/web')).toEqual({
    origin: web.origin,
    key: 'shop/web',
    address: '192.0.2.7',
  });
  w.source.want(make('shop/web', 81));
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 81']);
  w.source.forget(web);
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual([]);
  await w.end();
});

test('many changes within the debounce are one write', async () => {
  const w = world();
  for (let port = 1; port <= 50; port++) w.source.want(make('shop/web', port));
  await w.clock.advance(100);
  expect(w.place.count('apply')).toBe(1);
  await w.end();
});

test('with nothing to do nothing is written', async () => {
  const w = world({ resync: 10_000 });
  w.source.want(web);
  await w.clock.advance(60_000);
  expect(w.place.count('apply')).toBe(1);
  expect(w.place.count('read')).toBeGreaterThan(3);
  await w.end();
});

test.each(['busy', 'unreachable'] as const)(
  'a place that is %s is asked again after a pause, and the wait is reported',
  async (code) => {
    const w = world();
    w.place.failNext('apply', code);
    w.source.want(web);
    await w.clock.advance(100);
    expect(w.word('shop/web')).toBe(code);
    await w.clock.advance(1000);
    expect(w.word('shop/web')).toBe('ok');
    await w.end();
  },
);

test('a place that cannot be read is asked again, less and less often', async () => {
  const w = world();
  for (let n = 0; n < 100; n++) w.place.failNext('read', 'unreachable');
  w.source.want(web);
  await w.clock.advance(600_000);
  expect(w.word('shop/web')).toBe('unreachable');
  expect(w.place.count('read')).toBeLessThan(20);
  await w.end();
});

test('what is denied is not asked again before something changes', async () => {
  const w = world({ resync: 3_600_000 });
  w.place.failNext('apply', 'denied');
  w.source.want(web);
  await w.clock.advance(60_000);
  expect(w.word('shop/web')).toBe('denied');
  expect(w.place.count('apply')).toBe(1);
  w.source.want(make('shop/web', 81));
  await w.clock.advance(100);
  expect(w.word('shop/web')).toBe('ok');
  await w.end();
});

test('what an earlier run left behind is swept at start', async () => {
  const first = world();
  first.source.want(web);
  await first.clock.advance(100);
  await first.end();
  const second = world({ place: first.place });
  await second.clock.advance(200);
  expect(await second.standing('shop')).toEqual([]);
  await second.end();
});

test('a sweep that fails is tried again', async () => {
  const first = world();
  first.source.want(web);
  await first.clock.advance(100);
  await first.end();
  first.place.failNext('owned', 'unreachable');
  const second = world({ place: first.place });
  await second.clock.advance(200);
  expect(await second.standing('shop')).toEqual(['shop/web us 80']);
  await second.clock.advance(1000);
  expect(await second.standing('shop')).toEqual([]);
  await second.end();
});

test('a source whose caches fill still loses nothing', async () => {
  const first = world();
  first.source.want(web);
  await first.clock.advance(100);
  await first.end();
  const late = new ToldSource();
  late.synced = false;
  const second = world({ place: first.place, source: late });
  second.engine.resync();
  await second.clock.advance(10_000);
  expect(await second.standing('shop')).toEqual(['shop/web us 80']);
  late.fill();
  await second.clock.advance(10_000);
  expect(await second.standing('shop')).toEqual([]);
  await second.end();
});

test('beside a source whose caches fill still, another is served', async () => {
  const late = new ToldSource();
  late.synced = false;
  const w = world();
  w.engine.add(late);
  w.source.want(web);
  await w.clock.advance(100);
  expect(w.word('shop/web')).toBe('ok');
  await w.end();
});

test('what a source wants while its caches fill is not believed yet', async () => {
  const late = new ToldSource();
  late.synced = false;
  const w = world();
  w.engine.add(late);
  late.want(make('shop/api', 81));
  w.source.want(web);
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  late.fill();
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/api us 81', 'shop/web us 80']);
  await w.end();
});

test('an edit that comes while a turn runs is settled by the next one', async () => {
  const w = world();
  const open = w.place.hold('read');
  w.source.want(web);
  await w.clock.advance(100);
  const edited = { ...make('shop/web', 81), origin: { ...web.origin, revision: 'r2' } };
  w.source.want(edited);
  open();
  await w.clock.advance(1);
  const settled = () => w.reports.filter(({ key }) => key === undefined).map(({ origin }) => origin?.revision);
  expect(settled()).toEqual([]);
  await w.clock.advance(100);
  expect(settled()).toEqual(['r2']);
  await w.end();
});

test('an object that cannot be read keeps what it had, and is told why', async () => {
  const w = world();
  w.source.want(web);
  await w.clock.advance(100);
  w.source.refuse(web, { code: 'invalid', message: 'not JSON' });
  await w.clock.advance(1000);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  expect(w.reports.at(-1)).toEqual({ origin: web.origin, problem: { code: 'invalid', message: 'not JSON' } });
  w.source.want(make('shop/web', 81));
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 81']);
  await w.end();
});

test('a bad load balancer stops none of its neighbours in the scope, and keeps what it had', async () => {
  const w = world();
  const others = ['a', 'b', 'c', 'd', 'e'].map((name, n) => make(`shop/${name}`, 100 + n));
  for (const lb of [web, ...others]) w.source.want(lb);
  await w.clock.advance(100);
  w.place.refused.add('shop/c').add('shop/web');
  for (const [n, { key }] of [web, ...others].entries()) w.source.want(make(key, 200 + n));
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual([
    'shop/a us 201',
    'shop/b us 202',
    'shop/c us 102',
    'shop/d us 204',
    'shop/e us 205',
    'shop/web us 80',
  ]);
  expect(['web', 'a', 'c'].map((name) => w.word(`shop/${name}`))).toEqual(['invalid', 'ok', 'invalid']);
  await w.end();
});

test('two objects that ask for one address and port: the older has it, and the other when it goes', async () => {
  const w = world();
  const old = make('shop/old', 80, { created: 1 });
  const young = make('shop/young', 80, { created: 2 });
  w.source.want(young);
  w.source.want(old);
  await w.clock.advance(100);
  expect([w.word('shop/old'), w.word('shop/young')]).toEqual(['ok', 'taken']);
  w.source.forget(old);
  await w.clock.advance(100);
  expect(w.word('shop/young')).toBe('ok');
  await w.end();
});

test('the present holder keeps an address from an older object that comes later', async () => {
  const w = world();
  w.source.want(make('shop/young', 80, { created: 2 }));
  await w.clock.advance(100);
  w.source.want(make('shop/old', 80, { created: 1 }));
  await w.clock.advance(100);
  expect([w.word('shop/old'), w.word('shop/young')]).toEqual(['taken', 'ok']);
  await w.end();
});

test('an edit that asks for what another has leaves what its object had', async () => {
  const w = world();
  w.source.want(make('shop/first', 80));
  w.source.want(make('shop/second', 81));
  await w.clock.advance(100);
  w.source.want(make('shop/second', 80));
  await w.clock.advance(100);
  expect(w.word('shop/second')).toBe('taken');
  expect(await w.standing('shop')).toEqual(['shop/first us 80', 'shop/second us 81']);
  await w.end();
});

test('two objects that ask for one key: the holder keeps it, and its neighbour takes over when it goes', async () => {
  const w = world();
  const first = make('shop/web', 80, { object: 'first', created: 9 });
  const second = make('shop/web', 81, { object: 'second', created: 1 });
  w.source.want(first);
  await w.clock.advance(100);
  w.source.want(second);
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  w.source.forget(first);
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 81']);
  await w.end();
});

test('an address held in another scope is taken, and had when it comes free there', async () => {
  const w = world();
  const first = make('one/web');
  w.source.want(first);
  await w.clock.advance(100);
  w.source.want(make('two/web'));
  await w.clock.advance(100);
  expect(w.word('two/web')).toBe('taken');
  w.source.forget(first);
  await w.clock.advance(300);
  expect(w.word('two/web')).toBe('ok');
  await w.end();
});

test('what someone else put there is left, and the wish is told it is taken', async () => {
  const at = place();
  const them = world({ place: at, owner: 'them' });
  them.source.want(web);
  await them.clock.advance(100);
  await them.end();
  const us = world({ place: at });
  us.source.want(make('shop/web', 81));
  us.source.want(make('shop/api', 82));
  await us.clock.advance(100);
  expect(us.word('shop/web')).toBe('taken');
  expect(await us.standing('shop')).toEqual(['shop/api us 82', 'shop/web them 80']);
  await us.end();
});

test('a removal of too many at once is held back until it is released', async () => {
  const w = world({ brake: { share: 0.5, spare: 2 } });
  const all = Array.from({ length: 6 }, (_, n) => make(`shop/n${n}`, 100 + n));
  for (const lb of all) w.source.want(lb);
  await w.clock.advance(100);
  for (const lb of all.slice(0, 5)) w.source.forget(lb);
  w.source.want(make('shop/new', 200));
  await w.clock.advance(100);
  expect((await w.standing('shop')).length).toBe(7);
  expect(w.lines.join('\n')).toContain('would remove 5 of 6 in shop');
  w.engine.release('shop');
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/n5 us 105', 'shop/new us 200']);
  await w.end();
});

test.each([
  { policy: 'upsert-only' as const, standing: ['shop/api us 81', 'shop/web us 80'], word: 'ok' },
  { policy: 'dry-run' as const, standing: ['shop/web us 80'], word: 'withheld' },
])('under $policy', async ({ policy, standing, word }) => {
  const at = place();
  const first = world({ place: at });
  first.source.want(web);
  await first.clock.advance(100);
  await first.end();
  const w = world({ place: at, policy });
  w.source.want(make('shop/api', 81));
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(standing);
  expect(w.word('shop/api')).toBe(word);
  await w.end();
});

test('what was changed in the place by hand is put back', async () => {
  const w = world({ resync: 60_000 });
  w.source.want(web);
  await w.clock.advance(100);
  const stop = new AbortController().signal;
  await w.place.inner.apply({ scope: 'shop', owner: 'us', create: [], update: [], remove: [], after: [] }, stop);
  await w.clock.advance(90_000);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  await w.end();
});

test('what was changed by hand where reading does not show it is found in time, and put back', async () => {
  const w = world({ resync: 60_000, verify: 600_000 });
  w.source.want(web);
  await w.clock.advance(700_000);
  expect([w.place.count('drifted') > 0, w.place.count('apply')]).toEqual([false, 1]);
  w.place.hidden.drift = true;
  await w.clock.advance(200_000);
  expect([w.place.count('drifted'), w.place.count('apply'), w.place.hidden.drift]).toEqual([1, 2, false]);
  await w.clock.advance(1_600_000);
  expect(w.place.count('apply')).toBe(2);
  await w.end();
});

test('a removed source takes along what it wanted', async () => {
  const other = new ToldSource();
  const w = world();
  w.engine.add(other);
  w.source.want(web);
  other.want(make('shop/api', 81));
  await w.clock.advance(100);
  w.engine.remove(other);
  await w.clock.advance(100);
  expect(await w.standing('shop')).toEqual(['shop/web us 80']);
  await w.end();
});

test('what no source answers for is left alone: its own may be late, or served by another engine', async () => {
  const first = world();
  first.source.want(web);
  await first.clock.advance(100);
  await first.end();
  const second = world({ place: first.place, source: new ToldSource('c2') });
  second.source.want({ ...make('shop/api', 81), origin: { ...web.origin, cluster: 'c2', name: 'api' } });
  await second.clock.advance(400_000);
  expect(await second.standing('shop')).toEqual(['shop/api us 81', 'shop/web us 80']);
  second.engine.add(new ToldSource());
  await second.clock.advance(1000);
  expect(await second.standing('shop')).toEqual(['shop/api us 81']);
  await second.end();
});

test('an engine that is stopped in the middle reports nothing of what it cut short', async () => {
  const w = world();
  const open = w.place.hold('read');
  w.source.want(web);
  await w.clock.advance(100);
  const reported = w.reports.length;
  const ended = w.end();
  open();
  await ended;
  expect(w.reports.length).toBe(reported);
});
