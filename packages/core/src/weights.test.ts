// Weights, their shares, and splits of whole things.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { apportion, reduceWeights, shares } from './weights.ts';

const weights = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 8 });

test.each([
  { given: [60, 40], reduced: [3, 2] },
  { given: [90, 10], reduced: [9, 1] },
  { given: [0, 7], reduced: [0, 1] },
  { given: [0, 0], reduced: [0, 0] },
  { given: [], reduced: [] },
])('$given reduces to $reduced', ({ given, reduced }) => {
  expect(reduceWeights(given)).toEqual(reduced);
});

test('reduced weights have the same shares, and no common divisor is left', () => {
  fc.assert(
    fc.property(weights, (given) => {
      const reduced = reduceWeights(given);
      expect(shares(reduced)).toEqual(shares(given));
      expect(reduceWeights(reduced)).toEqual(reduced);
    }),
  );
});

test('parts sum to the total, and each is within one of its exact share', () => {
  fc.assert(
    fc.property(weights, fc.integer({ min: 0, max: 5000 }), (given, total) => {
      const parts = apportion(given, total);
      if (given.every((weight) => weight === 0)) return;
      expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
      shares(given).forEach((share, index) => expect(Math.abs((parts[index] ?? 0) - share * total)).toBeLessThan(1));
    }),
  );
});
