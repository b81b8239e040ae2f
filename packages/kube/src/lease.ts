// Leader election on a Lease: of all candidates at most one works at a time.
import { backoff } from './backoff.ts';
import { untilAborted, type Clock } from './clock.ts';
import { idleGuard } from './idle-guard.ts';
import { type Lease, leases } from './kinds.ts';
import type { Kube, KubeProblem, KubeResult } from './kube.ts';
import { micros } from './time.ts';

export interface LeadOptions {
  kube: Kube;
  clock: Clock;
  /** From 0 up to, not including, 1; spreads the candidates' looks. */
  random: () => number;
  namespace: string;
  name: string;
  /** Who we are, in the Lease; differs for each process. */
  identity: string;
  /** Milliseconds that others wait after the last sign of life, in whole seconds; 15 s when absent. */
  duration?: number | undefined;
}

export interface Leader {
  /** The term begins. `signal` aborts when it must end: what was begun must be ended by then, and the promise settle. */
  started(signal: AbortSignal): void | Promise<void>;
  /** The term is over and its work has ended. */
  stopped(): void | Promise<void>;
  /** Why the Lease cannot be read or written now. It is tried again. */
  trouble?(problem: KubeProblem): void;
}

/** A Lease that is ours. Its resourceVersion is the proof that nobody wrote since. */
interface Held {
  lease: Lease;
  /** By our clock, from before the write was sent: others count from when they see it, which is later. */
  since: number;
  /** Marks of what we wrote, and `since` of each: also of writes whose answer was lost, as they may have been done. */
  ours: Map<string, number>;
}

/**
 * Seeks the lease, leads, and seeks again when it was lost, until `signal` aborts; then ends the term and gives the
 * lease back, so that the next need not wait.
 *
 *            ┌───────────┐ free, or unchanged for its duration by our clock   ┌─────────┐
 *   start ──>│ candidate ├───────────────────────────────────────────────────>│ leading │ renews every 1/7 of it
 *            └─────┬─────┘<── another wrote it, or no renewal within 2/3 ─────┴────┬────┘
 *                  v abort                                                         v abort
 *                 end                                              work ends, then the lease is released
 *
 * Times in a Lease are by its holder's clock. They are never compared with ours: a candidate only watches whether
 * they change, and counts the time without a change by its own clock. A leader whose renewals fail ends its term when
 * two thirds have passed since the last that worked; the last third is for the work to end, and for clocks that run
 * unevenly. Our own name in the Lease proves nothing, as another process may have it; only our last write does.
 */
export async function lead(options: LeadOptions, leader: Leader, signal: AbortSignal): Promise<void> {
  const { clock, random } = options;
  const look = candidate(options, leader);
  while (!signal.aborted) {
    const held = await look();
    if (held && !signal.aborted) await term(options, leader, held, signal);
    else if (held) await within(options, release(options, leader, held));
    const wait = backoff({ first: every(options), longest: every(options) }, 1, random);
    await clock.sleep(wait, signal);
  }
}

const durationOf = ({ duration = 15_000 }: LeadOptions): number => Math.max(1_000, duration);
const every = (options: LeadOptions): number => durationOf(options) / 7;
const longestWithout = (options: LeadOptions): number => (durationOf(options) * 2) / 3;

/** A function that looks at the Lease once and takes it if it may. */
function candidate(options: LeadOptions, leader: Leader): () => Promise<Held | undefined> {
  const { kube, clock, namespace, name } = options;
  let seen = { mark: '', at: 0 };
  return async () => {
    const found = await kube.get(leases, { namespace, name });
    const since = clock.now();
    if (!found.ok && found.problem.code !== 'missing') return void leader.trouble?.(found.problem);
    if (!found.ok) return taken(await kube.create(leases, claim(options)), since, leader);
    const { spec = {} } = found.value;
    const mark = markOf(found.value);
    // Counted from after the answer: an answer that took long must not make the holder look older than it is.
    if (mark !== seen.mark) seen = { mark, at: since };
    const theirs = (spec.leaseDurationSeconds ?? durationOf(options) / 1000) * 1000;
    if (spec.holderIdentity && since - seen.at < theirs) return undefined;
    return taken(await kube.replace(leases, claim(options, found.value)), since, leader);
  };
}

