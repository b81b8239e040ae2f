// The weighted pick at the end of a rule: core/pick.ts in Tcl.
import { pickCookieName, type Listener, type WeightedPool } from '@fairlead/core';

/** A braced Tcl list of pool paths and weights. Paths have no character that means anything to Tcl. */
export const weightList = (pools: readonly WeightedPool[], place: string): string =>
  `{ ${pools.map(({ pool, weight }) => `${place}/${pool} ${weight}`).join(' ')} }`;

/**
 * Expects `fl_salt` and `fl_set` (the route's), `fl_rest` (the listener's own set) and, by source, `fl_by`.
 * Always ends in `pool`: a connection that is kept alive stays on its last pool until another is chosen.
 *
 *   try  salt      among       the pick counts when
 *   1    salt      all         it is live; it is remembered anyway
 *   2    salt2     live ones   there is one
 *   3    default2  live ones   there is one
 *   then the remembered one
 */
export function pick(listener: Listener): string[] {
  const { stickiness = 'source' } = listener;
  const isCookie = stickiness === 'cookie';
  return [
    '# By weight among all; if that one is dead, among the live; then among the live of the listener; else the first.',
    'set fl_pool ""',
    'foreach { fl_key fl_from fl_live } [list $fl_salt $fl_set 0 "${fl_salt}2" $fl_set 1 "default2" $fl_rest 1] {',
    '    set fl_among [list]',
    '    set fl_sum 0',
    '    foreach { fl_name fl_weight } $fl_from {',
    '        if { $fl_live && [active_members $fl_name] < 1 } { continue }',
    '        lappend fl_among $fl_name $fl_weight',
    '        incr fl_sum $fl_weight',
    '    }',
    '    if { $fl_sum < 1 } { continue }',
    `    set fl_at [expr { ${stickiness === 'source' ? bySource : byChance} }]`,
    '    foreach { fl_name fl_weight } $fl_among {',
    '        if { $fl_at < $fl_weight } { break }',
    '        set fl_at [expr { $fl_at - $fl_weight }]',
    '    }',
    ...(isCookie ? keptPool.map((line) => `    ${line}`) : []),
    '    if { $fl_pool eq "" } { set fl_pool $fl_name }',
    '    if { $fl_live || [active_members $fl_name] > 0 } {',
    '        set fl_pool $fl_name',
    '        break',
    '    }',
    '}',
    ...(isCookie ? setCookie(listener) : []),
    'pool $fl_pool',
  ];
}

const bySource = '([crc32 "$fl_key|$fl_by"] & 0xffffffff) % $fl_sum';
const byChance = 'int(rand() * $fl_sum)';

/** `fl_id` becomes what stands for a pool in the cookie. */
const idOf = (pool: string): string[] => [
  `set fl_id [lindex [split ${pool} "/"] end]`,
  'set fl_id [expr { [crc32 "$fl_salt|$fl_id"] & 0xffffffff }]',
];

/** What the client sent is compared with our own numbers only, as text; it gets into no command and no header. */
const keptPool: readonly string[] = [
  'foreach { fl_one fl_weight } $fl_among {',
  ...idOf('$fl_one').map((line) => `    ${line}`),
  '    if { $fl_id eq $fl_kept && [active_members $fl_one] > 0 } {',
  '        set fl_name $fl_one',
  '        break',
  '    }',
  '}',
];

/** Before anything may end the rule: what an earlier request of the connection left must not be set again. */
export const forgetCookie = ({ stickiness }: Listener): string[] => (stickiness === 'cookie' ? ['set fl_keep ""'] : []);

/** Sets `fl_kept`, which `pick` looks at, once `fl_salt` is set. */
export const readCookie = (listener: Listener): string[] =>
  listener.stickiness === 'cookie'
    ? [`set fl_kept [HTTP::cookie value "${pickCookieName(listener, '$fl_salt')}"]`]
    : [];

function setCookie(listener: Listener): string[] {
  const attributes = `path=/; HttpOnly${listener.protocol === 'https' ? '; Secure' : ''}`;
  return [
    ...idOf('$fl_pool'),
    `if { $fl_id ne $fl_kept } { set fl_keep "${pickCookieName(listener, '$fl_salt')}=$fl_id; ${attributes}" }`,
  ];
}

/** The event in which the client is told: the response. */
export const cookieEvent = ({ stickiness }: Listener): string[] =>
  stickiness === 'cookie'
    ? [
        'when HTTP_RESPONSE priority 500 {',
        '    if { [info exists fl_keep] && $fl_keep ne "" } { HTTP::header insert "Set-Cookie" $fl_keep }',
        '}',
      ]
    : [];
