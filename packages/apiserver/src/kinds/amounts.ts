// Limits of whole numbers and shares, in the words that all kinds tell them with.
import { invalidValue } from '../field-error.ts';
import type { Tree } from '../object.ts';
import type { Cause } from '../status.ts';

export const notNegative = 'must be greater than or equal to 0';
const percentHint =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const largest = 2_147_483_647;

/** A cause for each of the named fields of `owner` that is below zero. */
export const negativeCauses = (owner: Tree, path: string, ...fields: string[]): Cause[] =>
  fields.flatMap((field) => {
    const value = owner[field];
    return typeof value === 'number' && value < 0 ? [invalidValue(`${path}.${field}`, value, notNegative)] : [];
  });

/** A cause for each of the named fields of `owner` that is outside of `least` to 2147483647. */
export const rangeCauses = (owner: Tree, path: string, least: number, ...fields: string[]): Cause[] =>
  fields.flatMap((field) => {
    const value = owner[field];
    const isFit = typeof value !== 'number' || (value >= least && value <= largest);
    return isFit ? [] : [invalidValue(`${path}.${field}`, value, `must be between ${least} and ${largest}, inclusive`)];
  });

/** A number of pods or a share of them (`2`, `25%`). */
export function amountCauses(value: unknown, path: string): Cause[] {
  if (typeof value === 'string') return /^[0-9]+%$/.test(value) ? [] : [invalidValue(path, value, percentHint)];
  return typeof value === 'number' && value < 0 ? [invalidValue(path, value, notNegative)] : [];
}

/** More than all pods cannot be unavailable. */
export const shareCauses = (value: unknown, path: string): Cause[] =>
  typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100
    ? [invalidValue(path, value, 'must not be greater than 100%')]
    : [];

/** The number in front of the `%`, or the number itself. */
export const amountOf = (value: unknown): number =>
  typeof value === 'string' ? Number.parseInt(value, 10) || 0 : Number(value ?? 0);
