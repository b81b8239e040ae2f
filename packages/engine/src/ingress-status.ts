// Tells F5 Ingresses what came of them: `fairlead.io/status`, `status.loadBalancer`, and an Event, each only when it changes.
import { askerOf, isEqual, problems, type Clock, type Origin, type Problem } from '@fairlead/core';
import { ingresses, type Ingress, type Kube, type KubeObject } from '@fairlead/kube';
import { annotations, type IngressGroup, type IngressMember } from '@fairlead/sources';
import { backoff } from './backoff.ts';
import { lanes } from './lanes.ts';
import type { Outcome } from './outcome.ts';
import { isTellable, withOutcome, type Remark, type Report } from './report.ts';
import type { Statuses } from './status.ts';

export interface IngressCluster {
  kube: Pick<Kube, 'patch'>;
  /** Records an Event. */
  event?: ((regarding: KubeObject, remark: Remark) => void) | undefined;
}

export interface IngressStatusOptions {
  clock: Clock;
  /** 0 to 1. */
  random: () => number;
  /** The cluster of that name; undefined when it is not served any longer. */
  clusters(name: string): IngressCluster | undefined;
  /** What the Ingresses of that asker ask for now. */
  group(asker: string): IngressGroup | undefined;
  log?: ((line: string) => void) | undefined;
  onBug?: ((error: unknown, asker: string) => void) | undefined;
  /** Milliseconds to wait for more to tell. Default 20. */
  debounce?: number | undefined;
}

/** F5's controller writes the address it has made here (spec/f5.md §2.2). */
const addressAnnotation = 'status.virtual-server.f5.com/ip';

/** Is the outcome one of Ingresses? All others are told to ConfigMaps. */
export const isOfIngresses = ({ origin }: Outcome): boolean => origin?.kind === 'Ingress';

export function ingressStatuses(options: IngressStatusOptions): Statuses {
  const { clock, random, debounce = 20 } = options;
  const reports = new Map<string, Report>();
  const writer = new Writer(options);
  const turns = lanes<string>(clock, {
    laneOf: (asker) => asker.slice(0, asker.indexOf('/')),
    parallel: () => 1,
    onBug: options.onBug,
  });
  const pauses = backoff<string>({ random });

  const note = (outcome: Outcome & { origin: Origin }): void => {
    const asker = askerOf(outcome.origin);
    const report = withOutcome(reports.get(asker), outcome);
    if (report === reports.get(asker)) return;
    reports.set(asker, report);
    turns.add(asker, debounce);
  };

  const turn = async (asker: string): Promise<void> => {
    const report = reports.get(asker);
    const group = options.group(asker);
    if (!group) return void reports.delete(asker);
    // Of an edit that came since, the engine will speak.
    if (!report || group.isReading || report.origin.revision !== group.origin.revision || !isTellable(report)) return;
    if (await writer.write(group, report)) pauses.reset(asker);
    else turns.add(asker, pauses.next(asker));
  };

  return {
    report(outcomes) {
      for (const { origin, ...rest } of outcomes) if (origin) note({ ...rest, origin });
    },
    run: (signal) => turns.run(turn, signal),
    get size() {
      return reports.size;
    },
  };
}

/** What is to stand in `fairlead.io/status`, and whether the address is served. Undefined: nothing can be said yet. */
interface Word {
  status: {
    revision: string;
    gone?: true;
    ok?: boolean;
    code?: string;
    message?: string;
    notes?: string[];
    ports?: readonly number[];
  };
  /** Undefined leaves it as it is. */
  served: boolean | undefined;
}

class Writer {
  readonly #options: IngressStatusOptions;
  /** By Ingress, our last text and the version it was written over: until the store moves, it is not written again. */
  readonly #written = new Map<string, { text: string; over: string | undefined }>();

  constructor(options: IngressStatusOptions) {
    this.#options = options;
  }

