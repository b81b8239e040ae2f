// A cluster that is connected: its client, which may be exchanged, and the copies that are kept of it.
import type { Clock } from '@fairlead/core';
import { switched, type Kube, type KubeProblem, type Switched } from '@fairlead/kube';
import { identityOf } from './identity.ts';

export interface Opened {
  kube: Kube;
  close(): Promise<void>;
}

/** What somebody keeps of a cluster. */
export interface Copies {
  stores: Readonly<Record<string, { readonly problem: KubeProblem | undefined }>>;
  /** Keeps them up to date until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export type MakeCopies<C extends Copies> = (name: string, kube: Kube, clock: Clock) => C;

export interface LinkOptions<C extends Copies> {
  name: string;
  copies: MakeCopies<C>;
  clock: Clock;
  opened: Opened;
  /** UID of the namespace kube-system. */
  uid: string;
  /** The kubeconfig it was opened by. */
  text: string | undefined;
  /** Something may be wrong: a look is due. */
  doubt(): void;
  onBug(bug: unknown): void;
}

export interface Link<C extends Copies> {
  readonly uid: string;
  readonly text: string | undefined;
  readonly target: C;
  /** The client of now, unwrapped. */
  readonly current: Kube;
  /** What the copies cannot see; undefined while all are up to date. */
  readonly problem: KubeProblem | undefined;
  /** A list was withheld, because another server seemed to answer. */
  readonly isDeaf: boolean;
  /** Goes over to a new client of the same cluster. */
  use(opened: Opened, text: string | undefined): void;
  /** Lists anew: after an outage, that is sooner than waiting for each watch to try again. */
  refresh(): void;
  end(): Promise<void>;
}

export function link<C extends Copies>(options: LinkOptions<C>): Link<C> {
  const { name, copies, clock, doubt, onBug, uid, ...first } = options;
  let { opened, text } = first;
  let isDeaf = false;
  const client: Switched = switched(opened.kube, {
    async isSame(kube) {
      const found = await identityOf(kube, clock);
      const isSame = found.ok && found.value === uid;
      if (isSame) return true;
      isDeaf = true;
      doubt();
      return false;
    },
    trouble: (problem) => problem && doubt(),
    onBug,
  });
  const target = copies(name, client.kube, clock);
  const stop = new AbortController();
  const run = target.run(stop.signal);
  const refresh = (): void => {
    isDeaf = false;
    client.use(opened.kube);
  };
  return {
    uid,
    target,
    refresh,
    get text() {
      return text;
    },
    get current() {
      return client.current;
    },
    get problem() {
      return Object.values(target.stores).find((one) => one.problem)?.problem;
    },
    get isDeaf() {
      return isDeaf;
    },
    use(next, nextText) {
      const before = opened;
      [opened, text] = [next, nextText];
      refresh();
      // Calls that are under way end first, and nobody waits for that.
      if (before !== next) void before.close();
    },
    async end() {
      stop.abort();
      await run;
      await opened.close();
    },
  };
}
