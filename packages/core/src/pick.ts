// Which pool of a weighted set a request gets, and what keeps a client at it. `packages/as3/src/irule/pick.ts` says the
// same in Tcl, and a test runs both.
import { clientAddress, cookie, header, type TestRequest } from './condition.ts';
import { crc32 } from './crc32.ts';
import type { Listener, Stickiness, WeightedPool } from './load-balancer.ts';

export interface Pick {
  /** Absent where chance decides and none was given: then it is one of `among`, by weight. */
  pool?: string | undefined;
  /** What the pick is among. */
  among: WeightedPool[];
  /** What the response sets, so that the client brings it along. */
  cookie?: { name: string; value: string } | undefined;
  /** What was decided, in order, one sentence each. */
  why: string[];
}

export interface PickQuestion {
  listener: Listener;
  /** The listener's, or `source` where there is nothing to choose. */
  stickiness: Stickiness;
  request: TestRequest;
  alive: (pool: string) => boolean;
  /** A number from 0, below 1. */
  chance?: (() => number) | undefined;
  /** Name of the route, or `default`. */
  route: string;
  /** The route's pools and the listener's own, as `reducedWeights` gives them. */
  wanted: WeightedPool[];
  rest: WeightedPool[];
}

/**
 * Spec f5.md §5.4. Among a set of weighted pools:
 *
 *   step  picks among                                 key
 *   1     all of the set                              salt|source
 *   2     its live pools, when the first is dead      salt2|source
 *   3     the listener's live pools, when none is     default2|source
 *   4     the pool of step 1, when nothing lives
 *
 * A pick walks the weights in the order given. Where it stops, and what keeps a client at its pool:
 *
 *   stickiness  stops at                       kept by
 *   source      crc32(key) modulo their sum    the source: the client's address, or the last of X-Forwarded-For
 *   random      chance                         nothing
 *   cookie      chance                         a cookie of listener and route, while it means a live pool of the step
 *
 * So by source a client keeps its pool, a dead pool moves only its own clients, and a change of weights moves only
 * those beside the border that moved. Weight 0 is never picked, in no step, whatever a cookie says. The salt is the
 * route's name: without it, the same clients would be first in every rule.
 */
export function pickPool(question: PickQuestion): Pick {
  const { alive, route, wanted, rest } = question;
  const source = sourceOf(question);
  const live = (pools: WeightedPool[]) => pools.filter(({ pool }) => alive(pool));
  const steps = [
    { among: wanted, key: `${route}|${source}`, said: '' },
    { among: live(wanted), key: `${route}2|${source}`, said: 'the live pools beside it' },
    { among: live(rest), key: `default2|${source}`, said: 'the live pools of the listener' },
  ].filter(({ among }) => among.length > 0);
  const why: string[] = [];
  if (isByChance(question) && !question.chance) return undecided(question, (steps[1] ?? steps[0])?.among ?? []);
  let first: string | undefined;
  for (const { among, key, said } of steps) {
    const kept = keptPool(question, among);
    const next = kept ?? draw(question, among, key);
    if (!kept && first === undefined) why.push(...otherCookie(question));
    if (first !== undefined) why.push(`${first} has no live member, so a pick among ${said}`);
    why.push(next.why);
    if (alive(next.pool)) return { pool: next.pool, among, why, cookie: cookieToSet(question, next.pool) };
    first ??= next.pool;
  }
  why.push(`${first} has no live member, and no other pool has one`);
  return { pool: first, among: wanted, why, cookie: first === undefined ? undefined : cookieToSet(question, first) };
}

/** Without chance: what it would decide among. Step 1 with 2 behind it gives live pools the shares they have in step 2 alone. */
function undecided(question: PickQuestion, among: WeightedPool[]): Pick {
  const kept = keptPool(question, among);
  if (kept) return { pool: kept.pool, among, why: [kept.why] };
  const why = [...otherCookie(question), `by chance, whoever asks, in (${shares(among)})`];
  if (question.stickiness === 'cookie') {
    const name = pickCookieName(question.listener, question.route);
    why.push('the response sets a cookie that keeps the client there:');
    for (const { pool } of among) why.push(`  ${name}=${pickCookieValue(question.route, pool)} for ${pool}`);
  }
  return { among, why };
}

const isByChance = ({ stickiness }: PickQuestion): boolean => stickiness !== 'source';

/** The cookie that keeps clients of a route at their pool. Each route has its own, for a client may meet several. */
export const pickCookieName = (listener: { name: string }, route: string): string => `fl_${listener.name}.${route}`;

/** What stands for a pool: it tells nobody its name. */
export const pickCookieValue = (route: string, pool: string): string => String(crc32(`${route}|${pool}`));

function keptPool(question: PickQuestion, among: WeightedPool[]): { pool: string; why: string } | undefined {
  const { listener, stickiness, request, route, alive } = question;
  if (stickiness !== 'cookie') return undefined;
  const name = pickCookieName(listener, route);
  const value = cookie(request, name);
  const pool = among.find((one) => pickCookieValue(route, one.pool) === value && alive(one.pool))?.pool;
  return pool === undefined ? undefined : { pool, why: `the cookie ${name} keeps the client at ${pool}` };
}

/** Said of a cookie that keeps nothing: its pool is gone, dead, or of weight 0, or the client made it up. */
function otherCookie({ listener, stickiness, request, route }: PickQuestion): string[] {
  const name = pickCookieName(listener, route);
  const isThere = stickiness === 'cookie' && cookie(request, name) !== undefined;
  return isThere ? [`the cookie ${name} stands for no live pool here`] : [];
}

/** Nothing when the client has it already. */
function cookieToSet({ listener, stickiness, route, request }: PickQuestion, pool: string): Pick['cookie'] {
  if (stickiness !== 'cookie') return undefined;
  const name = pickCookieName(listener, route);
  const value = pickCookieValue(route, pool);
  return cookie(request, name) === value ? undefined : { name, value };
}

/** What the pick is made from: see `Listener.pickBy`. */
function sourceOf({ listener, request }: PickQuestion): string {
  const client = clientAddress(request);
  if (listener.pickBy !== 'x-forwarded-for') return client;
  // The last address is the one our own first tier wrote; those before it are whatever the client sent.
  const forwarded = header(request, 'x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
  return /^[0-9A-Fa-f.:]+$/.test(forwarded) ? forwarded : client;
}

function draw(question: PickQuestion, pools: readonly WeightedPool[], key: string): { pool: string; why: string } {
  const sum = pools.reduce((total, { weight }) => total + weight, 0);
  const { chance } = question;
  const isRandom = isByChance(question) && chance !== undefined;
  const at = isRandom ? Math.floor(chance() * sum) : crc32(key) % sum;
  const how = isRandom ? `chance of ${sum}` : `crc32("${key}") mod ${sum}`;
  let border = 0;
  for (const { pool, weight } of pools) {
    border += weight;
    if (at < border) return { pool, why: `${how} is ${at} in (${shares(pools)}): ${pool}` };
  }
  throw new Error('bug: a remainder is always below the sum it was taken by');
}

const shares = (pools: readonly WeightedPool[]): string =>
  pools.map(({ pool, weight }) => `${pool} ${weight}`).join(', ');
