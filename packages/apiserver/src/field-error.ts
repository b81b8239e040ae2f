// One maker per sort of field error, with Kubernetes' reasons and wording; validation collects them as causes.
import { isTree } from './object.ts';
import type { Cause } from './status.ts';

const quoted = (value: unknown): string => {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
};

export const required = (field: string, why = ''): Cause => ({
  reason: 'FieldValueRequired',
  message: `Required value${why ? `: ${why}` : ''}`,
  field,
});

export const invalidValue = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${quoted(value)}: ${why}`,
  field,
});

export const typeInvalid = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: ${quoted(value)}: ${why}`,
  field,
});

export const forbiddenField = (field: string, why: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

export const unsupported = (field: string, value: unknown, supported: readonly unknown[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${quoted(value)}: supported values: ${supported.map(quoted).join(', ')}`,
  field,
});

export const duplicate = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${isTree(value) ? goMap(value) : quoted(value)}`,
  field,
});

export const tooLong = (field: string, limit: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
  field,
});

export const tooMany = (field: string, found: number, limit: number): Cause => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${found}: must have at most ${limit} items`,
  field,
});

/** A map printed as Go prints it, which is what clients see for the keys of a duplicate list element. */
function goMap(value: Record<string, unknown>): string {
  const inside = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${quoted(value[key])}`);
  return `map[string]interface {}{${inside.join(', ')}}`;
}
