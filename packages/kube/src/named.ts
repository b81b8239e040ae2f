// Live copies of single objects, each watched by its name: for what may be read by name only, such as Secrets.
import { untilAborted } from './clock.ts';
import type { Kube, KubeProblem, Name, WatchSink } from './kube.ts';
import type { Kind, KubeObject } from './object.ts';

/** What is known of an object. `hidden`: it could not be looked for, and was never seen before. */
export type Seen<T> =
  | { state: 'unknown' }
  | { state: 'here'; object: T }
  | { state: 'absent' }
  | { state: 'hidden'; problem: KubeProblem };

export interface NamedStore<T extends KubeObject> {
  /** Looks at the object from now on; the answer stops that. Many may follow one object, and it is watched once. */
  follow(at: Name): () => void;
  /** What is not followed is unknown. */
  see(at: Name): Seen<T>;
  /** Calls back when there is something else to see. Returns the way to stop. */
  listen(listener: (at: Name) => void): () => void;
  /** Watches until `signal` aborts. What was seen stays readable afterwards. */
  run(signal: AbortSignal): Promise<void>;
}

interface Followed<T> {
  at: Name;
  count: number;
  seen: Seen<T>;
  stop: AbortController;
}

/**
 * What one object goes through, as its watch tells:
 *
 *   unknown --> here <--> absent         nothing is told twice
 *      |  ^      ^         ^
 *      |  '------|---------|---- nobody follows it any longer
 *      v         |         |
 *    hidden -----'---------'     once seen, trouble with the watch hides nothing
 */
export function namedStore<T extends KubeObject>(kube: Pick<Kube, 'watch'>, kind: Kind<T>): NamedStore<T> {
  const followed = new Map<string, Followed<T>>();
  const listeners = new Set<(at: Name) => void>();
  const runs = new Set<Promise<void>>();
  let running: AbortSignal | undefined;

  const note = (one: Followed<T>, seen: Seen<T>): void => {
    if (one.stop.signal.aborted || isSame(one.seen, seen)) return;
    one.seen = seen;
    for (const listener of listeners) listener(one.at);
  };

  const begin = (one: Followed<T>, until: AbortSignal): void => {
    const { namespace, name } = one.at;
    const sink = sinkOf<T>(
      () => one.seen,
      (seen) => note(one, seen),
    );
    const signal = AbortSignal.any([until, one.stop.signal]);
    // With the name as a field selector, a role may allow the watch for this name alone (resourceNames).
    const run = kube.watch(kind, { namespace, fieldSelector: `metadata.name=${name}` }, sink, signal);
    const done = run.finally(() => runs.delete(done));
    runs.add(done);
  };

  return {
    follow(at) {
      const id = idOf(at);
      const one = followed.get(id) ?? {
        at,
        count: 0,
        seen: { state: 'unknown' as const },
        stop: new AbortController(),
      };
      one.count += 1;
      if (!followed.has(id)) {
        followed.set(id, one);
        if (running) begin(one, running);
      }
      let isOurs = true;
      return () => {
        if (!isOurs) return;
        isOurs = false;
        one.count -= 1;
        if (one.count > 0) return;
        followed.delete(id);
        one.stop.abort();
      };
    },
    see: (at) => followed.get(idOf(at))?.seen ?? { state: 'unknown' },
    listen(listener) {
      const own = (at: Name) => listener(at);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async run(signal) {
      if (running) throw new Error(`bug: the named store of ${kind.plural} runs already`);
      running = signal;
      for (const one of followed.values()) begin(one, signal);
      await untilAborted(signal);
      await Promise.all(runs);
    },
  };
}

/** What a watch of one object tells, as what is seen of it. */
const sinkOf = <T extends KubeObject>(before: () => Seen<T>, note: (seen: Seen<T>) => void): WatchSink<T> => ({
  replace: ([object]) => note(object ? { state: 'here', object } : { state: 'absent' }),
  put: (object) => note({ state: 'here', object }),
  remove: () => note({ state: 'absent' }),
  trouble(problem) {
    const wasSeen = before().state === 'here' || before().state === 'absent';
    if (problem && !wasSeen) note({ state: 'hidden', problem });
  },
});

const idOf = ({ namespace = '', name }: Name): string => `${namespace}/${name}`;

function isSame<T extends KubeObject>(a: Seen<T>, b: Seen<T>): boolean {
  if (a.state === 'here' && b.state === 'here')
    return a.object.metadata.uid === b.object.metadata.uid && versionOf(a.object) === versionOf(b.object);
  return a.state === b.state && a.state !== 'hidden';
}

const versionOf = ({ metadata }: KubeObject): string | undefined => metadata.resourceVersion;
