// The life of a canary as a pure function: from what is stored and what is seen to what is stored next.
import {
  isCanaryEnded,
  type CanaryCounts,
  type CanaryMark,
  type CanaryMembers,
  type CanaryPhase,
  type Lbcanary,
  type LbcanaryStatus,
} from '@fairlead/api';
import type { Problem, Result } from '@fairlead/core';
import { failed, fails, holds } from '../finding.ts';
import { durationOf } from '../quarantine.ts';
import { timeText, type Fact } from '../status.ts';
import { judge, type Verdict } from './judge.ts';

/** What a look found. */
export interface Sight {
  /** Milliseconds since the epoch. */
  now: number;
  /** Why it cannot shift: its target is not there, or another canary has it. */
  problem: Problem | undefined;
  /** Are the weights that the canary has now on the device? `message`: why not. */
  programmed: { is: boolean; message: string };
  reading: Result<Reading>;
}

/** What the device said: its counters so far, and the members now. */
export interface Reading {
  counts: CanaryMark;
  /** Requests that may be under way at this moment. */
  open: number;
  members: CanaryMembers;
  countsErrors: boolean;
}

export interface Step {
  status: LbcanaryStatus;
  facts: Record<'Accepted' | 'Programmed' | 'Measured' | 'Healthy', Fact>;
  /** A change, for history and Event. */
  move?: { phase: CanaryPhase; why: string } | undefined;
  /** Milliseconds until the next look; undefined: when something changes. */
  next: number | undefined;
}

/*
 *   phase               | what is seen                                          | then
 *   --------------------+-------------------------------------------------------+----------------------
 *   pending             | target is there, ticket is programmed                 | baseline
 *   pending, baseline   | state: promoted                                       | promoted, 100 %
 *   baseline            | the device was watched for a pause, or step is asked  | shifting, first step
 *   shifting            | worse than the baseline                               | aborted
 *   baseline, shifting  | the target is gone                                    | aborted
 *   shifting            | step is asked for                                     | shifting, that step
 *   shifting, automatic | watched for a pause, requests enough, not worse       | next step, or promoted
 *   shifting            | state: promoted                                       | promoted, 100 %
 *   all but the ended   | state: rolledback                                     | rolledback
 *
 *  A step begins to count when the device has its weights. While the device cannot be read nothing goes forward, and
 *  nothing back. aborted and rolledback leave no weight behind, so those in the ticket hold again; they are the end.
 */
export function flow(canary: Lbcanary, sight: Sight): Step {
  const status = canary.status ?? {};
  const phase = status.phase ?? 'pending';
  if (isCanaryEnded(canary)) return ending(canary, sight);
  if (canary.spec.state === 'rolledback')
    return moved(status, { phase: 'rolledback', why: 'the user wants it rolled back' });
  if (phase === 'promoted') return ending(canary, sight);
  if (phase === 'pending') return begin(canary, sight);
  if (sight.problem) return moved(status, { phase: 'aborted', why: sight.problem.message });
  if (canary.spec.state === 'promoted') return moved(status, promotion('the user wants it promoted'));
  if (!sight.programmed.is) return onItsWay(status, sight);
  return advance(canary, watched(status, sight), sight);
}

interface Move {
  phase: CanaryPhase;
  why: string;
  step?: number;
  weight?: number;
}

const promotion = (why: string): Move => ({ phase: 'promoted', why, weight: 100 });

/** A new phase or step: nothing is counted in it yet. */
function moved(status: LbcanaryStatus, { phase, why, step, weight }: Move): Step {
  const { since: _, mark: __, measured: ___, unanswered: ____, weight: _____, ...kept } = status;
  const isEnd = phase === 'aborted' || phase === 'rolledback';
  const next: LbcanaryStatus = {
    ...kept,
    phase,
    step: step ?? status.step ?? 0,
    ...(weight === undefined ? {} : { weight }),
  };
  const facts = {
    Accepted: holds('Accepted'),
    Programmed: fails(
      'pending',
      isEnd ? 'the weights in the ticket are on their way back' : 'the weights are on their way to the device',
    ),
    Measured: fails('pending', 'nothing is counted yet'),
    Healthy: phase === 'aborted' ? fails('worse', why) : fails('pending', 'nothing is counted yet'),
  };
  return { status: next, facts, move: { phase, why }, next: soon };
}

/** Until the device has taken what was just decided, changes tell; this is for the one that was missed. */
const soon = 5000;

function begin(canary: Lbcanary, sight: Sight): Step {
  const { spec, status = {} } = canary;
  const waits = (Accepted: Fact, why: string): Step => ({
    status: { ...status, phase: 'pending', step: 0 },
    facts: {
      Accepted,
      Programmed: fails('pending', why),
      Measured: fails('pending', why),
      Healthy: fails('pending', why),
    },
    next: undefined,
  });
  if (sight.problem) return waits(failed(sight.problem), 'the canary cannot begin');
  if (spec.state === 'paused') return waits(holds('Accepted'), 'the canary is paused before it began');
  if (!sight.programmed.is) return waits(holds('Accepted'), sight.programmed.message);
  if (spec.state === 'promoted') return moved(status, promotion('the user wants it promoted'));
  const why = `watching the device as it is for ${spec.pause}, to have something to compare with`;
  return { ...moved({ ...status, step: 0 }, { phase: 'baseline', why }), next: 0 };
}

