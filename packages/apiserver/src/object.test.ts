import { expect, test } from 'vitest';
import { isEqualBut, timeText } from './object.ts';

test('a time is told in whole seconds, whatever was asked before', () => {
  const moments = [0, 999, 1000, -1, 999, Date.parse('2026-01-02T03:04:05.678Z'), 1000];
  expect(moments.map(timeText)).toEqual([
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:01Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00Z',
    '2026-01-02T03:04:05Z',
    '1970-01-01T00:00:01Z',
  ]);
});

test.each([
  [{ a: 1, b: 2 }, { b: 3, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 3 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1 }, { c: 1 }, false],
  [{ a: 1 }, { a: 1, c: 1 }, false],
  [{ toString: undefined }, { c: undefined }, false],
])('%j and %j are equal but for b: %j', (a, b, is) => {
  expect(isEqualBut(a, b, 'b')).toBe(is);
  expect(isEqualBut(b, a, 'b')).toBe(is);
});
