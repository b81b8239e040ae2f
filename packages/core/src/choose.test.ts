import { expect, test } from 'vitest';
import { choose } from './choose.ts';
import type { TestRequest } from './condition.ts';
import { crc32 } from './crc32.ts';
import type { Listener, Route, WeightedPool } from './load-balancer.ts';

const weights = (text: string): WeightedPool[] =>
  text.split(' ').map((each) => ({ pool: each.split(':')[0] ?? '', weight: Number(each.split(':')[1]) }));

const canary: Route = {
  name: 'irule',
  match: 'any',
  conditions: [
    { subject: 'host', tests: [{ operator: 'equal', value: 'a.domain.com' }] },
    { subject: 'header', key: 'Content-Length', tests: [{ operator: 'range', value: '100-1000' }] },
  ],
  pools: weights('svc03:90 svc04:10'),
};
const listener = (over: Partial<Listener> = {}): Listener => ({
  name: 'test_80_vs',
  address: '20.1.0.10',
  port: 80,
  protocol: 'http',
  persistence: 'none',
  routes: [canary],
  pools: weights('svc01:60 svc02:40'),
  ...over,
});
const inside: TestRequest = { client: '192.0.2.1', headers: [['Host', 'a.domain.com']] };
const all = () => true;

function chosen(of: Listener, request: TestRequest, alive: (pool: string) => boolean = all, chance?: () => number) {
  const choice = choose(of, request, alive, chance);
  if (!choice.ok) throw new Error(choice.problem.message);
  return choice.value;
}

/** Counts over 10,000 neighbouring clients. */
function spread(of: Listener, request: TestRequest, alive?: (pool: string) => boolean): Record<string, number> {
  const count: Record<string, number> = {};
  for (let i = 0; i < 10_000; i += 1) {
    const { pool = 'none' } = chosen(of, { ...request, client: `127.8.${i >> 8}.${i & 255}` }, alive);
    count[pool] = (count[pool] ?? 0) + 1;
  }
  return count;
}

test('inside the rule the split is 90 to 10, outside it 60 to 40', () => {
  const within = spread(listener(), inside);
  expect((within['svc03'] ?? 0) / 10_000).toBeCloseTo(0.9, 1);
  expect((within['svc03'] ?? 0) + (within['svc04'] ?? 0)).toBe(10_000);
  const outside = spread(listener(), { client: '' });
  expect((outside['svc01'] ?? 0) / 10_000).toBeCloseTo(0.6, 1);
  expect((outside['svc01'] ?? 0) + (outside['svc02'] ?? 0)).toBe(10_000);
});

test('the first rule that matches wins', () => {
  const second = { ...canary, name: 'second', pools: weights('svc09:1') };
  expect(chosen(listener({ routes: [canary, second] }), inside).route).toBe('irule');
  expect(chosen(listener({ routes: [second, canary] }), inside)).toMatchObject({ route: 'second', pool: 'svc09' });
});

test('match all needs every condition, match any one of them', () => {
  const both = listener({ routes: [{ ...canary, match: 'all' }] });
  expect(chosen(both, inside).route).toBe('default');
  const full: TestRequest = { ...inside, headers: [...(inside.headers ?? []), ['Content-Length', '500']] };
  expect(chosen(both, full).route).toBe('irule');
});

test('a client keeps its pool when another pool dies', () => {
  for (let i = 0; i < 200; i += 1) {
    const request = { client: `192.0.2.${i}` };
    const before = chosen(listener(), request).pool;
    const after = chosen(listener(), request, (pool) => pool !== 'svc02').pool;
    expect(after).toBe('svc01');
    if (before === 'svc01') expect(after).toBe(before);
  }
});

test('a rule with no live pool falls back to the live pools of the listener', () => {
  const alive = (pool: string) => pool === 'svc02';
  expect(spread(listener(), inside, alive)).toEqual({ svc02: 10_000 });
});

test('when nothing lives the first pick stands, so that the device answers for it', () => {
  const request = { ...inside, client: '192.0.2.7' };
  expect(chosen(listener(), request, () => false).pool).toBe(chosen(listener(), request).pool);
});

test('a pool of weight 0 is never picked, even when nothing else lives', () => {
  const zero = listener({ routes: [], pools: weights('svc01:0 svc02:100') });
  expect(spread(zero, inside)).toEqual({ svc02: 10_000 });
  expect(spread(zero, inside, (pool) => pool === 'svc01')).toEqual({ svc02: 10_000 });
});

test('two rules with equal weights do not choose alike, for each is salted with its name', () => {
  const other = { ...canary, name: 'other' };
  const pairs = { same: 0, mixed: 0 };
  for (let i = 0; i < 5000; i += 1) {
    const request = { ...inside, client: `10.1.${i >> 8}.${i & 255}` };
    const a = chosen(listener({ routes: [canary] }), request).pool;
    const b = chosen(listener({ routes: [other] }), request).pool;
    pairs[a === b ? 'same' : 'mixed'] += 1;
  }
  expect(pairs.mixed / 5000).toBeCloseTo(0.18, 1);
});

test('weights that are multiples of others choose the same', () => {
  const few = listener({ routes: [], pools: weights('svc01:3 svc02:2') });
  const many = listener({ routes: [], pools: weights('svc01:60 svc02:40') });
  expect(spread(few, inside)).toEqual(spread(many, inside));
});

