// The rules of a ticket's status: what moves a time, what a patch holds, how long a history is.
import type { Lbticket } from '@fairlead/api';
import { expect, test } from 'vitest';
import { statusAfter, statusPatch, timeText } from './status.ts';
import { ticket } from './testing/objects.ts';

const t0 = Date.parse('2026-01-01T00:00:00Z');
const fact = (status: 'True' | 'False', message = '') => ({ status, reason: 'Reason', message });
const withStatus = (status: Lbticket['status']): Lbticket => ({ ...ticket('test'), ...(status ? { status } : {}) });

test('the time of a condition moves with its status, not with its words', () => {
  const first = statusAfter(withStatus(undefined), { facts: { Allocated: fact('False', 'a') }, observed: 1 }, t0);
  const words = statusAfter(withStatus(first), { facts: { Allocated: fact('False', 'b') }, observed: 1 }, t0 + 5000);
  const turned = statusAfter(withStatus(words), { facts: { Allocated: fact('True') }, observed: 1 }, t0 + 9000);
  const times = [first, words, turned].map((one) => one.conditions?.[0]?.lastTransitionTime);
  expect(times).toEqual([timeText(t0), timeText(t0), timeText(t0 + 9000)]);
});

test('Ready says the first thing that is in the way', () => {
  const facts = {
    Allocated: fact('True'),
    NetworkPolicyOpen: fact('False', 'not open'),
    Programmed: fact('False', 'not there'),
  };
  const after = statusAfter(withStatus(undefined), { facts, observed: 1 }, t0);
  expect(after.conditions?.map(({ type }) => type)).toEqual(['Allocated', 'NetworkPolicyOpen', 'Programmed', 'Ready']);
  expect(after.conditions?.[3]).toMatchObject({ status: 'False', message: 'not open' });
});

test('a patch holds what changed, null for what went, and is nothing when nothing changed', () => {
  const before = statusAfter(
    withStatus(undefined),
    { facts: {}, observed: 1, veip: '20.1.0.1', application: 'a1' },
    t0,
  );
  expect(statusPatch(before, structuredClone(before))).toBeUndefined();
  const after = statusAfter(withStatus(before), { facts: {}, observed: 2, application: null }, t0);
  expect(statusPatch(before, after)).toMatchObject({ observedGeneration: 2, application: null });
  expect(statusPatch(before, after)).not.toHaveProperty('veip');
});

test('a patch says of an object what is not in it any more, for it is merged into', () => {
  const place = { loadbalancer: 'demo', cluster: 'c', namespace: 'shop' };
  const before = { filing: { ...place, provider: 'http', url: 'http://a.test' } };
  const after = { filing: { ...place, provider: 'auto' } };
  expect(statusPatch(before, after)).toEqual({ filing: { provider: 'auto', url: null } });
  expect(statusPatch<{ filing?: object }>(before, {})).toEqual({ filing: null });
});

test('words longer than the API server takes are cut', () => {
  const long = 'x'.repeat(50_000);
  const transition = { to: 'failed' as const, why: long };
  const after = statusAfter(
    withStatus(undefined),
    { facts: { Allocated: fact('False', long) }, observed: 1, transition },
    t0,
  );
  expect(after.history?.[0]?.why.length).toBe(4096);
  expect(after.conditions?.[0]?.message.length).toBe(32_768);
});

test('history keeps the last twenty lines, oldest first', () => {
  let one = withStatus(undefined);
  for (let i = 0; i < 25; i += 1)
    one = withStatus(statusAfter(one, { facts: {}, observed: 1, transition: { to: 'failed', why: `${i}` } }, t0 + i));
  expect(one.status?.history?.map(({ why }) => why)).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 5}`));
});

test('a list of conditions that an approver has replaced is whole again with the next write', () => {
  const conditions = [
    { type: 'NetworkPolicyOpen', status: 'True', reason: 'Approved', message: '', lastTransitionTime: timeText(t0) },
  ] as const;
  const before = withStatus({ process: 'apply', veip: '20.1.0.1', ltmip: '10.0.0.1', conditions: [...conditions] });
  const after = statusAfter(before, { facts: { Programmed: fact('True') }, observed: 1 }, t0);
  expect(after.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'Allocated True',
    'NetworkPolicyOpen True',
    'Programmed True',
    'Ready True',
  ]);
});
