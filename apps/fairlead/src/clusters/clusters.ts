// The target clusters: they come from the command line and from Secrets, and come and go while the program runs.
import { fail, problems, type Clock, type Problem, type ProblemCode, type Result } from '@fairlead/core';
import { backoff, queue, type Backoff, type Queue } from '@fairlead/engine';
import {
  recorder,
  secrets,
  store,
  type Kube,
  type LiveStore,
  type Recorder,
  type Secret,
  type Told,
} from '@fairlead/kube';
import type { Outage } from '@fairlead/tickets';
import type { Log } from '../log.ts';
import { targetCluster, type TargetCluster } from '../target-cluster.ts';
import { clustersLabel, entriesOf, type Entry } from './entries.ts';
import { identityOf } from './identity.ts';
import { link, type Copies, type Link, type MakeCopies, type Opened } from './link.ts';

export interface ClustersOptions {
  management: Kube;
  /** Clusters of the command line, by name. */
  fixed: ReadonlyMap<string, Kube>;
  /** Namespace of the Secrets. */
  namespace: string;
  /** A client for the kubeconfig of an entry; its calls end with `signal`. */
  open(text: string, from: string, signal: AbortSignal): Promise<Result<Opened>>;
  clock: Clock;
  random: () => number;
  log: Log;
}

export interface RegistryOptions<C extends Copies> extends ClustersOptions {
  copies: MakeCopies<C>;
  /** Tells Events of the Secrets. Of all who follow the same clusters one is to. */
  tellsEvents: boolean;
}

export interface Clusters<C extends Copies = TargetCluster> {
  /** From when it was first reached until it is removed; also while it does not answer. */
  get(name: string): C | undefined;
  /** Undefined while it can be worked with, or is being tried for the first time. */
  outage(name: string): Outage | undefined;
  /** All that are wanted, and whether they can be worked with. */
  states(): { name: string; from: string; isReachable: boolean }[];
  /** Calls back with the name of each that came, went, or is told of differently; without one for all that are unknown. */
  listen(listener: (name?: string) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between looks at a cluster that answers, and at one that does not. */
const looks = { well: 15_000, away: 5_000 };
/** Between looks at what only somebody's edit can mend; the edit itself is looked at at once. Milliseconds. */
const slow = 60_000;
/** How long an entry waits at the start for older ones, so that of two with one API server the older has it. Milliseconds. */
const courtesy = 1_000;

interface State<C extends Copies> {
  entry: Entry;
  link?: Link<C> | undefined;
  outage?: Outage | undefined;
  /** What is wrong with a new kubeconfig while the old one goes on working. */
  complaint?: string | undefined;
  /** Could a copy not be kept up to date at the last look? */
  blind: boolean;
  /** Did it give no answer at the last look? */
  silent: boolean;
  tried: boolean;
}

/** With copies of all that controllers read. */
export const clusters = (options: ClustersOptions): Clusters =>
  registry({ ...options, copies: targetCluster, tellsEvents: true });

export const registry = <C extends Copies>(options: RegistryOptions<C>): Clusters<C> => new Registry(options);

/**
 * The life of a cluster:
 *
 *              kube-system's UID read, nobody else's      no answer, or a copy cannot be kept
 *   wanted ------------------------------------> connected ----------------------------> away
 *      |  ^                                       ^ |  ^ '--- another server answers ------^ |
 *      |  | edited, or in time                    | |  '----------- answers again ----------'
 *      v  |                                       | | new kubeconfig: tried beside the old one
 *    refused: kubeconfig, twin                    '-' and used if it leads to the same cluster
 *
 *   removed: its copies are let go; what it has on devices stays, because nobody is left who answers for it.
 */
class Registry<C extends Copies> implements Clusters<C> {
  readonly #options: RegistryOptions<C>;
  readonly #secrets: LiveStore<Secret>;
  readonly #states = new Map<string, State<C>>();
  /** Names that were wanted once, and since when they are not. Milliseconds since the epoch. */
  readonly #gone = new Map<string, number>();
  readonly #listeners = new Set<(name?: string) => void>();
  readonly #queue: Queue<string>;
  readonly #pauses: Backoff<string>;
  readonly #tell: (entry: Entry, told: Told) => void;
  /** By Secret and key, why it was refused. */
  readonly #refused = new Map<string, string>();
  readonly #ending = new Set<Promise<void>>();
  readonly #begun: number;

  constructor(options: RegistryOptions<C>) {
    const { management, namespace, clock, random, log, tellsEvents } = options;
    this.#options = options;
    this.#begun = clock.now();
    this.#secrets = store(management, secrets, { namespace, labelSelector: clustersLabel });
    this.#pauses = backoff<string>({ random, first: 2_000, most: 30_000 });
    this.#queue = queue<string>(clock, {
      parallel: 32,
      onBug: (error, name) => log.bug(error, `cluster ${name}`),
    });
    const events = recorder({ kube: management, clock, component: 'fairlead-clusters' });
    this.#tell = tellsEvents ? teller(events, log) : () => undefined;
    this.#read();
  }

