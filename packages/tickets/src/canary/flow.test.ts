import type { LbcanarySpec, LbcanaryStatus } from '@fairlead/api';
import { fail, ok } from '@fairlead/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canary } from '../testing/objects.ts';
import { timeText } from '../status.ts';
import { flow, type Reading, type Sight } from './flow.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const reading = (requests = 0, errors = 0, canaryRequests = 0, canaryAvailable = 2): Reading => ({
  countsErrors: true,
  counts: { requests, errors, unanswered: 0, canaryRequests },
  open: 0,
  members: { canaryAvailable, canaryMembers: 2, baselineAvailable: 2, baselineMembers: 2 },
});
const sight = (more: Partial<Sight> & { at?: number } = {}): Sight => ({
  now: start + (more.at ?? 0) * 1000,
  problem: undefined,
  programmed: { is: true, message: 'on its way' },
  reading: ok(reading()),
  ...more,
});
const none = { requests: 0, errors: 0, canaryRequests: 0 };
const mark = { ...none, unanswered: 0 };
const since = timeText(start);
const pending: LbcanaryStatus = { phase: 'pending', step: 0 };
const baseline: LbcanaryStatus = { phase: 'baseline', step: 0, since, mark };
const shifting: LbcanaryStatus = {
  phase: 'shifting',
  step: 2,
  weight: 20,
  since,
  mark,
  baseline: { ...none, requests: 100 },
};
const last: LbcanaryStatus = { ...shifting, step: 4, weight: 100 };
const promoted: LbcanaryStatus = { phase: 'promoted', step: 4, weight: 100 };
const look = (status: LbcanaryStatus, spec: Partial<LbcanarySpec> = {}, seen = sight()) =>
  flow({ ...canary('c', spec), status }, seen);

const unreadable = { reading: fail('unreachable', 'no answer') };
const onItsWay = { programmed: { is: false, message: 'on its way' } };
const gone = { problem: { code: 'missing' as const, message: 'the listner is gone', path: 'spec.listner' } };
const busy = (at: number) => sight({ at, reading: ok(reading(500, 0, 100)) });

test.each<[string, LbcanaryStatus, Partial<LbcanarySpec>, Sight, string]>([
  ['pending, all there', pending, {}, sight(), 'baseline'],
  ['pending, target not there', pending, {}, sight(gone), '-'],
  ['pending, ticket not on the device', pending, {}, sight(onItsWay), '-'],
  ['pending, paused', pending, { state: 'paused' }, sight(), '-'],
  ['pending, to be promoted', pending, { state: 'promoted' }, sight(), 'promoted 100'],
  ['pending, to be rolled back', pending, { state: 'rolledback' }, sight(), 'rolledback'],
  ['baseline, before its time', baseline, {}, busy(59), '-'],
  ['baseline, after its time', baseline, {}, busy(60), 'shifting 5'],
  ['baseline, no requests', baseline, {}, sight({ at: 60 }), 'shifting 5'],
  ['baseline, device not read', baseline, {}, sight({ at: 60, ...unreadable }), '-'],
  ['baseline, first step asked for', baseline, { step: 1 }, busy(1), 'shifting 5'],
  ['baseline, canary down: nothing is shifted yet', baseline, {}, sight({ reading: ok(reading(0, 0, 0, 0)) }), '-'],
  ['baseline, paused', baseline, { state: 'paused' }, busy(60), '-'],
  ['shifting, before its time', shifting, {}, busy(59), '-'],
  ['shifting, after its time', shifting, {}, busy(60), 'shifting 50'],
  ['shifting, too few requests', shifting, {}, sight({ at: 600, reading: ok(reading(100, 0, 19)) }), '-'],
  ['shifting, no requests wanted', shifting, { minRequests: 0 }, sight({ at: 60 }), 'shifting 50'],
  ['shifting, weights on their way', shifting, {}, sight({ at: 60, ...onItsWay }), '-'],
  ['shifting, device not read', shifting, {}, sight({ at: 60, ...unreadable }), '-'],
  ['shifting, paused', shifting, { state: 'paused' }, busy(60), '-'],
  ['shifting by hand', shifting, { mode: 'manual' }, busy(6000), '-'],
  ['shifting by hand, next step asked for', shifting, { mode: 'manual', step: 3 }, busy(1), 'shifting 50'],
  ['shifting, a later step asked for', shifting, { step: 4 }, busy(1), 'shifting 100'],
  ['shifting, a step asked for that is past', shifting, { step: 1 }, busy(1), '-'],
  ['shifting, errors', shifting, {}, sight({ at: 5, reading: ok(reading(500, 60, 100)) }), 'aborted'],
  [
    'shifting, errors while paused',
    shifting,
    { state: 'paused' },
    sight({ reading: ok(reading(500, 60, 100)) }),
    'aborted',
  ],
  ['shifting, canary down', shifting, {}, sight({ reading: ok(reading(0, 0, 0, 0)) }), 'aborted'],
  ['shifting, target gone', shifting, {}, sight(gone), 'aborted'],
  ['shifting, to be promoted', shifting, { state: 'promoted' }, sight(onItsWay), 'promoted 100'],
  [
    'shifting, to be rolled back',
    shifting,
    { state: 'rolledback' },
    sight({ ...onItsWay, ...unreadable }),
    'rolledback',
  ],
  ['last step, after its time', last, {}, busy(60), 'promoted 100'],
  ['promoted, target gone', promoted, {}, sight(gone), '-'],
  ['promoted, to be rolled back', promoted, { state: 'rolledback' }, sight(), 'rolledback'],
  ['aborted', { phase: 'aborted', step: 2 }, { state: 'promoted' }, sight(), '-'],
  ['rolled back', { phase: 'rolledback', step: 2 }, {}, sight(), '-'],
])('%s', (_, status, spec, seen, want) => {
  const { move, status: after } = look(status, spec, seen);
  const moved = [after.phase, ...(after.weight === undefined ? [] : [after.weight])].join(' ');
  expect(move ? moved : '-').toBe(want);
});

