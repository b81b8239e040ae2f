// The weighted pick at the end of a rule: core/choose.ts in Tcl.
import type { WeightedPool } from '@fairlead/core';

/** A braced Tcl list of pool paths and weights. Paths have no character that means anything to Tcl. */
export const weightList = (pools: readonly WeightedPool[], place: string): string =>
  `{ ${pools.map(({ pool, weight }) => `${place}/${pool} ${weight}`).join(' ')} }`;

/**
 * Expects `fl_salt` and `fl_set` (the route's), `fl_rest` (the listener's own set) and `fl_by` (what to pick by).
 * Always ends in `pool`: a connection that is kept alive stays on its last pool until another is chosen.
 *
 *   try  salt      among       the pick counts when
 *   1    salt      all         it is live; it is remembered anyway
 *   2    salt2     live ones   there is one
 *   3    default2  live ones   there is one
 *   then the remembered one
 */
export const pick: readonly string[] = [
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
  '    set fl_at [expr { ([crc32 "$fl_key|$fl_by"] & 0xffffffff) % $fl_sum }]',
  '    foreach { fl_name fl_weight } $fl_among {',
  '        if { $fl_at < $fl_weight } { break }',
  '        set fl_at [expr { $fl_at - $fl_weight }]',
  '    }',
  '    if { $fl_pool eq "" } { set fl_pool $fl_name }',
  '    if { $fl_live || [active_members $fl_name] > 0 } {',
  '        set fl_pool $fl_name',
  '        break',
  '    }',
  '}',
  'pool $fl_pool',
];
