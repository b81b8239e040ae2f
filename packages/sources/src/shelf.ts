// What all ConfigMaps of a source say now, and the indexes that find a part of it at a cost of that part alone.
import { askerOf, type PoolRef, type Scope } from '@fairlead/core';
import { useId, type PoolUse, type Reading } from './reading.ts';
import type { Touch } from './source.ts';

export interface Shelf {
  get(asker: string): Reading | undefined;
  all(): Iterable<Reading>;
  /** Readings with something that cannot be told. */
  troubled(): Iterable<Reading>;
  /** Puts `reading` in the place of what `asker` said before, or takes that away. Returns what is to be looked at. */
  put(asker: string, reading: Reading | undefined): Touch;
  scopes(): Iterable<Scope>;
  /** Readings with something in `scope`. */
  inScope(scope: Scope): Reading[];
  /** Pools that name the Service `namespace/name`. */
  byService(name: string): Iterable<PoolUse>;
  /** Pools that name no Service and take the one with the labels `namespace/tenant/application/pool`. */
  byLabels(labels: string): Iterable<PoolUse>;
}

export function shelf(): Shelf {
  const readings = new Map<string, Reading>();
  const troubled = new Map<string, Reading>();
  const scopes = groups<Scope, string>();
  const services = groups<string, PoolUse>();
  const labels = groups<string, PoolUse>();

  const index = (reading: Reading, change: 'add' | 'delete'): void => {
    for (const scope of scopesOf(reading)) scopes[change](scope, askerOf(reading.origin));
    for (const use of reading.uses.values()) {
      if (use.service === undefined) labels[change](use.labels, use);
      else services[change](`${use.namespace}/${use.service}`, use);
    }
  };

  return {
    get: (asker) => readings.get(asker),
    all: () => readings.values(),
    troubled: () => troubled.values(),
    put(asker, reading) {
      const before = readings.get(asker);
      if (before) index(before, 'delete');
      if (reading) {
        index(reading, 'add');
        readings.set(asker, reading);
      } else readings.delete(asker);
      if (reading && reading.refusals.length > 0) troubled.set(asker, reading);
      else troubled.delete(asker);
      return difference(before, reading);
    },
    scopes: () => scopes.keys(),
    inScope: (scope) => [...scopes.get(scope)].flatMap((asker) => readings.get(asker) ?? []),
    byService: (name) => services.get(name),
    byLabels: (text) => labels.get(text),
  };
}

export const scopesOf = (reading: Reading): Set<Scope> =>
  new Set([...reading.tenants, ...[...reading.uses.values()].map(({ ref }) => ref.scope)]);

/** What is to be looked at after an edit: the scopes of both, but only those pools that get their members otherwise. */
function difference(before: Reading | undefined, after: Reading | undefined): Touch {
  const scopes = new Set([before, after].flatMap((one) => (one ? [...scopesOf(one)] : [])));
  const pools = new Map<string, PoolRef>();
  for (const [one, other] of [
    [before, after],
    [after, before],
  ]) {
    for (const [id, use] of one?.uses ?? [])
      if (!isSameUse(use, other?.uses.get(id))) pools.set(useId(use.ref), use.ref);
  }
  const edits = after ? [{ origin: after.origin, scopes: [...scopes] }] : [];
  return { scopes: [...scopes], pools: [...pools.values()], edits };
}

const isSameUse = (a: PoolUse, b: PoolUse | undefined): boolean =>
  b !== undefined && a.service === b.service && a.port === b.port && a.labels === b.labels;

interface Groups<K, V> {
  add(key: K, value: V): void;
  delete(key: K, value: V): void;
  get(key: K): Iterable<V>;
  keys(): Iterable<K>;
}

/** Many values under one key; an empty group is no group. */
function groups<K, V>(): Groups<K, V> {
  const sets = new Map<K, Set<V>>();
  return {
    add(key, value) {
      const set = sets.get(key) ?? new Set();
      sets.set(key, set.add(value));
    },
    delete(key, value) {
      const set = sets.get(key);
      set?.delete(value);
      if (set?.size === 0) sets.delete(key);
    },
    get: (key) => sets.get(key) ?? [],
    keys: () => sets.keys(),
  };
}
