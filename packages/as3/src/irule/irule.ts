// The one rule of a listener: routes in order, first match wins, then the listener's own weights. Tcl 8.4 only, for
// that is what the device runs: no `in`, no `{*}`, no `lassign`, no `dict`.
import {
  fail,
  hasChoice,
  longestRule,
  ok,
  parseRoute,
  reducedWeights,
  type Clause,
  type Listener,
  type Result,
  type Route,
  type WeightedPool,
} from '@fairlead/core';
import type { Classed } from '../application.ts';
import { clauseExpression, type ListPlace } from './clause.ts';
import { cookieEvent, forgetCookie, pick, readCookie, weightList } from './pick.ts';
import { readings, type Reading } from './readings.ts';

interface ParsedRoute {
  route: Route;
  clauses: Clause[];
  pools: WeightedPool[];
}

/**
 * The rule's text and the data-groups it reads, by name. `place`: the folder of the application, `/tenant/application`.
 *
 *   when HTTP_REQUEST           CLIENT_ACCEPTED for tcp and udp, where only conditions on the address make sense
 *     set fl_client …           what the conditions compare
 *     if { … } { … } elseif …   the first route that matches sets fl_salt and fl_set
 *     else { … }                none does
 *     foreach …  pool $fl_pool  the pick
 *   when HTTP_RESPONSE          with stickiness cookie: sets the one that keeps the pick
 */
export function irule(
  listener: Listener,
  place: string,
  path: string,
): Result<{ text: string; lists: Record<string, Classed> }> {
  const rest = reducedWeights(listener.pools, `${path}.pools`);
  if (!rest.ok) return rest;
  const routes = parseRoutes(listener, path);
  if (!routes.ok) return routes;
  const lists: Record<string, Classed> = {};
  const body = hasChoice(listener, rest.value)
    ? [
        ...forgetCookie(listener),
        ...chosenBefore(listener),
        ...branches({ listener, place, lists, routes: routes.value, rest: rest.value }),
        ...readCookie(listener),
        ...pick(listener),
      ]
    : // The rule stands all the same: attaching one later recreates the virtual server.
      [...chosenBefore(listener), `set fl_pool ${place}/${rest.value[0]?.pool}`, 'pool $fl_pool'];
  const event = isHttp(listener) ? 'HTTP_REQUEST' : 'CLIENT_ACCEPTED';
  const responding = hasChoice(listener, rest.value) ? cookieEvent(listener) : [];
  const text = [`when ${event} priority 500 {`, ...indented(body), '}', ...responding, ''].join('\n');
  if (text.length <= longestRule) return ok({ text, lists });
  const why = `the rule of listener ${listener.name} comes to ${text.length} characters; ${longestRule} is the most`;
  return fail('invalid', `${why}. Use fewer regexps and ranges`, `${path}.routes`);
}

/**
 * The last `pool` of a request counts, and ours comes last: a rule of the device that has chosen says so with
 * `set fl_chosen 1`, once for each request (spec f5.md §5.4).
 */
const chosenBefore = ({ deviceRules = [] }: Listener): string[] =>
  deviceRules.length === 0 ? [] : ['if { [info exists fl_chosen] } {', '    unset fl_chosen', '    return', '}'];

const isHttp = ({ protocol }: Listener): boolean => protocol === 'http' || protocol === 'https';

function parseRoutes(listener: Listener, path: string): Result<ParsedRoute[]> {
  const parsed: ParsedRoute[] = [];
  for (const [i, route] of listener.routes.entries()) {
    const at = `${path}.routes[${i}]`;
    // The name is the salt, and part of the names of data-groups.
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(route.name))
      return fail('invalid', `"${route.name}" cannot be the name of a rule`, `${at}.name`);
    if (parsed.some((other) => other.route.name === route.name))
      return fail('invalid', `two rules of listener ${listener.name} are named ${route.name}`, `${at}.name`);
    const clauses = parseRoute(route, at);
    if (!clauses.ok) return clauses;
    const foreign = clauses.value.findIndex(({ subject }) => subject !== 'address');
    if (!isHttp(listener) && foreign >= 0) {
      const subject = clauses.value[foreign]?.subject;
      return fail(
        'invalid',
        `a ${listener.protocol} listener sees addresses only, no ${subject}`,
        `${at}.conditions[${foreign}].subject`,
      );
    }
    const pools = reducedWeights(route.pools, `${at}.pools`);
    if (!pools.ok) return pools;
    parsed.push({ route, clauses: clauses.value, pools: pools.value });
  }
  return ok(parsed);
}

interface Branching {
  listener: Listener;
  place: string;
  lists: Record<string, Classed>;
  routes: ParsedRoute[];
  rest: WeightedPool[];
}

function branches({ listener, place, lists, routes, rest }: Branching): string[] {
  const read = readings(routes.flatMap(({ clauses }) => clauses));
  const conditions = routes.map((parsed) => {
    const name = `${listener.name}_${parsed.route.name}`;
    return condition(parsed, read.of, { name, path: `${place}/${name}`, lists });
  });
  const otherwise = ['set fl_salt "default"', 'set fl_set $fl_rest'];
  return [
    'set fl_client [lindex [split [IP::client_addr] "%"] 0]',
    ...pickedBy(listener),
    ...read.lines,
    `set fl_rest ${weightList(rest, place)}`,
    ...routes.flatMap(({ route, pools }, i) => [
      `${i === 0 ? '' : '} else'}if { ${conditions[i]} } {`,
      ...indented([`set fl_salt "${route.name}"`, `set fl_set ${weightList(pools, place)}`]),
    ]),
    ...(routes.length === 0 ? otherwise : ['} else {', ...indented(otherwise), '}']),
  ];
}

function condition({ route, clauses }: ParsedRoute, of: (clause: Clause) => Reading, place: ListPlace): string {
  const expressions = clauses.map((clause, i) => {
    const numbered = { ...place, name: `${place.name}_${i}`, path: `${place.path}_${i}` };
    return clauseExpression(clause, of(clause), numbered);
  });
  return expressions.join(route.match === 'all' ? '\n      && ' : '\n      || ');
}

/** The last forwarded address is the one our own first tier wrote; those before it are whatever the client sent. */
function pickedBy({ pickBy, stickiness = 'source' }: Listener): string[] {
  if (stickiness !== 'source') return [];
  if (pickBy !== 'x-forwarded-for') return ['set fl_by $fl_client'];
  return [
    'set fl_by [string trim [lindex [split [HTTP::header value "X-Forwarded-For"] ","] end]]',
    'if { ![regexp {^[0-9A-Fa-f.:]+$} $fl_by] } { set fl_by $fl_client }',
  ];
}

const indented = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => line.split('\n')).map((line) => `    ${line}`);