/** That another was faster is no trouble. */
function taken(written: KubeResult<Lease>, since: number, leader: Leader): Held | undefined {
  if (written.ok) return own(written.value, since);
  const { code } = written.problem;
  if (code !== 'conflict' && code !== 'exists') leader.trouble?.(written.problem);
  return undefined;
}

const own = (lease: Lease, since: number): Held => ({ lease, since, ours: new Map([[markOf(lease), since]]) });

/** The Lease with us as its holder, for the first time or after `from`. */
function claim(options: LeadOptions, from?: Lease): Lease {
  const { namespace, name, identity, clock } = options;
  const now = micros(clock.now());
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: from?.metadata ?? { namespace, name },
    spec: {
      ...from?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.round(durationOf(options) / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: from ? (from.spec?.leaseTransitions ?? 0) + 1 : 0,
    },
  };
}

/** One term: the work runs, and the lease is renewed until the work has ended; then it is given back if still ours. */
async function term(options: LeadOptions, leader: Leader, first: Held, parent: AbortSignal): Promise<void> {
  const { clock } = options;
  // Aborts when renewals stay away, whatever a call may still be waiting for.
  const guard = idleGuard(clock, { idle: () => longestWithout(options), parent, since: first.since });
  const ended = new AbortController();
  let held: Held | undefined = first;
  const renew = async () => {
    while (held && !ended.signal.aborted) {
      await clock.sleep(every(options), ended.signal);
      if (ended.signal.aborted) return;
      held = await renewed(options, leader, held);
      if (held) guard.heard(held.since);
      else guard.end();
    }
  };
  const renewing = renew();
  try {
    await leader.started(guard.signal);
    await untilAborted(guard.signal);
  } finally {
    guard.end();
    await leader.stopped();
    // Until here the renewals went on, so nobody else has begun. A call that hangs must not hold up the end: then the
    // lease runs out by itself.
    ended.abort();
    await within(options, renewing);
    if (held) await within(options, release(options, leader, held));
  }
}

/** The lease as renewed; as before when that failed for now; undefined when it is another's. */
async function renewed(options: LeadOptions, leader: Leader, held: Held): Promise<Held | undefined> {
  const { kube, clock, namespace, name } = options;
  const since = clock.now();
  const lease = { ...held.lease, spec: { ...held.lease.spec, renewTime: micros(since) } };
  const written = await kube.replace(leases, lease);
  if (written.ok) return own(written.value, since);
  leader.trouble?.(written.problem);
  if (written.problem.code === 'missing') return undefined;
  const ours = new Map(held.ours).set(markOf(lease), since);
  if (written.problem.code !== 'conflict') return { ...held, ours };
  // It may still be ours: a label was edited, or an earlier write was done though its answer was lost.
  const found = await kube.get(leases, { namespace, name });
  if (!found.ok) return found.problem.code === 'missing' ? undefined : { ...held, ours };
  const wrote = ours.get(markOf(found.value));
  return wrote === undefined ? undefined : { lease: found.value, since: wrote, ours };
}

async function release({ kube, clock }: LeadOptions, leader: Leader, { lease }: Held): Promise<void> {
  const spec = { ...lease.spec, holderIdentity: '', renewTime: micros(clock.now()), leaseDurationSeconds: 1 };
  const written = await kube.replace(leases, { ...lease, spec });
  // Taken by another meanwhile: then there is nothing to give back.
  if (!written.ok && written.problem.code !== 'conflict') leader.trouble?.(written.problem);
}

/** Differs after each write by whoever holds the lease. */
const markOf = ({ spec = {} }: Lease): string => [spec.holderIdentity, spec.renewTime, spec.leaseTransitions].join(' ');

async function within(options: LeadOptions, work: Promise<void>): Promise<void> {
  const stop = new AbortController();
  await Promise.race([work, options.clock.sleep(every(options), stop.signal)]);
  stop.abort();
}
