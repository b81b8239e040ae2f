// What is known of one ConfigMap: an application's word each, as the text of its status annotation. Pure.
import { inEnglish, isEqual, type Key, type Origin, type Problem } from '@fairlead/core';
import type { Outcome } from './outcome.ts';

export interface Report {
  origin: Origin;
  /** The whole object cannot be read. */
  problem?: Problem | undefined;
  /** Has all that this edit asks for had its turn, removals included? */
  settled: boolean;
  applications: ReadonlyMap<Key, ApplicationReport>;
}

export interface ApplicationReport {
  /** Undefined until a turn spoke of it. */
  placed?: Placing | undefined;
  /** Pools with something wrong on their way to members. */
  pools: ReadonlyMap<string, Problem>;
}

/** What came of an application, and by Secret what is wrong with its certificates. */
interface Placing {
  problem?: Problem | undefined;
  certificates?: Readonly<Record<string, Problem>> | undefined;
  /** By path, rules of the place that are not there. */
  rules?: Readonly<Record<string, Problem>> | undefined;
}

/** One line for an Event. */
export interface Remark {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

const emptyReport = (origin: Origin): Report => ({ origin, settled: false, applications: new Map() });

/** `report` with `outcome` in it: the same one when that is no news. An outcome of another edit begins anew. */
export function withOutcome(report: Report | undefined, outcome: Outcome & { origin: Origin }): Report {
  const { origin, key, pool, problem, certificates, rules, gone } = outcome;
  const isNew = report?.origin.uid !== origin.uid || report.origin.revision !== origin.revision;
  const last = isNew || !report ? emptyReport(origin) : report;
  if (key === undefined) {
    return last.settled && isEqual(last.problem, problem) ? last : { ...last, problem, settled: true };
  }
  const before = last.applications.get(key);
  const placed = { problem, certificates: sorted(certificates), rules: sorted(rules) };
  const after = gone ? undefined : pool === undefined ? withPlaced(before, placed) : withPool(before, pool, problem);
  if (after === before && last === report) return report;
  const applications = new Map(last.applications);
  if (after) applications.set(key, after);
  else applications.delete(key);
  return { ...last, applications };
}

function withPlaced(before: ApplicationReport | undefined, placed: Placing): ApplicationReport {
  if (before?.placed && isEqual(before.placed, placed)) return before;
  return { placed, pools: before?.pools ?? new Map() };
}

const sorted = (problems: ReadonlyMap<string, Problem> | undefined): Record<string, Problem> | undefined =>
  problems && Object.fromEntries([...problems].sort(byName));

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

function withPool(
  before: ApplicationReport | undefined,
  pool: string,
  problem: Problem | undefined,
): ApplicationReport {
  if (before && isEqual(before.pools.get(pool), problem)) return before;
  const pools = new Map(before?.pools);
  if (problem) pools.set(pool, problem);
  else pools.delete(pool);
  return { placed: before?.placed, pools };
}

/**
 * May it be told? Its revision stands in it, and readers take that to mean that what the edit took away is gone, unless
 * an application is not ok. So a report is told when all of it had its turn, or when there is something wrong to tell.
 */
export const isTellable = ({ settled, problem, applications }: Report): boolean =>
  settled || problem !== undefined || [...applications.values()].some(({ placed }) => placed?.problem !== undefined);

/**
 * The annotation `fairlead.io/status`:
 * `{"revision": …, "problem"?: {code, message, path?}, "applications": {<name>: {"ok": true} | {"ok": false, code, message}}}`,
 * with `"pools": {<name>: {code, message}}` inside an application whose pools lack members for a reason, and
 * `"certificates": {<Secret>: {code, message}}` where a Secret cannot be used, or its time is over, and
 * `"rules": {<path>: {code, message}}` where a rule of the device is not there. Sorted, and without
 * times, so that equal reports are equal text.
 */
export function statusText({ origin, problem, applications }: Report): string {
  const keys = [...applications.keys()].sort();
  const names = keys.map(nameOf);
  const words = keys.flatMap((key, index) => {
    const word = wordOf(applications.get(key));
    // Two tenants of one ConfigMap may hold applications of one name.
    const name = names[index] ?? key;
    return word ? [[names.indexOf(name) === names.lastIndexOf(name) ? name : key, word]] : [];
  });
  const wrong = problem && inEnglish(problem);
  return JSON.stringify({ revision: origin.revision, problem: wrong, applications: Object.fromEntries(words) });
}

/** What to tell of the change from one report to the next: what is good again, and what is newly wrong. */
export function remarksBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Remark[] {
  return [...after]
    .filter(([subject, word]) => before.get(subject) !== word)
    .map(([subject, word]) => remark(subject, word));
}

/** By subject (`""` for the whole, an application, a pool), the word on it: `ok`, or `code: message`. */
export function wordsOf(report: Report): Map<string, string> {
  const words = new Map<string, string>();
  if (report.problem) words.set('template', wordOn(report.problem));
  for (const [key, { placed, pools }] of report.applications) {
    if (placed) words.set(`application ${nameOf(key)}`, wordOn(placed.problem));
    for (const [pool, problem] of pools) words.set(`pool ${nameOf(key)}/${pool}`, wordOn(problem));
    for (const [secret, problem] of Object.entries(placed?.certificates ?? {}))
      words.set(`certificate of ${nameOf(key)} from Secret ${secret}`, wordOn(problem));
    for (const [rule, problem] of Object.entries(placed?.rules ?? {}))
      words.set(`rule ${rule} of ${nameOf(key)}`, wordOn(problem));
  }
  return words;
}

/** The words that an earlier run left in the annotation; a text that is none of ours has none. */
export function wordsIn(text: string | undefined): Map<string, string> {
  const words = new Map<string, string>();
  const { problem, applications } = parse(text);
  if (problem) words.set('template', wordOn(problem));
  for (const [name, { ok, code, message, pools, certificates, rules }] of Object.entries(applications ?? {})) {
    words.set(`application ${name}`, ok ? 'ok' : `${code}: ${message}`);
    for (const [pool, one] of Object.entries(pools ?? {})) words.set(`pool ${name}/${pool}`, wordOn(one));
    for (const [secret, one] of Object.entries(certificates ?? {}))
      words.set(`certificate of ${name} from Secret ${secret}`, wordOn(one));
    for (const [rule, one] of Object.entries(rules ?? {})) words.set(`rule ${rule} of ${name}`, wordOn(one));
  }
  return words;
}

interface Word {
  ok: boolean;
  code?: string | undefined;
  message?: string;
  path?: string | undefined;
  pools?: Record<string, Problem>;
  certificates?: Record<string, Problem>;
  rules?: Record<string, Problem>;
}

interface Status {
  problem?: Problem;
  applications?: Record<string, Word>;
}

function wordOf(application: ApplicationReport | undefined): Word | undefined {
  if (!application?.placed) return undefined;
  const { placed, pools } = application;
  const { problem, certificates, rules } = placed;
  const said = problem ? { ok: false, ...inEnglish(problem) } : { ok: true };
  const word: Word = { ...said, ...(certificates && { certificates }), ...(rules && { rules }) };
  const troubled = [...pools].sort(([a], [b]) => (a < b ? -1 : 1));
  return troubled.length > 0 ? { ...word, pools: Object.fromEntries(troubled) } : word;
}

const wordOn = (problem: Problem | undefined): string => (problem ? `${problem.code}: ${problem.message}` : 'ok');

function remark(subject: string, word: string): Remark {
  if (word === 'ok') return { type: 'Normal', reason: 'Programmed', message: `${subject} is on the device` };
  const code = word.slice(0, word.indexOf(':'));
  return { type: 'Warning', reason: code.charAt(0).toUpperCase() + code.slice(1), message: `${subject}: ${word}` };
}

const nameOf = (key: Key): string => key.slice(key.indexOf('/') + 1);

function parse(text: string | undefined): Status {
  try {
    const status = JSON.parse(text ?? '{}') as Status | null;
    return typeof status === 'object' && status !== null ? status : {};
  } catch {
    // Somebody else wrote into our annotation: there is no earlier word, and ours replaces it.
    return {};
  }
}
