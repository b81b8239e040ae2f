// What counts as the same content.
import { expect, test } from 'vitest';
import { isEqual } from './equal.ts';

test.each<{ name: string; a: unknown; b: unknown; same: boolean }>([
  { name: 'order of keys does not count', a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, same: true },
  { name: 'order of arrays counts', a: [1, 2], b: [2, 1], same: false },
  { name: 'undefined is absent', a: { x: 1, y: undefined }, b: { x: 1 }, same: true },
  { name: 'null is not absent', a: { x: null }, b: {}, same: false },
  { name: 'an array is not a record', a: [], b: {}, same: false },
  { name: 'a longer array differs', a: [1], b: [1, 2], same: false },
  { name: 'another key differs', a: { x: 1 }, b: { y: 1 }, same: false },
  { name: 'a number is not its text', a: 1, b: '1', same: false },
])('$name', ({ a, b, same }) => {
  expect(isEqual(a, b)).toBe(same);
  expect(isEqual(b, a)).toBe(same);
});
