// A store that shows what we wrote ourselves at once, though the watch brings it later.
import type { KubeObject, Name, Store } from '@fairlead/kube';

/** Without this a turn soon after a write would act on the state before it: file twice, or write what is there already. */
export interface Fresh<T extends KubeObject> {
  read(at: Name): T | undefined;
  /** `object` is the answer to a write of ours, which was made over version `over` of it. */
  wrote(object: T, over: string | undefined): void;
  /** Is it our last write, as the watch brings it back? Known until the next `read` of it. */
  isEcho(object: T): boolean;
  /** Has the store itself seen our last write, and so all that others wrote before it? */
  isShown(at: Name): boolean;
}

interface Written<T> {
  object: T;
  /** Versions that ours replaced: while the store shows one of them, it is behind. */
  replaced: Set<string | undefined>;
}

export function fresh<T extends KubeObject>(store: Pick<Store<T>, 'get'>): Fresh<T> {
  const written = new Map<string, Written<T>>();
  const keyOf = ({ namespace = '', name }: Name) => `${namespace}/${name}`;
  const behind = (at: Name): Written<T> | undefined => {
    const ours = written.get(keyOf(at));
    if (ours?.replaced.has(store.get(at)?.metadata.resourceVersion)) return ours;
    written.delete(keyOf(at));
    return undefined;
  };
  return {
    read: (at) => behind(at)?.object ?? store.get(at),
    wrote(object, over) {
      const before = behind(object.metadata);
      if (before) before.replaced.add(over);
      const replaced = before?.replaced ?? new Set([over]);
      if (
        object.metadata.resourceVersion !== over &&
        replaced.has(store.get(object.metadata)?.metadata.resourceVersion)
      )
        written.set(keyOf(object.metadata), { object, replaced });
    },
    isEcho: ({ metadata }) =>
      written.get(keyOf(metadata))?.object.metadata.resourceVersion === metadata.resourceVersion,
    isShown: (at) => behind(at) === undefined,
  };
}
