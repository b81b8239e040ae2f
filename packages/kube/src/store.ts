// A live copy of one kind: what a watch tells, kept by name, by namespace and by index, and passed on as changes.
import type { Change, Kube, KubeProblem, Name, Store, WatchOptions, WatchSink } from './kube.ts';
import type { Kind, KubeObject } from './object.ts';
import { table } from './table.ts';

export interface StoreOptions<T extends KubeObject> extends WatchOptions<T> {
  /** For `by`: the keys under which an object is found. Pure; asked again when the object leaves. */
  indexes?: Record<string, (object: T) => string[]> | undefined;
}

export interface LiveStore<T extends KubeObject> extends Store<T> {
  /** Why the copy cannot be kept up to date now; undefined while it is. */
  readonly problem: KubeProblem | undefined;
  /** Fills and follows until `signal` aborts. What was read stays readable afterwards. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 *   the watch says        | the copy holds       | listeners hear
 *   ----------------------+----------------------+--------------------------------------
 *   put                   | nothing              | added
 *   put                   | same resourceVersion | nothing
 *   put                   | same uid             | changed, with before
 *   put                   | another uid          | deleted (the old), then added: we missed the delete
 *   remove                | something            | deleted, with its last state as before
 *   remove                | nothing              | nothing
 *   a whole list without x| x                    | deleted
 *
 * Listeners are called when the copy and its indexes hold the new state already.
 */
export function store<T extends KubeObject>(kube: Kube, kind: Kind<T>, options: StoreOptions<T> = {}): LiveStore<T> {
  const { indexes, ...watchOptions } = options;
  const objects = table<T>(indexes ?? {});
  const listeners = new Set<(change: Change<T>) => void>();
  const waiting = new Set<() => void>();
  let [synced, running] = [false, false];
  let problem: KubeProblem | undefined;

  const sink: WatchSink<T> = {
    replace(items) {
      const pairs = objects.replace(items);
      synced = true;
      for (const wake of waiting) wake();
      notify(listeners, kind, pairs);
    },
    put: (object) => notify(listeners, kind, [objects.put(object)]),
    remove: (object) => notify(listeners, kind, [{ before: objects.remove(object), after: undefined }]),
    trouble: (trouble) => (problem = trouble),
  };

  return {
    kind,
    get synced() {
      return synced;
    },
    get problem() {
      return problem;
    },
    get: (at: Name) => objects.get(at),
    all: () => objects.all(),
    inNamespace: (namespace) => objects.inNamespace(namespace),
    by: (index, key) => objects.by(index, key),
    listen(listener) {
      // Wrapped, so that a function given twice is two listeners and each stops by itself.
      const own = (change: Change<T>) => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    ready(signal) {
      if (synced || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
      });
    },
    async run(signal) {
      if (running) throw new Error(`bug: the store of ${kind.plural} runs already`);
      running = true;
      await kube.watch(kind, watchOptions, sink, signal).finally(() => (running = false));
    },
  };
}

interface Pair<T> {
  before: T | undefined;
  after: T | undefined;
}

/** Tells every listener of every change, and only then throws what any of them threw. */
function notify<T extends KubeObject>(
  listeners: Set<(change: Change<T>) => void>,
  kind: Kind<T>,
  pairs: Pair<T>[],
): void {
  const bugs: unknown[] = [];
  const tell = (listener: (change: Change<T>) => void, change: Change<T>) => {
    try {
      // One before it may have stopped it.
      if (listeners.has(listener)) listener(change);
    } catch (bug) {
      bugs.push(bug);
    }
  };
  // Who begins to listen in the middle hears of later changes only.
  const present = [...listeners];
  for (const change of pairs.flatMap((pair) => changes(kind, pair))) for (const one of present) tell(one, change);
  if (bugs.length === 1) throw bugs[0];
  if (bugs.length > 1) throw new AggregateError(bugs, `bug: ${bugs.length} listeners of ${kind.plural} threw`);
}

function changes<T extends KubeObject>(kind: Kind<T>, { before, after }: Pair<T>): Change<T>[] {
  if (!before && !after) return [];
  if (!before || !after) return [{ kind, before, after }];
  const { uid, resourceVersion } = before.metadata;
  if (uid !== after.metadata.uid)
    return [
      { kind, before, after: undefined },
      { kind, before: undefined, after },
    ];
  if (resourceVersion !== undefined && resourceVersion === after.metadata.resourceVersion) return [];
  return [{ kind, before, after }];
}
