// A policy with the writes it is asked about: one rule of how policies judge.
import type { Ask, Tree } from './case.ts';
import type { Changes } from './objects.ts';

export const validations = (...list: Tree[]): Changes => ({ 'spec.validations': list });
/** A policy that tells what an expression gives. */
export const telling = (messageExpression: string, changes: Changes = {}): Changes => ({
  ...validations({ expression: 'false', message: 'cannot tell', messageExpression }),
  ...changes,
});
export const fails = { expression: "object.data.nothing == 'x'" };
export const condition = (expression: string, changes: Changes = {}): Changes => ({
  'spec.matchConditions': [{ name: 'c', expression }],
  ...changes,
});
export const rules = (...list: Tree[]): Changes => ({ 'spec.matchConstraints.resourceRules': list });
/** What is said of a write, in one line. */
export const told = (...parts: string[]): string => parts.map((part) => `string(${part})`).join(" + ' ' + ");

export interface Trial {
  rule: string;
  policy?: Changes;
  binding?: Changes;
  /** What is asked, where it is not a ConfigMap whose data.a is 2. */
  steps?: Ask[];
}

/** By the policy's name. */
export type Trials = Record<string, Trial>;