test('a new step counts from when the device has it, and only then', () => {
  const stepped = look(baseline, {}, busy(60)).status;
  expect(stepped).toEqual({
    phase: 'shifting',
    step: 1,
    weight: 5,
    baseline: { requests: 500, errors: 0, canaryRequests: 100 },
    members: reading().members,
  });
  const waited = look(stepped, {}, sight({ at: 500, ...onItsWay })).status;
  expect(waited.since).toBeUndefined();
  const begun = look(waited, {}, sight({ at: 501, reading: ok(reading(700, 3, 150)) })).status;
  expect(begun).toMatchObject({
    since: timeText(start + 501_000),
    mark: { requests: 700, errors: 3, canaryRequests: 150 },
  });
  const later = look(begun, {}, sight({ at: 502, reading: ok(reading(720, 4, 160)) })).status;
  expect(later.measured).toEqual({ requests: 20, errors: 1, canaryRequests: 10 });
});

test.each([
  ['what is under way is no failure', 60, 64, 60, undefined],
  ['what is new may be under way, for all that is known', 60, 4, 0, undefined],
  ['what stays beyond the connections was broken off', 60, 4, 50, 'aborted'],
])('without an answer: %s', (_, unanswered, open, before, want) => {
  const seen = { ...reading(500, 0, 100), open };
  const all = { ...seen, counts: { ...seen.counts, unanswered } };
  expect(look({ ...shifting, unanswered: before }, {}, sight({ at: 5, reading: ok(all) })).move?.phase).toBe(want);
});

test('a device that began to count anew is counted anew', () => {
  const after = look(
    { ...shifting, mark: { requests: 900, errors: 9, unanswered: 0, canaryRequests: 90 } },
    {},
    busy(60),
  );
  expect(after.move).toBeUndefined();
  expect(after.status).toMatchObject({ mark: { requests: 500 }, measured: { requests: 0 } });
});

test('what was ended leaves no weight behind', () => {
  for (const seen of [sight(gone), sight({ reading: ok(reading(0, 0, 0, 0)) })])
    expect(look(shifting, {}, seen).status).not.toHaveProperty('weight');
  expect(look(promoted, { state: 'rolledback' }).status).not.toHaveProperty('weight');
});

test('two controllers that see the same store the same', () => {
  const both = [1, 2].map(() => look(shifting, {}, busy(60)));
  expect(both[0]).toEqual(both[1]);
});

const sights = fc.record({
  at: fc.integer({ min: 0, max: 90 }),
  requests: fc.integer({ min: 0, max: 400 }),
  errors: fc.integer({ min: 0, max: 40 }),
  isProgrammed: fc.boolean(),
  isReadable: fc.boolean(),
  isThere: fc.boolean(),
  state: fc.constantFrom('running', 'running', 'running', 'paused', 'promoted', 'rolledback'),
});

test('whatever is seen: steps only rise, the share is that of the step, the ended stay ended', () => {
  fc.assert(
    fc.property(fc.array(sights, { maxLength: 30 }), (all) => {
      let status: LbcanaryStatus = {};
      let [now, requests, errors] = [start, 0, 0];
      for (const one of all) {
        now += one.at * 1000;
        requests += one.requests;
        errors += Math.min(one.errors, one.requests);
        const seen: Sight = {
          now,
          problem: one.isThere ? undefined : gone.problem,
          programmed: { is: one.isProgrammed, message: '' },
          reading: one.isReadable ? ok(reading(requests, errors, Math.floor(requests / 2))) : fail('unreachable', ''),
        };
        const before: LbcanaryStatus = status;
        const state = before.phase === 'promoted' && one.state !== 'rolledback' ? 'promoted' : one.state;
        const { status: after, move } = look(before, { state: state as LbcanarySpec['state'] }, seen);
        status = after;
        const steps = canary('c').spec.steps;
        expect(after.step).toBeGreaterThanOrEqual(before.step ?? 0);
        if (before.phase === 'aborted' || before.phase === 'rolledback') expect(after.phase).toBe(before.phase);
        if (after.phase === 'shifting') expect(after.weight).toBe(steps[(after.step ?? 0) - 1]);
        else expect(after.weight).toBe(after.phase === 'promoted' ? 100 : undefined);
        // One move at a time, and none while nothing is known of the step before.
        if (after.phase === 'shifting' && move) expect((after.step ?? 0) - (before.step ?? 0)).toBe(1);
        if (after.phase === 'shifting' && move) expect(one.isReadable && one.isProgrammed).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
