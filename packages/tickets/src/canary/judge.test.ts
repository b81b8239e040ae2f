import type { CanaryCounts } from '@fairlead/api';
import { expect, test } from 'vitest';
import { judge, type Evidence } from './judge.ts';

const limits = { maxErrorRatio: 5, minRequests: 20, minAvailable: 50 };
const counts = (requests: number, errors: number, canaryRequests = 0): CanaryCounts => ({
  requests,
  errors,
  canaryRequests,
});
const members = (canaryAvailable: number, canaryMembers: number, baselineAvailable = 2, baselineMembers = 2) => ({
  canaryAvailable,
  canaryMembers,
  baselineAvailable,
  baselineMembers,
});
const evidence = (more: Partial<Evidence>): Evidence => ({
  baseline: counts(1000, 10),
  measured: counts(1000, 10, 200),
  members: members(2, 2),
  countsErrors: true,
  ...more,
});

test.each<[string, Partial<Evidence>, boolean]>([
  ['as many errors as before', {}, false],
  ['the canary fails every second time', { measured: counts(1000, 108, 200) }, true],
  ['the canary fails always, at a small share', { measured: counts(1000, 60, 50) }, true],
  ['ten percent more, where five are allowed', { measured: counts(1000, 34, 200) }, true],
  ['four percent more, where five are allowed', { measured: counts(1000, 17, 200) }, false],
  ['a ratio of before that was bad stays so', { baseline: counts(1000, 300), measured: counts(1000, 300, 200) }, false],
  ['too few requests to say', { measured: counts(400, 19, 19) }, false],
  ['two errors are never enough', { baseline: counts(0, 0), measured: counts(20, 2, 20) }, false],
  ['without a baseline all errors are the canary’s', { baseline: undefined, measured: counts(100, 30, 50) }, true],
  ['errors that nobody counts', { countsErrors: false, measured: counts(1000, 1000, 1000) }, false],
  ['nothing counted yet', { measured: undefined }, false],
  ['one of two members is there', { members: members(1, 2) }, false],
  ['one of three members is there', { members: members(1, 3) }, true],
  ['no member is there', { members: members(0, 2) }, true],
  ['it has no members at all', { members: members(0, 0) }, true],
  ['the baseline is as badly off', { members: members(0, 2, 0, 2) }, false],
  ['the baseline is worse off', { members: members(1, 3, 1, 4) }, false],
])('%s: worse is %s', (_, more, want) => {
  expect(judge(limits, evidence(more)).isWorse).toBe(want);
});

test('the figures are told', () => {
  expect(judge(limits, evidence({ measured: counts(1000, 28, 200) })).message).toBe(
    '2 of 2 members of the canary are available, 2 of 2 of the baseline; about 20 of 200 requests to the canary failed (10.0 %), before it 1.0 % of all',
  );
});

test('without minRequests one request is enough to look at', () => {
  const eager = { ...limits, minRequests: 0 };
  expect(judge(eager, evidence({ baseline: counts(0, 0), measured: counts(4, 4, 4) })).isWorse).toBe(true);
  expect(judge(eager, evidence({ measured: counts(0, 0, 0) })).isWorse).toBe(false);
});
