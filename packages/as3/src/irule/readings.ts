// What a rule reads from a request, each thing once and before any condition, into variables of its own.
// Variables of a rule live as long as the connection, so each request sets every one of them anew.
import type { Clause } from '@fairlead/core';
import { literal } from './literal.ts';

/** Where a clause finds its value in the rule: the variable, and an expression that is true when there is one. */
export interface Reading {
  variable: string;
  isThere: string | undefined;
}

/**
 *   subject   variable    there when       read from
 *   address   fl_client   always           IP::client_addr, without route domain
 *   host      fl_host     not empty        HTTP::host, lower case, without port and brackets
 *   path      fl_path     always           HTTP::path
 *   header    fl_v0 …     fl_has0 …        HTTP::header, the last of that name
 *   cookie    fl_v1 …     fl_has1 …        HTTP::cookie
 *   query     fl_v2 …     fl_has2 …        HTTP::query, split and decoded here: URI::query cannot tell empty from absent
 */
export function readings(clauses: readonly Clause[]): { lines: string[]; of: (clause: Clause) => Reading } {
  const keyed = [...new Map(clauses.filter(({ key }) => key).map((clause) => [nameOf(clause), clause])).values()];
  const numbers = new Map(keyed.map((clause, number) => [nameOf(clause), number]));
  const numberOf = (clause: Clause): number => numbers.get(nameOf(clause)) ?? 0;
  const lines: string[] = [];
  if (clauses.some(({ subject }) => subject === 'host')) lines.push(...host);
  if (clauses.some(({ subject }) => subject === 'path')) lines.push('set fl_path [HTTP::path]');
  for (const clause of keyed) lines.push(...keyedReading(clause, numberOf(clause)));
  const queries = keyed.filter(({ subject }) => subject === 'query');
  if (queries.length > 0) lines.push(...querySearch(queries, numberOf));
  const of = (clause: Clause): Reading => {
    if (clause.subject === 'address') return { variable: '$fl_client', isThere: undefined };
    if (clause.subject === 'host') return { variable: '$fl_host', isThere: '$fl_host ne ""' };
    if (clause.subject === 'path') return { variable: '$fl_path', isThere: undefined };
    return { variable: `$fl_v${numberOf(clause)}`, isThere: `$fl_has${numberOf(clause)}` };
  };
  return { lines, of };
}

const nameOf = ({ subject, key }: Clause): string => `${subject} ${key}`;

const bracket = { open: literal('['), close: literal(']') };

/** Sets `fl_host`. */
export const host = [
  'set fl_host [string tolower [HTTP::host]]',
  `if { [string index $fl_host 0] eq ${bracket.open} } {`,
  `    set fl_host [lindex [split [string range $fl_host 1 end] ${bracket.close}] 0]`,
  '} else {',
  '    set fl_host [lindex [split $fl_host ":"] 0]',
  '}',
];

function keyedReading({ subject, key }: Clause, n: number): string[] {
  if (subject === 'query') return [`set fl_has${n} 0`, `set fl_v${n} ""`];
  const command = subject === 'header' ? 'HTTP::header' : 'HTTP::cookie';
  return [
    `set fl_v${n} ""`,
    `set fl_has${n} [${command} exists ${literal(key)}]`,
    `if { $fl_has${n} } { set fl_v${n} [${command} value ${literal(key)}] }`,
  ];
}

function querySearch(queries: readonly Clause[], numberOf: (clause: Clause) => number): string[] {
  const decoded = (part: string) => `[URI::decode [string map {+ " "} [string range $fl_pair ${part}]]]`;
  const tests = queries.flatMap((clause) => {
    const n = numberOf(clause);
    return [
      `    if { !$fl_has${n} && $fl_name eq ${literal(clause.key)} } {`,
      `        set fl_has${n} 1`,
      `        set fl_v${n} ${decoded('[expr { $fl_eq + 1 }] end')}`,
      '    }',
    ];
  });
  return [
    'foreach fl_pair [split [HTTP::query] "&"] {',
    '    set fl_eq [string first "=" $fl_pair]',
    '    if { $fl_eq < 0 } { set fl_eq [string length $fl_pair] }',
    `    set fl_name ${decoded('0 [expr { $fl_eq - 1 }]')}`,
    ...tests,
    '}',
  ];
}
