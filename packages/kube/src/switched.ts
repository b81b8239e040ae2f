// A client whose server address or credentials may be exchanged while others hold it: watches go over, stores stay.
import type { Kube, KubeProblem, WatchSink } from './kube.ts';
import type { KubeObject } from './object.ts';

export interface SwitchedOptions {
  /**
   * Is this still the server it was? Asked before a whole list is passed on: of another server, or of one that was
   * restored empty, the list would say that everything is gone.
   */
  isSame(kube: Kube): Promise<boolean>;
  /** A watch cannot see, or can again. */
  trouble?(problem: KubeProblem | undefined): void;
  /** A listener threw: told here, and the stream goes on. */
  onBug(bug: unknown): void;
}

export interface Switched {
  /** Stays the same object whatever is behind it. */
  readonly kube: Kube;
  /** The client that calls go to now. */
  readonly current: Kube;
  /** From now on calls go to `next`; watches begin anew there, and their lists tell only what differs. */
  use(next: Kube): void;
}

interface Behind {
  kube: Kube;
  over: AbortController;
}

/**
 * The life of one watch:
 *
 *             a whole list        it is the same server
 *   watching --------------> asking ------------------> passes on what waited, and then all that comes
 *      ^                       | it is not
 *      | use(next)             v
 *      '-------------------- deaf: the copy stays as it was
 */
export function switched(first: Kube, options: SwitchedOptions): Switched {
  let behind: Behind = { kube: first, over: new AbortController() };
  const kube: Kube = {
    get server() {
      return behind.kube.server;
    },
    get: (kind, at) => behind.kube.get(kind, at),
    list: (kind, asked) => behind.kube.list(kind, asked),
    create: (kind, object, how) => behind.kube.create(kind, object, how),
    replace: (kind, object, how) => behind.kube.replace(kind, object, how),
    patch: (kind, at, patch, how) => behind.kube.patch(kind, at, patch, how),
    apply: (kind, object, how) => behind.kube.apply(kind, object, how),
    remove: (kind, at, how) => behind.kube.remove(kind, at, how),
    raw: (method, path, body) => behind.kube.raw(method, path, body),
    async watch(kind, asked, sink, signal) {
      while (!signal.aborted) {
        const { kube: client, over } = behind;
        const ends = AbortSignal.any([signal, over.signal]);
        await client.watch(kind, asked, gated(client, sink, { ...options, ends }), ends);
      }
    },
  };
  return {
    kube,
    get current() {
      return behind.kube;
    },
    use(next) {
      const { over } = behind;
      behind = { kube: next, over: new AbortController() };
      over.abort();
    },
  };
}

/** `sink`, behind the question whether the server is the same. */
function gated<T extends KubeObject>(
  client: Kube,
  sink: WatchSink<T>,
  { isSame, trouble, onBug, ends }: SwitchedOptions & { ends: AbortSignal },
): WatchSink<T> {
  let waiting: (() => void)[] | undefined;
  let isDeaf = false;
  const tell = (what: () => void): void => {
    try {
      if (!ends.aborted) what();
    } catch (bug) {
      onBug(bug);
    }
  };
  const pass = (what: () => void): void => {
    if (waiting) waiting.push(what);
    else if (!isDeaf) tell(what);
  };
  const ask = async (): Promise<void> => {
    isDeaf = !(await isSame(client));
    const held = waiting ?? [];
    waiting = undefined;
    for (const what of isDeaf ? [] : held) tell(what);
  };
  return {
    replace(items) {
      const isAsking = waiting !== undefined;
      waiting ??= [];
      waiting.push(() => sink.replace(items));
      if (!isAsking) void ask();
    },
    put: (object) => pass(() => sink.put(object)),
    remove: (object) => pass(() => sink.remove(object)),
    trouble(problem) {
      pass(() => sink.trouble(problem));
      trouble?.(problem);
    },
  };
}