test('behind a first tier the pick is made from the last forwarded address', () => {
  const behind = listener({ routes: [], pickBy: 'x-forwarded-for' });
  const direct = listener({ routes: [] });
  for (let i = 0; i < 100; i += 1) {
    const request: TestRequest = { client: '10.9.9.9', headers: [['X-Forwarded-For', `6.6.6.6, 192.0.2.${i}`]] };
    expect(chosen(behind, request).pool).toBe(chosen(direct, { client: `192.0.2.${i}` }).pool);
  }
  const forged: TestRequest = { client: '10.9.9.9', headers: [['X-Forwarded-For', 'x"; y']] };
  expect(chosen(behind, forged).pool).toBe(chosen(direct, { client: '10.9.9.9' }).pool);
});

const random = listener({ stickiness: 'random' });

test.each([
  ['svc01', 0],
  ['svc01', 0.599],
  ['svc02', 0.6],
  ['svc02', 0.999],
])('at random %s is picked when chance says %d, whoever asks', (pool, chance) => {
  for (const client of ['192.0.2.1', '192.0.2.2'])
    expect(chosen(random, { client }, all, () => chance)).toMatchObject({ pool, cookie: undefined });
});

test('at random the live pools are picked again when the first is dead', () => {
  const chances = [0.7, 0.9];
  expect(
    chosen(
      random,
      { client: '192.0.2.1' },
      (pool) => pool === 'svc01',
      () => chances.shift() ?? 0,
    ).pool,
  ).toBe('svc01');
});

test('without chance no pool is named, and it is said among which it would be', () => {
  const { pool, among, why } = chosen(random, inside);
  expect(pool).toBe(undefined);
  expect(among).toEqual(weights('svc03:9 svc04:1'));
  expect(why.at(-1)).toBe('by chance, whoever asks, in (svc03 9, svc04 1)');
  expect(chosen(random, inside, (each) => each === 'svc02').among).toEqual(weights('svc02:2'));
});

const kept = listener({ stickiness: 'cookie' });
const bringing = (value: string, route = 'default'): TestRequest => ({
  client: '192.0.2.1',
  headers: [['Cookie', `a=b; fl_test_80_vs.${route}=${value}`]],
});

test('a cookie keeps the client at its pool, and is set once', () => {
  const { pool, cookie } = chosen(kept, { client: '192.0.2.1' }, all, () => 0.7);
  expect(pool).toBe('svc02');
  expect(cookie).toEqual({ name: 'fl_test_80_vs.default', value: String(crc32('default|svc02')) });
  for (const chance of [undefined, () => 0]) {
    const again = chosen(kept, bringing(cookie?.value ?? ''), all, chance);
    expect([again.pool, again.cookie]).toEqual(['svc02', undefined]);
  }
});

test.each([
  ['a dead pool', kept, bringing(String(crc32('default|svc02'))), (pool: string) => pool !== 'svc02'],
  [
    'a pool of weight 0',
    listener({ stickiness: 'cookie', pools: weights('svc01:1 svc02:0') }),
    bringing(String(crc32('default|svc02'))),
    all,
  ],
  ['a pool of another rule', kept, bringing(String(crc32('irule|svc03'))), all],
  ['another rule', kept, bringing(String(crc32('default|svc02')), 'irule'), all],
  ['a pool by its name', kept, bringing('svc02'), all],
  ['a number that is none', kept, bringing('0x1'), all],
])('a cookie for %s keeps nothing', (_, of, request, alive) => {
  expect(chosen(of, request, alive, () => 0)).toMatchObject({
    pool: 'svc01',
    cookie: { value: String(crc32('default|svc01')) },
  });
});

test('each rule keeps its own pool, and the fallback while nothing of the rule lives', () => {
  const both: TestRequest = {
    ...inside,
    headers: [...(inside.headers ?? []), ...(bringing(String(crc32('irule|svc04')), 'irule').headers ?? [])],
  };
  expect(chosen(kept, both, all, () => 0)).toMatchObject({ route: 'irule', pool: 'svc04' });
  const away = chosen(
    kept,
    both,
    (pool) => pool === 'svc02',
    () => 0,
  );
  expect(away).toMatchObject({ pool: 'svc02', cookie: { value: String(crc32('irule|svc02')) } });
});

test('it is said of a cookie whether it keeps the client', () => {
  const why = (value: string) => chosen(kept, bringing(value)).why.slice(2, -3);
  expect(chosen(kept, bringing(String(crc32('default|svc02')))).why.at(-1)).toBe(
    'the cookie fl_test_80_vs.default keeps the client at svc02',
  );
  expect(why('1')).toEqual([
    'the cookie fl_test_80_vs.default stands for no live pool here',
    'by chance, whoever asks, in (svc01 3, svc02 2)',
  ]);
});

test('with one pool for all there is nothing to keep', () => {
  const one = listener({ routes: [], pools: weights('svc01:1 svc02:0'), stickiness: 'cookie' });
  expect(chosen(one, { client: '192.0.2.1' })).toMatchObject({ pool: 'svc01', cookie: undefined });
});

test('the choice says what was compared and how the pool was picked', () => {
  expect(chosen(listener(), inside).why).toEqual([
    'rule irule (any) matches: host "a.domain.com" satisfies equal; header content-length is absent',
    expect.stringMatching(/^crc32\("irule\|192\.0\.2\.1"\) mod 10 is \d in \(svc03 9, svc04 1\): svc0[34]$/),
  ]);
});

test.each([
  ['a weight of 101', listener({ routes: [], pools: weights('svc01:101') }), 'pools[0].weight'],
  ['weights of 0 only', listener({ routes: [], pools: weights('svc01:0') }), 'pools'],
  ['a rule named default', listener({ routes: [{ ...canary, name: 'default' }] }), 'routes[0].name'],
  ['a rule without condition', listener({ routes: [{ ...canary, conditions: [] }] }), 'routes[0].conditions'],
])('%s is refused', (_, of, path) => {
  expect(choose(of, inside, all)).toMatchObject({ ok: false, problem: { code: 'invalid', path } });
});
