// Label selectors, as the API machinery defines them.
import type { LabelSelector, Labels, Requirement } from './objects.ts';

/** True when `labels` satisfy `selector`. An empty selector matches everything, as the API says. */
export function matches(selector: LabelSelector, labels: Labels = {}): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (labels[key] !== value) return false;
  return (selector.matchExpressions ?? []).every((one) => meets(one, labels));
}

/**
 * One requirement of a selector.
 *
 *  operator      | true when
 *  --------------+------------------------------------------
 *  In            | the key is there with one of the values
 *  NotIn         | the key is absent or has another value
 *  Exists        | the key is there
 *  DoesNotExist  | the key is absent
 *  Gt, Lt        | the value is a whole number above, below
 */
export function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  if (operator === 'In') return value !== undefined && values.includes(value);
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (value === undefined || !/^-?\d+$/.test(value)) return false;
  if (operator === 'Gt') return Number(value) > Number(values[0]);
  if (operator === 'Lt') return Number(value) < Number(values[0]);
  return false;
}
