// The status of a ticket: conditions, history, and what a write changes. Pure.
import type { Condition, Filing, Lbticket, LbticketStatus, Process, Transition } from '@fairlead/api';
import { isEqual } from '@fairlead/core';
import { isRecord } from './json.ts';

export type ConditionType =
  | 'Allocated'
  | 'NetworkPolicyOpen'
  | 'Programmed'
  | 'CertificatesValid'
  | 'ServicesFound'
  | 'LabelConflict'
  | 'Ready';

/** One condition as a turn found it, without time. `reason` is a problem code when something is wrong. */
export interface Fact {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

export type Facts = Partial<Record<Exclude<ConditionType, 'Ready'>, Fact>>;

export interface StatusChange {
  facts: Facts;
  /** Absent: no change of state. */
  transition?: { to: Process; why: string; who?: string | undefined } | undefined;
  /** Undefined leaves a field as it is, null takes it away. */
  veip?: string | null | undefined;
  ltmip?: string | null | undefined;
  application?: string | null | undefined;
  filing?: Filing | null | undefined;
  /** Is an application given up for another? */
  isRefiled?: boolean | undefined;
  /** The generation this speaks of. */
  observed: number;
}

const longestHistory = 20;
/** What the API server takes of `why` and of a condition's message: an approver's long answer must not stop the ticket. */
const longestWhy = 4096;
const longestMessage = 32_768;

const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

/** The status after `change`. `now`: milliseconds since the epoch. */
export function statusAfter(ticket: Lbticket, change: StatusChange, now: number): LbticketStatus {
  const before = ticket.status ?? {};
  const time = timeText(now);
  const next: LbticketStatus = { ...before, observedGeneration: change.observed };
  for (const field of ['veip', 'ltmip', 'application'] as const) {
    const value = change[field];
    if (value === null) delete next[field];
    else if (value !== undefined) next[field] = value;
  }
  if (change.filing === null) delete next.filing;
  else if (change.filing !== undefined) next.filing = change.filing;
  if (change.isRefiled) next.refiled = (before.refiled ?? 0) + 1;
  if (change.transition) {
    next.process = change.transition.to;
    // It is in the history now, and the next answer may be somebody else's.
    delete next.answeredBy;
    next.history = [...(before.history ?? []), historyLine(before.process, change.transition, time)].slice(
      -longestHistory,
    );
  }
  const facts: Partial<Record<ConditionType, Fact>> = { ...lostFacts(next), ...change.facts };
  const conditions = merge(before.conditions ?? [], facts, { time, observed: change.observed });
  next.conditions = merge(conditions, { Ready: ready(next.process, conditions) }, { time, observed: change.observed });
  return next;
}

/** Who approves by a merge patch replaces the whole list of conditions: what the rest of the status says is told again. */
function lostFacts({ conditions = [], veip, ltmip }: LbticketStatus): Partial<Record<ConditionType, Fact>> {
  if (!veip || !ltmip || conditions.some(({ type }) => type === 'Allocated')) return {};
  const message = `addresses ${veip} (VE) and ${ltmip} (LTM) are taken`;
  return { Allocated: { status: 'True', reason: 'Allocated', message } };
}

function historyLine(from: Process | undefined, to: NonNullable<StatusChange['transition']>, time: string): Transition {
  return {
    when: time,
    ...(to.who ? { who: to.who } : {}),
    ...(from ? { from } : {}),
    to: to.to,
    why: cut(to.why, longestWhy),
  };
}

/** The body of a merge patch from one status to the other; undefined when nothing changed. */
export function statusPatch<S extends object>(before: S, after: S): Record<string, unknown> | undefined {
  const body: Record<string, unknown> = {};
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof S & string>;
  for (const field of fields) {
    const [old, now] = [before[field], after[field]];
    if (isEqual(old, now)) continue;
    // Such a patch goes into objects: what is not there any more has to be said.
    body[field] = isRecord(old) && isRecord(now) ? statusPatch(old, now) : (now ?? null);
  }
  return Object.keys(body).length > 0 ? body : undefined;
}

export const conditionOf = (ticket: Lbticket, type: ConditionType): Condition | undefined =>
  ticket.status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (ticket: Lbticket, type: ConditionType): boolean => conditionOf(ticket, type)?.status === 'True';

/** RFC 3339 in seconds, as Kubernetes writes times. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const order: readonly ConditionType[] = [
  'Allocated',
  'NetworkPolicyOpen',
  'Programmed',
  'CertificatesValid',
  'ServicesFound',
  'Ready',
];
/** Only tickets with https listners have certificates, and Services are spoken of once one was missing. */
const optional: readonly ConditionType[] = ['CertificatesValid', 'ServicesFound'];

/** Conditions with these facts: the time moves only when the status does. In a fixed order, so that equal is equal. */
export function merge(
  before: readonly Condition[],
  facts: Partial<Record<string, Fact>>,
  { time, observed }: { time: string; observed: number },
): Condition[] {
  const byType = new Map(before.map((condition) => [condition.type, condition]));
  for (const [type, fact] of Object.entries(facts)) {
    if (!fact) continue;
    const present = byType.get(type);
    const since = present?.status === fact.status ? present.lastTransitionTime : time;
    byType.set(type, {
      type,
      ...fact,
      message: cut(fact.message, longestMessage),
      observedGeneration: observed,
      lastTransitionTime: since,
    });
  }
  // What Ready does not lean on comes after it; those of other kinds stand as they come.
  const place = (type: string) => (type === 'LabelConflict' ? order.length : order.findIndex((one) => one === type));
  return [...byType.values()].sort((a, b) => place(a.type) - place(b.type));
}

/** Ready says the first thing that is in the way, so that one column tells the user what to look at. */
function ready(process: Process | undefined, conditions: readonly Condition[]): Fact {
  if (process === 'disabled' || process === 'deleted')
    return { status: 'False', reason: process, message: `the ticket is ${process}` };
  for (const type of order) {
    const condition = conditions.find((one) => one.type === type);
    if (type === 'Ready' || condition?.status === 'True') continue;
    if (!condition && optional.includes(type)) continue;
    if (!condition) return { status: 'False', reason: 'pending', message: `${type} is not known yet` };
    const { status, reason, message } = condition;
    return { status, reason, message };
  }
  return { status: 'True', reason: 'Ready', message: '' };
}