  get(name: string): C | undefined {
    return this.#states.get(name)?.link?.target;
  }

  outage(name: string): Outage | undefined {
    const state = this.#states.get(name);
    if (state) return state.outage;
    if (!this.#secrets.synced) return undefined;
    const { namespace } = this.#options;
    const why = `it is not registered: fairlead cluster add ${name} --kubeconfig FILE, or a Secret in ${namespace} with the label ${clustersLabel} and the key ${name}`;
    return { problem: fail('missing', why).problem, since: this.#gone.get(name) ?? this.#begun };
  }

  states(): ReturnType<Clusters<C>['states']> {
    return [...this.#states.values()].map(({ entry, link: made, outage }) => ({
      name: entry.name,
      from: entry.from,
      isReachable: made !== undefined && outage === undefined,
    }));
  }

  listen(listener: (name?: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#secrets.listen(() => this.#read());
    void this.#secrets.ready(signal).then(() => {
      // Until here a name that is not there was late; from now on it is missing.
      for (const listener of this.#listeners) listener();
    });
    await Promise.all([this.#secrets.run(signal), this.#queue.run((name, stop) => this.#turn(name, stop), signal)]);
    stop();
    for (const { link: made } of this.#states.values()) if (made) this.#end(made);
    await Promise.all(this.#ending);
  }

  #read(): void {
    const { wanted, refused } = entriesOf(this.#options.fixed.keys(), this.#secrets.all());
    for (const [name, entry] of wanted) {
      const state = this.#states.get(name);
      if (state) state.entry = entry;
      else this.#states.set(name, { entry, blind: false, silent: false, tried: false });
      if (!state || state.link === undefined || state.link.text !== entry.text) this.#queue.add(name);
    }
    for (const name of this.#states.keys()) if (!wanted.has(name)) this.#remove(name);
    for (const { entry, why } of refused) this.#refuse(entry, why);
  }

  #refuse(entry: Entry, why: string): void {
    if (this.#refused.get(entry.from) === why) return;
    this.#refused.set(entry.from, why);
    this.#options.log.warn(`${entry.from}: ${why}`);
    this.#tell(entry, { type: 'Warning', reason: 'ClusterRefused', message: `${entry.name}: ${why}` });
  }

  #remove(name: string): void {
    const state = this.#states.get(name);
    this.#states.delete(name);
    this.#gone.set(name, this.#options.clock.now());
    this.#queue.drop(name);
    this.#pauses.reset(name);
    this.#options.log.info(`cluster ${name} is removed; what it has on devices stays there`);
    // Whoever serves it lets go first, and then the copies end.
    this.#changed(name);
    if (state?.link) this.#end(state.link);
    // A twin of it may be let in now.
    for (const [other, { link: made }] of this.#states) if (!made) this.#queue.add(other);
  }

  #end(made: Link<C>): void {
    const ended = made.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #changed(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }

  async #turn(name: string, signal: AbortSignal): Promise<void> {
    const state = this.#states.get(name);
    if (!state) return;
    const isNew = state.link === undefined || state.link.text !== state.entry.text;
    const next = isNew ? await this.#connect(state, signal) : await this.#look(state);
    state.tried = true;
    if (this.#states.get(name) === state) this.#queue.add(name, next);
  }

  /** Gives the milliseconds until the next look. */
  async #connect(state: State<C>, signal: AbortSignal): Promise<number> {
    const { entry } = state;
    const opened = await this.#open(entry, signal);
    const uid = opened.ok ? await identityOf(opened.value.kube, this.#options.clock) : opened;
    if (uid.ok) await this.#olderFirst(state);
    // Edited or removed meanwhile: another turn is due, or none.
    const isStale = state.entry !== entry || this.#states.get(entry.name) !== state;
    const why = uid.ok ? this.#unfit(state, uid.value) : uid.problem;
    if (!opened.ok || !uid.ok || why || isStale) {
      if (opened.ok) void opened.value.close();
      return isStale || !why ? 0 : this.#connectFailed(state, why);
    }
    this.#pauses.reset(entry.name);
    state.complaint = undefined;
    if (state.link) state.link.use(opened.value, entry.text);
    else state.link = this.#link(entry, opened.value, uid.value);
    const message = `${entry.name} is connected: ${opened.value.kube.server}, kube-system ${uid.value}`;
    this.#options.log.info(`cluster ${message}`);
    this.#tell(entry, { type: 'Normal', reason: 'ClusterConnected', message });
    state.outage = undefined;
    this.#changed(entry.name);
    return looks.well;
  }

  async #open({ name, text, from }: Entry, signal: AbortSignal): Promise<Result<Opened>> {
    const given = text === undefined ? this.#options.fixed.get(name) : undefined;
    const own = text === '' ? this.#options.management : given;
    if (own) return { ok: true, value: { kube: own, close: async () => undefined } };
    return this.#options.open(text ?? '', from, signal);
  }

  #link({ name, text }: Entry, opened: Opened, uid: string): Link<C> {
    const { copies, clock, log } = this.#options;
    const doubt = (): void => this.#queue.add(name);
    return link({
      name,
      copies,
      clock,
      opened,
      uid,
      text,
      doubt,
      onBug: (bug) => log.bug(bug, `watch in cluster ${name}`),
    });
  }

  /** Why it cannot be this cluster. */
  #unfit({ entry, link: made }: State<C>, uid: string): Problem | undefined {
    if (made && made.uid !== uid)
      return fail(
        'invalid',
        `its new kubeconfig leads to another cluster (kube-system ${uid}, before ${made.uid}); if that is meant, remove cluster "${entry.name}" first and then add it again`,
      ).problem;
    const twin = [...this.#states.values()].find((one) => one.entry.name !== entry.name && one.link?.uid === uid);
    if (!twin) return undefined;
    const why = `it is the same API server as cluster "${twin.entry.name}" (${twin.entry.from}; kube-system ${uid}); let Loadbalancers name "${twin.entry.name}", and take this one out`;
    return fail('taken', why).problem;
  }

  /** Waits a moment for entries before this one that were not tried yet. */
  async #olderFirst(state: State<C>): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + courtesy;
    const older = [...this.#states.values()];
    older.length = older.indexOf(state) + 1;
    while (older.some((one) => one !== state && !one.tried) && clock.now() < until) await clock.sleep(50);
  }

  async #connectFailed(state: State<C>, problem: Problem): Promise<number> {
    const { entry } = state;
    const again = problems[problem.code].retry ? this.#pauses.next(entry.name) : slow;
    if (!state.link) {
      this.#out(state, problem);
      return again;
    }
    if (state.complaint !== problem.message) {
      state.complaint = problem.message;
      const message = `${entry.name} goes on with its old kubeconfig: ${problem.message}`;
      this.#options.log.warn(`cluster ${message}`);
      this.#tell(entry, { type: 'Warning', reason: 'KubeconfigRefused', message });
    }
    // The old one has to be looked after meanwhile.
    return Math.min(await this.#look(state), again);
  }

  async #look(state: State<C>): Promise<number> {
    const { link: made } = state;
    if (!made) return 0;
    const found = await identityOf(made.current, this.#options.clock);
    if (this.#states.get(state.entry.name) !== state) return 0;
    const blind = made.problem;
    const { blind: wasBlind, silent: wasSilent } = state;
    [state.blind, state.silent] = [blind !== undefined, !found.ok];
    if (!found.ok) this.#out(state, found.problem);
    else if (found.value !== made.uid) this.#out(state, anotherServer(made.current.server, found.value, made.uid));
    else if (made.isDeaf || (wasSilent && blind)) made.refresh();
    else if (!blind) this.#back(state);
    else if (wasBlind || !problems[blind.code].retry) this.#out(state, problemOf(blind));
    return state.outage || blind ? looks.away : looks.well;
  }

  /** An outage is told by what it began with: words that change with each try would be news each time. */
  #out(state: State<C>, problem: Problem): void {
    const { entry, outage } = state;
    if (outage?.problem.code === problem.code) return;
    const since = outage?.since ?? this.#options.clock.now();
    state.outage = { problem: { code: problem.code, message: problem.message }, since };
    this.#options.log.warn(`cluster ${entry.name} (${entry.from}): ${problem.message}`);
    const reason = reasons[problem.code] ?? 'ClusterUnreachable';
    this.#tell(entry, { type: 'Warning', reason, message: `${entry.name}: ${problem.message}` });
    this.#changed(entry.name);
  }

  #back(state: State<C>): void {
    if (!state.outage) return;
    state.outage = undefined;
    this.#options.log.info(`cluster ${state.entry.name} answers again`);
    this.#tell(state.entry, {
      type: 'Normal',
      reason: 'ClusterConnected',
      message: `${state.entry.name} answers again`,
    });
    this.#changed(state.entry.name);
  }
}

const reasons: Partial<Record<ProblemCode, string>> = { invalid: 'ClusterRefused', taken: 'ClusterRefused' };

const problemOf = ({ code, message }: { code: ProblemCode; message: string }): Problem => ({ code, message });

const anotherServer = (server: string, now: string, before: string): Problem =>
  fail('invalid', `${server} is another cluster than before (kube-system ${now}, before ${before})`).problem;

/** Tells Events of Secrets; of what the command line names, the log is enough. */
function teller(events: Recorder, log: Log): (entry: Entry, told: Told) => void {
  return ({ secret }, told) => {
    if (!secret) return;
    // Lists leave out what kind their items are.
    const regarding = { ...secret, apiVersion: 'v1', kind: 'Secret' };
    void events.event(regarding, told).then((done) => {
      if (!done.ok) log.warn(`Event ${told.reason} of Secret ${secret.metadata.name}: ${done.problem.message}`);
    });
  };
}
