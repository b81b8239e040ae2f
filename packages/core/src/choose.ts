// Which route and pool a request gets, and why: the rule of the generated iRule as a pure function.
import { compared, holding, parseCondition, type Clause, type TestRequest } from './condition.ts';
import type { Listener, Route, WeightedPool } from './load-balancer.ts';
import { pickPool, type Pick } from './pick.ts';
import { fail, ok, type Result } from './problem.ts';
import { reducedWeights } from './weights.ts';

export interface Choice extends Pick {
  /** Name of the route, or `default` for the listener's own pools. */
  route: string;
}

/**
 * Spec f5.md §5.4. Routes in order, first match wins; then the listener's own pools; then the pick of `pick.ts` among them.
 *
 * `alive`: has the pool an active member? `chance`: a number from 0, below 1, for listeners that pick by chance; without
 * it such a choice names no pool. Problems: `invalid`, where a condition or the weights are.
 */
export function choose(
  listener: Listener,
  request: TestRequest,
  alive: (pool: string) => boolean,
  chance?: () => number,
): Result<Choice> {
  const why: string[] = [];
  let chosen: { name: string; pools: WeightedPool[] } = { name: 'default', pools: listener.pools };
  for (const [i, route] of listener.routes.entries()) {
    const clauses = parseRoute(route, `routes[${i}]`);
    if (!clauses.ok) return clauses;
    const matched = match(route, clauses.value, request);
    why.push(matched.why);
    if (!matched.holds) continue;
    chosen = route;
    break;
  }
  if (chosen.name === 'default') why.push('no rule matches: the weights of the listener');
  const wanted = reducedWeights(chosen.pools, chosen.name === 'default' ? 'pools' : `rule ${chosen.name}: pools`);
  if (!wanted.ok) return wanted;
  const rest = reducedWeights(listener.pools, 'pools');
  if (!rest.ok) return rest;
  const stickiness = hasChoice(listener, rest.value) ? (listener.stickiness ?? 'source') : 'source';
  const asked = { listener, stickiness, request, alive, chance, route: chosen.name };
  const picked = pickPool({ ...asked, wanted: wanted.value, rest: rest.value });
  return ok({ ...picked, route: chosen.name, why: [...why, ...picked.why] });
}

/** Is there anything to choose? Not with one pool for all: then nothing is picked, and nothing kept. */
export const hasChoice = ({ routes }: Listener, rest: readonly WeightedPool[]): boolean =>
  routes.length > 0 || rest.length > 1;

/** The clauses of a route. */
export function parseRoute(route: Route, path: string): Result<Clause[]> {
  if (route.name === 'default')
    return fail('invalid', '"default" stands for the listener itself; name the rule otherwise', `${path}.name`);
  if (route.conditions.length === 0)
    return fail('invalid', `rule ${route.name} has no condition, so nothing says when it holds`, `${path}.conditions`);
  const clauses: Clause[] = [];
  for (const [i, condition] of route.conditions.entries()) {
    const clause = parseCondition(condition, `${path}.conditions[${i}]`);
    if (!clause.ok) return clause;
    clauses.push(clause.value);
  }
  return ok(clauses);
}

function match(route: Route, clauses: Clause[], request: TestRequest): { holds: boolean; why: string } {
  const found = clauses.map((clause) => ({ clause, check: holding(clause, request) }));
  const holds = route.match === 'all' ? found.every(({ check }) => check) : found.some(({ check }) => check);
  const said = found.map(({ clause, check }) => {
    const value = compared(clause, request);
    const what = `${clause.subject}${clause.key && ` ${clause.key}`}`;
    if (value === undefined) return `${what} is absent`;
    return `${what} "${value}" ${check ? `satisfies ${check.operator}` : 'satisfies nothing'}`;
  });
  const verdict = holds ? 'matches' : 'does not match';
  return { holds, why: `rule ${route.name} (${route.match}) ${verdict}: ${said.join('; ')}` };
}
