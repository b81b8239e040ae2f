import { expect, test } from 'vitest';
import { fits } from './pattern.ts';

test.each([
  ['^[a-z]+$', 'web', true],
  ['^[a-z]+$', 'Web', false],
  ['e', 'web', true],
  // Told apart though both together are the same text.
  ['^a', 'b', false],
  ['^a\n', 'b', false],
  ['^', 'a\nb', true],
  ['(', 'a pattern that is none refuses nothing', true],
  ['^a*$', 'a'.repeat(1000), true],
  ['^a*$', `${'a'.repeat(1000)}b`, false],
])('%j fits %j: %j, however often', (pattern, text, is) => {
  expect([fits(pattern, text), fits(pattern, text)]).toEqual([is, is]);
});

test('a pattern and a text are not taken for another two that read the same together', () => {
  expect([fits('a', 'a\nb'), fits('a\na', 'b')]).toEqual([true, false]);
  expect([fits('x', 'x1'), fits('xx', '1')]).toEqual([true, false]);
  expect([fits('2', '22'), fits('22', '2')]).toEqual([true, false]);
});
