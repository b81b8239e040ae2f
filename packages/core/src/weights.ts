// Weights: whole numbers that share traffic out. Reduced, so that 60/40 and 3/2 are one wish and not two.
import type { WeightedPool } from './load-balancer.ts';
import { fail, ok, type Result } from './problem.ts';

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** The smallest whole weights in the same proportion: `[60, 40]` → `[3, 2]`. All zero stays all zero. */
export function reduceWeights(weights: readonly number[]): number[] {
  const divisor = weights.reduce(gcd, 0);
  return divisor === 0 ? [...weights] : weights.map((weight) => weight / divisor);
}

/** Each weight as a fraction of their sum, 0 to 1. All zero gives all zero: nobody is picked. */
export function shares(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (sum === 0 ? 0 : weight / sum));
}

/**
 * Whole parts that sum to `total` and are nearest to the shares (largest remainder; the earlier wins a tie), so a
 * printed split never sums to 99 or 101. All zero gives all zero.
 */
export function apportion(weights: readonly number[], total: number): number[] {
  const exact = shares(weights).map((share) => share * total);
  const parts = exact.map(Math.floor);
  if (weights.every((weight) => weight === 0)) return parts;
  const left = total - parts.reduce((sum, part) => sum + part, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}

/** Without weight 0, divided by the greatest common divisor; `invalid` unless whole numbers 0 to 100 with a positive sum. */
export function reducedWeights(pools: readonly WeightedPool[], path: string): Result<WeightedPool[]> {
  const wrong = pools.findIndex(({ weight }) => !Number.isInteger(weight) || weight < 0 || weight > 100);
  if (wrong >= 0) return fail('invalid', 'a weight is a whole number, 0 to 100', `${path}[${wrong}].weight`);
  const picked = pools.filter(({ weight }) => weight > 0);
  if (picked.length === 0) return fail('invalid', 'one weight at least has to be above 0', path);
  const reduced = reduceWeights(picked.map(({ weight }) => weight));
  return ok(picked.map(({ pool }, i) => ({ pool, weight: reduced[i] ?? 0 })));
}