  /** False when something is to be tried again. */
  async write(group: IngressGroup, report: Report): Promise<boolean> {
    let isDone = true;
    for (const member of group.members) {
      const word = wordOn(member, group, report);
      if (word && !(await this.#tell(group.origin.cluster, member, word))) isDone = false;
    }
    return isDone;
  }

  async #tell(clusterName: string, { ingress, claim }: IngressMember, { status, served }: Word): Promise<boolean> {
    const cluster = this.#options.clusters(clusterName);
    const { name, namespace, uid = '', resourceVersion } = ingress.metadata;
    const text = JSON.stringify(status);
    const last = this.#written.get(uid);
    if (!cluster || (last?.text === text && last.over === resourceVersion)) return true;
    const before = ingress.metadata.annotations ?? {};
    const address = served === undefined ? before[addressAnnotation] : served ? claim.ip : undefined;
    const at = { name, namespace };
    if (before[annotations.status] !== text || before[addressAnnotation] !== address) {
      const given = { [annotations.status]: text, [addressAnnotation]: address ?? null };
      // With the uid, an Ingress made anew under this name in the meantime is refused to us.
      const body = { metadata: { uid, annotations: given } };
      const patched = await cluster.kube.patch(
        ingresses,
        at,
        { type: 'merge', body },
        { fieldManager: 'fairlead-agent' },
      );
      if (!patched.ok) return this.#failed(ingress, patched.problem);
    }
    const shown =
      served === undefined ? (ingress.status?.loadBalancer?.ingress ?? []) : served ? [{ ip: claim.ip }] : [];
    if (!isEqual(ingress.status?.loadBalancer?.ingress ?? [], shown)) {
      const body = { metadata: { uid }, status: { loadBalancer: { ingress: shown.length > 0 ? shown : null } } };
      const options = { fieldManager: 'fairlead-agent', subresource: 'status' as const };
      const patched = await cluster.kube.patch(ingresses, at, { type: 'merge', body }, options);
      if (!patched.ok) return this.#failed(ingress, patched.problem);
    }
    this.#written.set(uid, { text, over: resourceVersion });
    for (const remark of remarks(before[annotations.status], status)) cluster.event?.(ingress, remark);
    return true;
  }

  /** One that is gone, or another by now, needs no word from us. */
  #failed(ingress: Ingress, { code, message }: Problem): boolean {
    if (code === 'missing' || code === 'conflict') return true;
    this.#options.log?.(
      `status of Ingress ${ingress.metadata.namespace}/${ingress.metadata.name}: ${code}: ${message}`,
    );
    return !problems[code].retry;
  }
}

/**
 *   the Ingress                          | what came of the group | it is told
 *   -------------------------------------+------------------------+------------------------------
 *   gives up its address                 | all of it had its turn | gone
 *   gives up its address                 | anything else          | nothing yet
 *   waits for its ticket                 | all of it had its turn | denied, and its address goes
 *   cannot be read                       | any                    | what is wrong; what it had stays
 *   is asked for                         | is on the device       | ok, with notes
 *   is asked for                         | could not be placed    | why
 */
function wordOn(member: IngressMember, group: IngressGroup, report: Report): Word | undefined {
  const { claim, problem, isWaiting, ingress, notes } = member;
  const { revision } = claim;
  const [application] = [...report.applications.values()];
  const placed = report.problem ?? application?.placed?.problem;
  const isSettled = report.settled && !placed;
  if (!claim.wanted) return isSettled ? { status: { revision, gone: true }, served: false } : undefined;
  if (isWaiting) {
    const message = `Lbticket ${claim.ticket} is not enabled, or has another address by now`;
    return isSettled ? { status: { revision, ok: false, code: 'denied', message }, served: false } : undefined;
  }
  const wrong = problem ?? placed;
  if (wrong) {
    const message = wrong.path === undefined ? wrong.message : `${wrong.path}: ${wrong.message}`;
    // What it had stays, so what it was told of that stays as well.
    const ports = parse(ingress.metadata.annotations?.[annotations.status]).ports;
    return { status: { revision, ok: false, code: wrong.code, message, ...(ports && { ports }) }, served: undefined };
  }
  if (!application?.placed) return undefined;
  const own = [...application.pools].filter(([pool]) => group.users.get(pool)?.includes(ingress.metadata.name));
  const secrets = new Set((ingress.spec?.tls ?? []).map(({ secretName }) => secretName));
  const certificates = Object.entries(application.placed.certificates ?? {}).filter(([secret]) => secrets.has(secret));
  const all = [
    ...notes,
    ...own.map(([pool, { message }]) => `pool ${pool}: ${message}`).sort(),
    ...certificates.map(([secret, { message }]) => `certificate from Secret ${secret}: ${message}`).sort(),
  ];
  const ports = group.ports && { ports: group.ports };
  return { status: { revision, ok: true, ...(all.length > 0 ? { notes: all } : {}), ...ports }, served: true };
}

/** News since the last word: what is wrong now, or good again, and notes that were not there before. */
function remarks(before: string | undefined, now: Word['status']): Remark[] {
  const last = parse(before);
  const news: Remark[] = [];
  const reason = (code = 'invalid') => code.charAt(0).toUpperCase() + code.slice(1);
  if (now.ok && !last.ok) news.push({ type: 'Normal', reason: 'Programmed', message: 'it is on the device' });
  if (now.ok === false && last.message !== now.message)
    news.push({ type: 'Warning', reason: reason(now.code), message: now.message ?? '' });
  if (now.gone && !last.gone)
    news.push({ type: 'Normal', reason: 'Removed', message: 'nothing of it is on the device' });
  for (const note of now.notes ?? [])
    if (!last.notes?.includes(note)) news.push({ type: 'Warning', reason: reasonOf(note), message: note });
  return news;
}

/** Pools and certificates lack something; all else is another Ingress's. */
const reasonOf = (note: string): string => (/^(pool|certificate) /.test(note) ? 'Incomplete' : 'Conflict');

function parse(text: string | undefined): Partial<Word['status']> {
  try {
    const status: unknown = JSON.parse(text ?? '{}');
    return typeof status === 'object' && status !== null ? status : {};
  } catch {
    // Somebody else wrote into our annotation: there is no earlier word, and ours replaces it.
    return {};
  }
}
