// Match conditions: expressions in CEL over a review's request that must all hold for a webhook to be asked.
import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { environmentOf } from '../cel/environment.ts';
import { compileProblemOf, evaluationProblem } from '../cel/problem.ts';
import { safeText } from '../cel/rules.ts';
import { celValue } from '../cel/values.ts';
import type { Tree } from '../object.ts';
import { anything } from '../schema/schema.ts';

export interface Condition {
  name: string;
  expression: string;
}

export type Verdict = { sort: 'yes' } | { sort: 'no' } | { sort: 'broken'; why: string };

let environment: Environment | undefined;
/** Compiled expressions; those nobody uses any more are dropped with the rest when there are too many. */
const compiled = new Map<string, ParseResult | string>();
const most = 1000;

/** Why an expression does not compile; undefined when it does. */
export function conditionProblem(expression: string): string | undefined {
  const found = compile(expression);
  return typeof found === 'string' ? found : undefined;
}

/** One that is false decides, even when another cannot be told. */
export function conditionsHold(conditions: Condition[], request: Tree): Verdict {
  if (conditions.length === 0) return { sort: 'yes' };
  const names = { object: valueOf(request.object), oldObject: valueOf(request.oldObject), request: valueOf(request) };
  const verdicts = conditions.map((condition) => evaluate(condition, names));
  return verdicts.find((one) => one.sort === 'no') ?? verdicts.find((one) => one.sort === 'broken') ?? { sort: 'yes' };
}

const valueOf = (value: unknown): unknown => celValue(value ?? null, anything);

function evaluate({ name, expression }: Condition, names: Tree): Verdict {
  const run = compile(expression);
  if (typeof run === 'string') return { sort: 'broken', why: `match condition ${JSON.stringify(name)}: ${run}` };
  try {
    const value: unknown = run(names);
    if (typeof value === 'boolean') return { sort: value ? 'yes' : 'no' };
    return { sort: 'broken', why: `match condition ${JSON.stringify(name)}: cel expression must evaluate to a bool` };
  } catch (error) {
    return { sort: 'broken', why: `expression '${expression}' resulted in error: ${evaluationProblem(error)}` };
  }
}

function compile(expression: string): ParseResult | string {
  let found = compiled.get(expression);
  if (found !== undefined) return found;
  environment ??= environmentOf(['object', 'oldObject', 'request']);
  found = attempt(expression, environment);
  if (compiled.size >= most) compiled.clear();
  compiled.set(expression, found);
  return found;
}

function attempt(expression: string, env: Environment): ParseResult | string {
  try {
    const run = env.parse(safeText(expression, env));
    const checked = run.check();
    if (!checked.valid) return `compilation failed: ${compileProblemOf(checked.error, expression)}`;
    return checked.type === 'bool' ? run : `must evaluate to bool but got ${checked.type ?? 'dyn'}`;
  } catch (error) {
    // The evaluator throws for text that is no expression; the message goes to the author of the configuration.
    return `compilation failed: ${compileProblemOf(error, expression)}`;
  }
}
