// The rule of a listener that goes by host and path: the routes lie in a data-group, so the text does not grow with them
// and an edit of a route changes records only. What it means is settled in core/host-routes.ts. Tcl 8.4 only.
import {
  checkHostRoutes,
  hostRouteKey,
  parseAddressRange,
  type HostRoute,
  type Listener,
  type Result,
} from '@fairlead/core';
import { fail, ok } from '@fairlead/core';
import { byText, type Classed } from '../application.ts';
import { literal } from './literal.ts';
import { host as hostReading } from './readings.ts';
import { addressList } from './value-list.ts';

/** What the device takes in one data-group without complaint, as far as is reported (spec f5.md §6.3). Characters. */
const longestList = 60_000;

/**
 * The rule's text, and its data-groups by name: `<listener>_hosts`, and `<listener>_clients_<n>` for each set of clients.
 * A record of the first is a route's key and, between bars:
 *
 *   pool  | pool | data-group of clients | host to show | characters of the path to cut | what to put there
 *   https | port | data-group of clients
 *   to    | path | data-group of clients
 */
export function hostRule(
  listener: Listener,
  place: string,
  path: string,
): Result<{ text: string; lists: Record<string, Classed> }> {
  const routes = listener.hosts ?? [];
  const checked = checkHostRoutes(routes, `${path}.hosts`);
  if (!checked.ok) return checked;
  const clients = clientLists(routes, listener.name);
  const records = routes
    .map((route) => ({ key: hostRouteKey(route), value: valueOf(route, clients.nameOf(route)) }))
    .toSorted((a, b) => byText(a.key, b.key));
  const size = records.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  if (size > longestList) {
    const why = `the ${routes.length} hosts and paths of listener ${listener.name} come to ${size} characters; ${longestList} is the most`;
    return fail('invalid', `${why}. Give some of them another address`, `${path}.hosts`);
  }
  const name = `${listener.name}_hosts`;
  const deepest = Math.max(0, ...routes.map((route) => route.path.split('/').length - 1));
  const lines = body({ place, list: `${place}/${name}`, deepest, hasClients: clients.count > 0 });
  return ok({
    text: ['when HTTP_REQUEST priority 500 {', ...lines.map((line) => `    ${line}`), '}', ''].join('\n'),
    lists: { [name]: { class: 'Data_Group', keyDataType: 'string', records }, ...clients.lists },
  });
}

function valueOf({ path, to }: HostRoute, clients: string): string {
  if ('https' in to) return ['https', to.https, clients].join('|');
  if ('redirect' in to) return ['to', to.redirect, clients].join('|');
  const { host, path: shown } = to.rewrite ?? {};
  const cut = shown === undefined ? ['-1', ''] : [path.length, shown.replace(/\/+$/, '')];
  return ['pool', to.pool, clients, host ?? '', ...cut].join('|');
}

/** Each set of clients once, however many routes have it. */
function clientLists(routes: readonly HostRoute[], listener: string) {
  const names = new Map<string, string>();
  const lists: Record<string, Classed> = {};
  const nameOf = ({ clients }: HostRoute): string => (clients ? (names.get(clients.join(' ')) ?? '') : '');
  for (const { clients } of routes) {
    if (!clients || names.has(clients.join(' '))) continue;
    const name = `${listener}_clients_${names.size}`;
    names.set(clients.join(' '), name);
    lists[name] = addressList(clients.map(rangeOf));
  }
  return { lists, nameOf, count: names.size };
}

function rangeOf(text: string) {
  const range = parseAddressRange(text);
  if (!range.ok) throw new Error(`bug: the clients "${text}" were not checked`);
  return range.value;
}

interface Scene {
  place: string;
  /** Path of the data-group of routes. */
  list: string;
  /** Segments of the deepest route: of a longer path only so many are looked up. */
  deepest: number;
  hasClients: boolean;
}

const body = ({ place, list, deepest, hasClients }: Scene): string[] => [
  ...hostReading,
  'if { [string first "/" $fl_host] >= 0 } { set fl_host "" }',
  'set fl_path [HTTP::path]',
  `set fl_top [join [lrange [split $fl_path "/"] 0 ${deepest}] "/"]`,
  'set fl_dot [string first "." $fl_host]',
  '# The host itself, the wildcard, any; in each the exact path, then shorter and shorter prefixes.',
  'set fl_to ""',
  'foreach fl_name [list $fl_host "*[string range $fl_host $fl_dot end]" ""] {',
  `    set fl_to [class match -value -- "e:$fl_name$fl_path" equals ${list}]`,
  '    set fl_at $fl_top',
  '    while { $fl_to eq "" } {',
  `        set fl_to [class match -value -- "p:$fl_name$fl_at" equals ${list}]`,
  '        set fl_cut [string last "/" $fl_at]',
  '        if { $fl_cut < 0 } { break }',
  '        set fl_at [string range $fl_at 0 [expr { $fl_cut - 1 }]]',
  '    }',
  '    if { $fl_to ne "" } { break }',
  '}',
  'if { $fl_to eq "" } {',
  '    HTTP::respond 404 content "no route takes this host and path"',
  '    return',
  '}',
  'set fl_to [split $fl_to "|"]',
  'set fl_what [lindex $fl_to 1]',
  ...(hasClients ? clientsOnly(place) : []),
  'if { [lindex $fl_to 0] eq "to" } {',
  '    HTTP::redirect $fl_what',
  '    return',
  '}',
  'if { [lindex $fl_to 0] eq "https" } {',
  '    if { $fl_host eq "" } {',
  '        HTTP::respond 400 content "a host is needed"',
  '        return',
  '    }',
  `    if { [string first ":" $fl_host] >= 0 } { set fl_host "${bracket.open}$fl_host${bracket.close}" }`,
  '    if { $fl_what ne "443" } { set fl_host "$fl_host:$fl_what" }',
  '    HTTP::redirect "https://$fl_host[HTTP::uri]"',
  '    return',
  '}',
  `set fl_pool ${place}/$fl_what`,
  'if { [active_members $fl_pool] < 1 } {',
  '    HTTP::respond 503 content "nobody is there to answer"',
  '    return',
  '}',
  'if { [lindex $fl_to 3] ne "" } { HTTP::header replace "Host" [lindex $fl_to 3] }',
  'if { [lindex $fl_to 4] >= 0 } {',
  '    set fl_path "[lindex $fl_to 5][string range $fl_path [lindex $fl_to 4] end]"',
  '    if { $fl_path eq "" } { set fl_path "/" }',
  '    HTTP::path $fl_path',
  '}',
  'pool $fl_pool',
];

const bracket = { open: literal('[').slice(1, -1), close: literal(']').slice(1, -1) };

const clientsOnly = (place: string): string[] => [
  'set fl_list [lindex $fl_to 2]',
  'set fl_client [lindex [split [IP::client_addr] "%"] 0]',
  `if { $fl_list ne "" && ![class match -- $fl_client equals "${place}/$fl_list"] } {`,
  '    HTTP::respond 403 content "not from this address"',
  '    return',
  '}',
];
