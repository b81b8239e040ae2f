// Objects by namespace and name, and by indexes; each look-up takes the same time however many there are.
import type { Name } from './kube.ts';
import type { KubeObject } from './object.ts';

type Keys<T> = (object: T) => readonly string[];
/** Key of the index, then id of the object. */
type Index<T> = Map<string, Map<string, T>>;

export interface Table<T> {
  get(at: Name): T | undefined;
  all(): Iterable<T>;
  inNamespace(namespace: string): Iterable<T>;
  by(index: string, key: string): Iterable<T>;
  /** Gives what was there and what is there now. */
  put(object: T): { before: T | undefined; after: T };
  /** Gives what was there. */
  remove(object: T): T | undefined;
  /** Makes `items` the whole content. Gives a pair for each name that is in either. */
  replace(items: readonly T[]): { before: T | undefined; after: T | undefined }[];
}

// Neither part can hold a slash, so no two objects share an id.
const idOf = ({ namespace = '', name }: Name) => `${namespace}/${name}`;

export function table<T extends KubeObject>(indexes: Record<string, Keys<T>>): Table<T> {
  const objects = new Map<string, T>();
  const byNamespace = indexed<T>((object) => [object.metadata.namespace ?? '']);
  const named = new Map(Object.entries(indexes).map(([name, keys]) => [name, indexed<T>(keys)]));
  const every = [byNamespace, ...named.values()];

  const take = (id: string): T | undefined => {
    const before = objects.get(id);
    if (before === undefined) return undefined;
    objects.delete(id);
    for (const index of every) index.remove(id, before);
    return before;
  };
  const put = (object: T) => {
    const id = idOf(object.metadata);
    const before = take(id);
    objects.set(id, object);
    for (const index of every) index.add(id, object);
    return { before, after: object };
  };

  return {
    get: (at) => objects.get(idOf(at)),
    all: () => objects.values(),
    inNamespace: (namespace) => byNamespace.at(namespace),
    by(name, key) {
      const index = named.get(name);
      if (!index) throw new Error(`bug: no index "${name}" was asked for when the store was made`);
      return index.at(key);
    },
    put,
    remove: (object) => take(idOf(object.metadata)),
    replace(items) {
      const kept = new Set(items.map((item) => idOf(item.metadata)));
      const lost = [...objects.keys()].filter((id) => !kept.has(id));
      const gone = lost.map((id) => ({ before: take(id), after: undefined }));
      return [...gone, ...items.map(put)];
    },
  };
}

function indexed<T>(keys: Keys<T>) {
  const index: Index<T> = new Map();
  return {
    at: (key: string): Iterable<T> => index.get(key)?.values() ?? [],
    add(id: string, object: T) {
      for (const key of keys(object)) {
        const found = index.get(key);
        if (found) found.set(id, object);
        else index.set(key, new Map([[id, object]]));
      }
    },
    remove(id: string, object: T) {
      for (const key of keys(object)) {
        const found = index.get(key);
        found?.delete(id);
        if (found?.size === 0) index.delete(key);
      }
    },
  };
}
