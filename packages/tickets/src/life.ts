// The life of a ticket as one table: in which state what event leads where, and what has to follow (spec/tickets.md §3).
import type { Process } from '@fairlead/api';

/** `new`: no controller has written a state yet. */
export type State = 'new' | Process;

export const states: readonly State[] = ['new', 'created', 'apply', 'enabled', 'failed', 'disabled', 'deleted'];

/**
 * What a turn found.
 * - `allocated`: the ticket is valid and both addresses are written in its spec (first time, or after an edit)
 * - `refused`: it is not valid, or an address cannot be had
 * - `filed`: the approver has the application, its id is known
 * - `opened`, `rejected`: the approver's answer
 * - `disable`: the user wants it disabled or gone, or its object is being removed
 * - `enable`: the user wants it back, and the network is open still
 * - `refile`: its application is gone, says what was edited since, or was never opened, and the user wants it still, or back
 * - `cleared`: it shall be gone, and the device confirmed that nothing of it is left there
 */
export type Event =
  | 'allocated'
  | 'refused'
  | 'filed'
  | 'opened'
  | 'rejected'
  | 'disable'
  | 'enable'
  | 'refile'
  | 'cleared';

export const events: readonly Event[] = [
  'allocated',
  'refused',
  'filed',
  'opened',
  'rejected',
  'disable',
  'enable',
  'refile',
  'cleared',
];

/**
 * What has to follow.
 * - `withdraw`: take the application back, before the state is written: its id goes with that write
 * - `program`, `unprogram`: write the ConfigMap with or without the ticket, after the state is written
 * - `release`: others may have the addresses, after the state is written: until then they are ours for all to see
 */
export type Effect = 'withdraw' | 'program' | 'unprogram' | 'release';

export interface Step {
  to: State;
  effects: readonly Effect[];
}

/*
 *            allocated            filed              opened
 *                                refile
 *                         .-----------------.
 *                         v                 |
 *   new ----------------> created -------> apply -------------> enabled
 *    |                    |  ^ ^ \           |  \ disable       |    ^
 *    | refused    refused |  | |  \ disable  |   '------.       |    | enable
 *    |                    |  | |   '---------)----------|       |    |
 *    |          allocated |  | '-------------)--------. |       |disable
 *    |                    v  |     rejected  | refile | v       v    |
 *    '-----------------> failed <------------'       disabled <------'
 *                             \                     /
 *                              \ cleared   cleared /
 *                               '----> deleted <--'
 *
 *  An edit of a created or failed ticket is looked at as a new one: allocated or refused again.
 *  What is not in the table cannot happen: `step` gives nothing, and the ticket stays as it is.
 */
const life: Readonly<Record<State, Readonly<Partial<Record<Event, Step>>>>> = {
  new: {
    allocated: { to: 'created', effects: [] },
    refused: { to: 'failed', effects: ['release'] },
    cleared: { to: 'deleted', effects: ['release'] },
  },
  created: {
    // An application may be with the approver though its id never arrived here; an edit makes it worthless.
    allocated: { to: 'created', effects: ['withdraw'] },
    refused: { to: 'failed', effects: ['withdraw', 'release'] },
    filed: { to: 'apply', effects: [] },
    rejected: { to: 'failed', effects: [] },
    disable: { to: 'disabled', effects: ['withdraw'] },
  },
  apply: {
    opened: { to: 'enabled', effects: ['program'] },
    rejected: { to: 'failed', effects: [] },
    disable: { to: 'disabled', effects: ['withdraw'] },
    refile: { to: 'created', effects: ['withdraw'] },
  },
  enabled: {
    disable: { to: 'disabled', effects: ['unprogram'] },
  },
  failed: {
    allocated: { to: 'created', effects: ['withdraw'] },
    refused: { to: 'failed', effects: ['withdraw', 'release'] },
    cleared: { to: 'deleted', effects: ['withdraw', 'release'] },
  },
  disabled: {
    enable: { to: 'enabled', effects: ['program'] },
    refile: { to: 'created', effects: ['withdraw'] },
    cleared: { to: 'deleted', effects: ['withdraw', 'release'] },
  },
  deleted: {},
};

/** Where `event` leads from `state`; undefined when it means nothing there. */
export const step = (state: State, event: Event): Step | undefined => life[state][event];
