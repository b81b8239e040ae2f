import { expect, test } from 'vitest';
import { logQuery } from './log-query.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const all = {
  isFollowing: false,
  isPrevious: false,
  hasTimestamps: false,
  since: Number.NEGATIVE_INFINITY,
  tail: Number.POSITIVE_INFINITY,
  limit: Number.POSITIVE_INFINITY,
};

test.each([
  ['', {}],
  ['follow=true&previous=1&timestamps', { isFollowing: true, isPrevious: true, hasTimestamps: true }],
  ['follow=false&previous=0&timestamps=FALSE', {}],
  ['tailLines=0&limitBytes=5', { tail: 0, limit: 5 }],
  ['sinceSeconds=10', { since: now - 10_000 }],
  ['sinceTime=2026-01-01T01:00:00.5%2B01:00', { since: now - 59_500 }],
  ['tailLines=&sinceTime=&stream=All', {}],
])('%s asks for what it says', (text, said) => {
  expect(logQuery(new URLSearchParams(text), now)).toEqual({ ok: true, query: { ...all, ...said } });
});

test.each([
  ['tailLines=many', 400],
  ['tailLines=1.5', 400],
  ['sinceTime=yesterday', 400],
  ['tailLines=-1', 422],
  ['limitBytes=0', 422],
  ['sinceSeconds=0', 422],
  ['sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z', 422],
  ['stream=Stderr', 422],
])('%s is refused with %i', (text, status) => {
  expect(logQuery(new URLSearchParams(text), now)).toMatchObject({ ok: false, status });
});
