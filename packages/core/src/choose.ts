// Which route and pool a request gets, and why: the rule of the generated iRule as a pure function.
import {
  clientAddress,
  compared,
  header,
  holding,
  parseCondition,
  type Clause,
  type TestRequest,
} from './condition.ts';
import { crc32 } from './crc32.ts';
import type { Listener, Route, WeightedPool } from './load-balancer.ts';
import { fail, ok, type Result } from './problem.ts';
import { reduceWeights } from './weights.ts';

export interface Choice {
  /** Name of the route, or `default` for the listener's own pools. */
  route: string;
  pool: string;
  /** What was decided, in order, one sentence each. */
  why: string[];
}

/**
 * Spec f5.md §5.4. Routes in order, first match wins; then the listener's own pools. Among a set of weighted pools:
 *
 *   step  picks among                                 key
 *   1     all of the set                              salt|client
 *   2     its live pools, when the first is dead      salt2|client
 *   3     the listener's live pools, when none is     default2|client
 *   4     the pool of step 1, when nothing lives
 *
 * A pick walks the weights in the order given, at crc32(key) modulo their sum; weights are divided by their greatest
 * common divisor first. So a client keeps its pool, a dead pool moves only its own clients, and a change of weights
 * moves only those beside the border that moved. Weight 0 is never picked, in no step. The salt is the route's name:
 * without it, the same clients would be first in every rule.
 *
 * `alive`: has the pool an active member? Problems: `invalid`, where a condition or the weights are.
 */
export function choose(listener: Listener, request: TestRequest, alive: (pool: string) => boolean): Result<Choice> {
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
  return pickPool({ listener, request, alive, why }, chosen);
}

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

/** Without weight 0, divided by the greatest common divisor; `invalid` unless whole numbers 0 to 100 with a positive sum. */
export function reducedWeights(pools: readonly WeightedPool[], path: string): Result<WeightedPool[]> {
  const wrong = pools.findIndex(({ weight }) => !Number.isInteger(weight) || weight < 0 || weight > 100);
  if (wrong >= 0) return fail('invalid', 'a weight is a whole number, 0 to 100', `${path}[${wrong}].weight`);
  const picked = pools.filter(({ weight }) => weight > 0);
  if (picked.length === 0) return fail('invalid', 'one weight at least has to be above 0', path);
  const reduced = reduceWeights(picked.map(({ weight }) => weight));
  return ok(picked.map(({ pool }, i) => ({ pool, weight: reduced[i] ?? 0 })));
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

interface Turnout {
  listener: Listener;
  request: TestRequest;
  alive: (pool: string) => boolean;
  why: string[];
}

function pickPool(turnout: Turnout, chosen: { name: string; pools: WeightedPool[] }): Result<Choice> {
  const { listener, request, alive, why } = turnout;
  const wanted = reducedWeights(chosen.pools, chosen.name === 'default' ? 'pools' : `rule ${chosen.name}: pools`);
  if (!wanted.ok) return wanted;
  const fallback = reducedWeights(listener.pools, 'pools');
  if (!fallback.ok) return fallback;
  const by = pickedBy(listener, request);
  const first = pick(wanted.value, `${chosen.name}|${by}`);
  why.push(first.why);
  const choice = (pool: string) => ok({ route: chosen.name, pool, why });
  if (alive(first.pool)) return choice(first.pool);
  const tries = [
    { pools: wanted.value, key: `${chosen.name}2|${by}`, said: 'the live pools beside it' },
    { pools: fallback.value, key: `default2|${by}`, said: 'the live pools of the listener' },
  ];
  for (const { pools, key, said } of tries) {
    const live = pools.filter(({ pool }) => alive(pool));
    if (live.length === 0) continue;
    const next = pick(live, key);
    why.push(`${first.pool} has no live member, so a pick among ${said}`, next.why);
    return choice(next.pool);
  }
  why.push(`${first.pool} has no live member, and no other pool has one`);
  return choice(first.pool);
}

/** What the pick is made from: see `Listener.pickBy`. */
function pickedBy(listener: Listener, request: TestRequest): string {
  const client = clientAddress(request);
  if (listener.pickBy !== 'x-forwarded-for') return client;
  // The last address is the one our own first tier wrote; those before it are whatever the client sent.
  const forwarded = header(request, 'x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
  return /^[0-9A-Fa-f.:]+$/.test(forwarded) ? forwarded : client;
}

function pick(pools: readonly WeightedPool[], key: string): { pool: string; why: string } {
  const sum = pools.reduce((total, { weight }) => total + weight, 0);
  const at = crc32(key) % sum;
  let border = 0;
  for (const { pool, weight } of pools) {
    border += weight;
    if (at < border) {
      const shares = pools.map((each) => `${each.pool} ${each.weight}`).join(', ');
      return { pool, why: `crc32("${key}") mod ${sum} is ${at} in (${shares}): ${pool}` };
    }
  }
  throw new Error('bug: a remainder is always below the sum it was taken by');
}
