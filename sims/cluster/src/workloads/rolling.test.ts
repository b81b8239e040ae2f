import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Rollout } from './rolling.ts';
import { limits, nextSizes, shares } from './rolling.ts';

test.each([
  { rule: 'the usual quarter of four', desired: 4, surge: '25%', unavailable: '25%', want: [1, 1] },
  { rule: 'surge rounds up and unavailable rounds down', desired: 3, surge: '25%', unavailable: '25%', want: [1, 0] },
  {
    rule: 'both nothing would never move, so one may be unavailable',
    desired: 3,
    surge: 0,
    unavailable: 0,
    want: [0, 1],
  },
  { rule: 'a small percentage of both counts as nothing too', desired: 10, surge: 0, unavailable: '5%', want: [0, 1] },
  { rule: 'more unavailable than there are is all of them', desired: 2, surge: 0, unavailable: 5, want: [0, 2] },
  { rule: 'the server left both to us', desired: 8, surge: undefined, unavailable: undefined, want: [2, 2] },
])('limits: $rule', ({ desired, surge, unavailable, want }) => {
  const { maxSurge, maxUnavailable } = limits(desired, surge, unavailable);
  expect([maxSurge, maxUnavailable]).toEqual(want);
});

const set = (name: string, size: number, available: number) => ({ name, size, available });

test.each([
  { rule: 'a first rollout takes all the room', newest: set('new', 0, 0), old: [], want: { new: 4 } },
  { rule: 'growth stops at desired + surge', newest: set('new', 0, 0), old: [set('a', 4, 4)], want: { new: 1 } },
  {
    rule: 'old pods go as far as enough stay available',
    newest: set('new', 1, 0),
    old: [set('a', 4, 4)],
    want: { a: 3 },
  },
  {
    rule: 'nothing moves while the new ones are not available',
    newest: set('new', 2, 0),
    old: [set('a', 3, 3)],
    want: {},
  },
  {
    rule: 'new pods not available yet are no cover for old ones',
    newest: set('new', 2, 0),
    old: [set('a', 4, 2)],
    want: { a: 3 },
  },
  {
    rule: 'unavailable old pods go first',
    newest: set('new', 1, 1),
    old: [set('a', 2, 2), set('b', 2, 0)],
    want: { b: 0 },
  },
  {
    rule: 'the oldest ReplicaSet shrinks first',
    newest: set('new', 1, 1),
    old: [set('a', 1, 1), set('b', 3, 3)],
    want: { a: 0, b: 2 },
  },
  { rule: 'a newest that is too large shrinks', newest: set('new', 6, 6), old: [], want: { new: 4 } },
  { rule: 'a finished rollout rests', newest: set('new', 4, 4), old: [set('a', 0, 0)], want: {} },
])('nextSizes: $rule', ({ newest, old, want }) => {
  const sizes = nextSizes({ desired: 4, maxSurge: 1, maxUnavailable: 1, newest, old });
  expect(Object.fromEntries(sizes)).toEqual(want);
});

test('a rollout always ends, and never has fewer available or more in all than it may', () => {
  const numbers = fc.record({
    desired: fc.integer({ min: 0, max: 20 }),
    surge: fc.integer({ min: 0, max: 8 }),
    unavailable: fc.integer({ min: 0, max: 8 }),
    was: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(numbers, ({ desired, surge, unavailable, was }) => {
      const { maxSurge, maxUnavailable } = limits(desired, surge, unavailable);
      const newest = set('new', 0, 0);
      // The old pods are split over up to three ReplicaSets left from interrupted rollouts.
      const old = Array.from({ length: was }, (_, i) => set(`old-${i}`, Math.floor((desired + i) / was), 0)).map(
        (one) => ({ ...one, available: one.size }),
      );
      const rollout: Rollout = { desired, maxSurge, maxUnavailable, newest, old };
      const all = [newest, ...old];
      const total = () => all.reduce((n, one) => n + one.size, 0);
      const available = () => all.reduce((n, one) => n + one.available, 0);
      const atStart = available();
      for (let turn = 0; newest.available < desired || total() > desired; turn += 1) {
        expect(turn).toBeLessThan(100);
        const sizes = nextSizes(rollout);
        for (const one of all) one.size = sizes.get(one.name) ?? one.size;
        for (const one of all) one.available = Math.min(one.available, one.size);
        expect(total()).toBeLessThanOrEqual(desired + maxSurge);
        expect(available()).toBeGreaterThanOrEqual(Math.min(atStart, desired - maxUnavailable));
        if (sizes.size === 0) newest.available = newest.size;
      }
    }),
  );
});

test.each([
  {
    rule: 'each keeps its share',
    desired: 20,
    sets: [
      { ...set('a', 8, 8), whole: 12 },
      { ...set('b', 4, 4), whole: 12 },
    ],
    want: { a: 15, b: 7 },
  },
  {
    rule: 'scaled to nothing',
    desired: 0,
    sets: [
      { ...set('a', 8, 8), whole: 12 },
      { ...set('b', 4, 4), whole: 12 },
    ],
    want: { a: 0, b: 0 },
  },
  {
    rule: 'scaled down, the largest gives what rounding leaves',
    desired: 4,
    sets: [
      { ...set('a', 8, 8), whole: 12 },
      { ...set('b', 4, 4), whole: 12 },
    ],
    want: { a: 4, b: 2 },
  },
])('shares: $rule', ({ desired, sets, want }) => {
  expect(Object.fromEntries(shares(desired, 2, sets))).toEqual(want);
});
