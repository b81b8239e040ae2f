// What one watcher has seen: where to resume, and the initial list while it streams in. Tells the sink.
import type { KubeProblem, Trouble, WatchOptions, WatchSink } from './kube.ts';
import type { Kind, KubeObject } from './object.ts';
import type { WatchEvent } from './stream.ts';

export interface Watched<T extends KubeObject> {
  kind: Kind<T>;
  options: WatchOptions<T>;
  sink: WatchSink<T>;
}

export interface Receiver<T extends KubeObject> {
  /** The resourceVersion to resume from; undefined: a list is needed. */
  readonly at: string | undefined;
  /** Is the initial list streaming in, its end not yet seen? */
  readonly isInitial: boolean;
  /** A stream opens: from `at`, or with the initial list. */
  opening(): void;
  event(event: WatchEvent<T>): void;
  /** A list read in pages, projected already. */
  whole(items: T[], resourceVersion: string): void;
  /** `at` is of no use any more. What the sink holds stays as it is. */
  lost(): void;
  trouble(problem: KubeProblem | undefined): void;
}

/** On a stream's bookmark: the initial list ends here. */
const initialEnd = 'k8s.io/initial-events-end';

export function receiver<T extends KubeObject>(
  { kind, options, sink }: Watched<T>,
  report: (trouble: Trouble) => void,
): Receiver<T> {
  const doing = `watch ${kind.plural}${options.namespace ? ` in ${options.namespace}` : ''}`;
  const project = options.project ?? ((object: T) => object);
  let at: string | undefined;
  let initial: Map<string, T> | undefined;

  // A listener's bug is the listener's: reported, and the stream goes on.
  const tell = (what: () => void) => {
    try {
      what();
    } catch (bug) {
      report({ doing, bug });
    }
  };

  const whole = (items: T[], resourceVersion: string) => {
    at = resourceVersion;
    initial = undefined;
    tell(() => sink.replace(items));
    tell(() => sink.trouble(undefined));
  };

  // The list is alive while it streams in: an object may change, or go, before the end of it.
  const gather = (items: Map<string, T>, { type, object }: WatchEvent<T>) => {
    const { namespace = '', name, annotations, resourceVersion = '' } = object.metadata;
    if (type === 'DELETED') items.delete(`${namespace}/${name}`);
    else if (type !== 'BOOKMARK') items.set(`${namespace}/${name}`, project(object));
    else if (annotations?.[initialEnd] === 'true') whole([...items.values()], resourceVersion);
  };

  return {
    get at() {
      return at;
    },
    get isInitial() {
      return initial !== undefined;
    },
    opening: () => (initial = at === undefined ? new Map() : undefined),
    event(event) {
      if (initial) return gather(initial, event);
      at = event.object.metadata.resourceVersion;
      if (event.type === 'BOOKMARK') return;
      const object = project(event.object);
      tell(() => (event.type === 'DELETED' ? sink.remove(object) : sink.put(object)));
    },
    whole,
    lost: () => (at = undefined),
    trouble(problem) {
      if (problem) report({ doing, problem });
      tell(() => sink.trouble(problem));
    },
  };
}