function onItsWay(status: LbcanaryStatus, sight: Sight): Step {
  const { since: _, mark: __, measured: ___, unanswered: ____, ...kept } = status;
  const told = sight.programmed.message;
  return {
    status: kept,
    facts: {
      Accepted: holds('Accepted'),
      Programmed: fails('pending', told),
      Measured: fails('pending', told),
      Healthy: fails('pending', told),
    },
    next: soon,
  };
}

const nothing: CanaryCounts = { requests: 0, errors: 0, canaryRequests: 0 };

const growing = ['requests', 'errors', 'canaryRequests'] as const satisfies (keyof CanaryMark)[];

/** The window since the step began. Counters that fell were begun anew by the device, and so is the window. */
function watched(status: LbcanaryStatus, { now, reading }: Sight): LbcanaryStatus {
  const since = status.since ?? timeText(now);
  if (!reading.ok) return { ...status, since };
  const { counts, open, members } = reading.value;
  const { mark } = status;
  const isFallen = mark && growing.some((name) => counts[name] < mark[name]);
  if (!mark || isFallen) return { ...status, since, mark: counts, measured: nothing, unanswered: 0, members };
  // What is under way is no failure. One without an answer is there at the next look too, and beyond the connections.
  const unanswered = Math.max(0, counts.unanswered - mark.unanswered - open);
  const measured = {
    requests: counts.requests - mark.requests,
    errors: counts.errors - mark.errors + Math.min(unanswered, status.unanswered ?? 0),
    canaryRequests: counts.canaryRequests - mark.canaryRequests,
  };
  return { ...status, since, measured, unanswered, members };
}

function advance({ spec }: Lbcanary, status: LbcanaryStatus, sight: Sight): Step {
  const { reading, now } = sight;
  const step = status.step ?? 0;
  const countsErrors = reading.ok && reading.value.countsErrors;
  const evidence = { baseline: status.baseline, measured: status.measured, members: status.members, countsErrors };
  const verdict = judge(spec, evidence);
  const isBaseline = status.phase === 'baseline';
  const facts = factsOf(reading, verdict, isBaseline);
  if (reading.ok && verdict.isWorse && !isBaseline)
    return moved(status, { phase: 'aborted', why: `the canary is worse than the baseline: ${verdict.message}` });

  const before = isBaseline && status.measured ? { ...status, baseline: status.measured } : status;
  const to = (number: number, why: string) =>
    moved(before, { phase: 'shifting', step: number, weight: spec.steps[number - 1] ?? 100, why });
  const asked = Math.min(spec.step ?? 0, spec.steps.length);
  if (asked > step) return to(asked, `step ${asked} was asked for`);

  const pause = durationOf(spec.pause);
  const left = Date.parse(status.since ?? '') + pause - now;
  const look = Math.min(5000, Math.max(250, pause / 4));
  const stay: Step = { status, facts, next: left > 0 ? Math.min(left, look) : look };
  if (left > 0 || !reading.ok || spec.state === 'paused') return stay;
  if (isBaseline) return to(1, `watched for ${spec.pause}: ${counted(status.measured)}`);
  if (spec.mode === 'manual') return stay;
  const { canaryRequests = 0 } = status.measured ?? {};
  if (canaryRequests < spec.minRequests)
    return { ...stay, facts: { ...facts, Measured: tooFew(spec, canaryRequests) } };
  if (step >= spec.steps.length) return moved(status, promotion(`no worse at the last step: ${verdict.message}`));
  return to(step + 1, `no worse after ${spec.pause}: ${verdict.message}`);
}

const counted = (measured: CanaryCounts | undefined): string =>
  `${measured?.requests ?? 0} requests, ${measured?.errors ?? 0} of them failed`;

const tooFew = (spec: Lbcanary['spec'], canaryRequests: number): Fact =>
  fails('pending', `${canaryRequests} of ${spec.minRequests} requests that the canary must have had before it goes on`);

function factsOf(reading: Result<Reading>, verdict: Verdict, isBaseline: boolean): Step['facts'] {
  const Healthy = !reading.ok
    ? { status: 'Unknown' as const, reason: reading.problem.code, message: 'the device cannot be read' }
    : verdict.isWorse && !isBaseline
      ? fails('worse', verdict.message)
      : holds('NoWorse', verdict.message);
  return {
    Accepted: holds('Accepted'),
    Programmed: holds('Programmed'),
    Measured: reading.ok ? holds('Measured') : failed(reading.problem),
    Healthy,
  };
}

/** Promoted or ended: nothing is watched any more, only whether the device has followed. */
function ending({ status = {} }: Lbcanary, { programmed, now, problem }: Sight): Step {
  const healthy = status.conditions?.find(({ type }) => type === 'Healthy');
  const Healthy: Fact =
    status.phase === 'aborted' && healthy
      ? { status: healthy.status, reason: healthy.reason, message: healthy.message }
      : { status: 'Unknown', reason: 'ended', message: `${status.phase}; nothing is compared any more` };
  const Programmed = problem
    ? failed(problem)
    : programmed.is
      ? holds('Programmed')
      : fails('pending', programmed.message);
  const since = status.since ?? (programmed.is && !problem ? timeText(now) : undefined);
  return {
    status: { ...status, ...(since ? { since } : {}) },
    facts: {
      Accepted: holds('Accepted'),
      Programmed,
      Measured: fails('ended', 'nothing is counted any more'),
      Healthy,
    },
    next: programmed.is || problem ? undefined : soon,
  };
}
