// Is a device there? Asked now and then, and at once when a call of another kind failed.
import { problems, type Clock, type Problem, type Provider, type Result } from '@fairlead/core';
import type { Outage } from '@fairlead/tickets';

export interface HealthOptions {
  provider: Provider;
  clock: Clock;
  /** The state is another one now. */
  changed(): void;
}

export interface Health {
  /** The provider as others are to use it: what fails there is a reason to look. */
  readonly provider: Provider;
  readonly state: 'pending' | 'reachable' | Outage;
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between looks. `denied`: a device locks out whoever shows it a wrong password too often. */
const looks = { well: 30_000, away: 5_000, denied: 60_000 };

/**
 *   pending --answers--> reachable <--answers, no answer--> away, since then
 *
 * One look decides, not what became of a declaration: a device may refuse one and be well.
 */
export function health({ provider, clock, changed }: HealthOptions): Health {
  let state: Health['state'] = provider.check ? 'pending' : 'reachable';
  let doubt = new AbortController();

  const note = ({ code, message }: Problem | { code: undefined; message: '' }): void => {
    const before = state;
    if (code === undefined) state = 'reachable';
    else if (typeof before !== 'object') state = { problem: { code, message }, since: clock.now() };
    else if (before.problem.code !== code) state = { problem: { code, message }, since: before.since };
    if (state !== before) changed();
  };
  const watched = async <T>(answer: Promise<Result<T>>): Promise<Result<T>> => {
    const result = await answer;
    if (!result.ok && state === 'reachable' && problems[result.problem.code].retry) doubt.abort(null);
    return result;
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (provider.check && !signal.aborted) {
      doubt = new AbortController();
      const found = await provider.check(signal);
      if (signal.aborted) return;
      note(found.ok ? { code: undefined, message: '' } : found.problem);
      const wait = found.ok ? looks.well : found.problem.code === 'denied' ? looks.denied : looks.away;
      await clock.sleep(wait, AbortSignal.any([signal, doubt.signal]));
    }
  };
  return {
    run,
    get state() {
      return state;
    },
    provider: {
      ...provider,
      owned: (...all) => watched(provider.owned(...all)),
      read: (...all) => watched(provider.read(...all)),
      apply: (...all) => watched(provider.apply(...all)),
      ...(provider.members
        ? {
            members: {
              read: (...all) => watched(members(provider).read(...all)),
              write: (...all) => watched(members(provider).write(...all)),
            },
          }
        : {}),
    },
  };
}

function members({ members: lane }: Provider): NonNullable<Provider['members']> {
  if (!lane) throw new Error('bug: a provider lost its member lane');
  return lane;
}
