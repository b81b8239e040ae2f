// A map from a key to a set of values, which forgets keys that have none.

export interface Multimap<V> {
  add(key: string, value: V): void;
  remove(key: string, value: V): void;
  get(key: string): ReadonlySet<V>;
}

export function multimap<V>(): Multimap<V> {
  const sets = new Map<string, Set<V>>();
  const none: ReadonlySet<V> = new Set();
  return {
    add(key, value) {
      const set = sets.get(key);
      if (set) set.add(value);
      else sets.set(key, new Set([value]));
    },
    remove(key, value) {
      const set = sets.get(key);
      set?.delete(value);
      if (set?.size === 0) sets.delete(key);
    },
    get: (key) => sets.get(key) ?? none,
  };
}
