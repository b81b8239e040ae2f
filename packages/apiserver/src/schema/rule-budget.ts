// What the rules of a definition may cost: each of them, and all together.
import { forbiddenField } from '../field-error.ts';
import type { Cause } from '../status.ts';

const mostOfOne = 10_000_000;
const mostOfAll = 100_000_000;
/** So many of the dearest are named when all together are too dear, of those that cost a hundredth of what all may. */
const named = 4;

export interface RuleBudget {
  /** Counts the cost of the expression at `path`; the refusal of one that is too dear by itself. */
  spend(path: string, cost: number, what: 'rule' | 'messageExpression'): Cause[];
  /** The refusal of all rules of the schema at `path` together. */
  problems(path: string): Cause[];
}

export function ruleBudget(): RuleBudget {
  const dear: { path: string; cost: number }[] = [];
  let total = 0;
  return {
    spend(path, cost, what) {
      total += cost;
      if (cost >= mostOfAll / 100) dear.push({ path, cost });
      return cost > mostOfOne ? [forbiddenField(path, exceeded(`estimated ${what} cost`, cost / mostOfOne))] : [];
    },
    problems(path) {
      if (total <= mostOfAll) return [];
      const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
      const all = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
      const dearest = dear.sort((a, b) => b.cost - a.cost).slice(0, named);
      return [
        ...dearest.map((one) => forbiddenField(one.path, why)),
        forbiddenField(path, exceeded(all, total / mostOfAll)),
      ];
    },
  };
}

const advice =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

function exceeded(what: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${times} (${advice})`;
}
