// The objects of one resource, ordered by key, and the window of their past events.
import type { Entry, StoreEvent } from './store.ts';

export interface Table {
  get(key: string): Entry | undefined;
  /** Entries whose key starts with `prefix` and comes after `after`, in order; `limit` entries at most. */
  range(prefix: string, after?: string, limit?: number): Entry[];
  count(prefix: string): number;
  /** The entries under `prefix` as they were at `revision`; undefined when the window no longer reaches back to it. */
  rangeAt(prefix: string, revision: number): Entry[] | undefined;
  /** The oldest revision a watch can start from: it is told of everything later. */
  floor(): number;
  /** The position in the window of the first event later than `revision`. Positions only grow. */
  positionAfter(revision: number): number;
  /** The event at a position: undefined when it is still to come, 'gone' when the window has passed it. */
  at(position: number): StoreEvent | 'gone' | undefined;
  /** Calls `wake` after each event until the returned function is called. */
  subscribe(wake: () => void): () => void;
  /** Begins the window anew: watches cannot start from before `revision`. */
  forget(revision: number): void;
  load(entry: Entry): void;
  /** Takes in a change and tells those subscribed; what sort of change it was. */
  apply(entry: Entry, isRemoval: boolean): StoreEvent['type'];
}

/** The past events of a resource, as many as `history` and up to twice that. */
interface EventWindow extends Pick<Table, 'floor' | 'positionAfter' | 'at' | 'forget'> {
  add(event: StoreEvent): void;
  /** What the entries under `prefix` that changed after `revision` were before; undefined for those that were not there. */
  before(prefix: string, revision: number): Map<string, Entry | undefined>;
}

/** How many of the newest events keep their lines: all of them would double the memory of the window. */
const withLines = 1000;

function eventWindow(loaded: number, history: number): EventWindow {
  let events: StoreEvent[] = [];
  let base = 0;
  let floor = loaded;
  return {
    floor: () => floor,
    positionAfter: (revision) => base + search(events.length, (i) => (events[i]?.revision ?? 0) > revision),
    at: (position) => (position < base ? 'gone' : events[position - base]),
    forget(revision) {
      floor = Math.max(floor, revision);
    },
    add(event) {
      events.push(event);
      // Only a watch that lags needs the line of an old event, and it can make its own.
      const old = events[events.length - 1 - withLines];
      if (old) old.lines = undefined;
      // Dropped in halves, so that the cost of moving the array is spread over many events.
      if (events.length <= history * 2) return;
      const dropped = events.length - history;
      floor = events[dropped - 1]?.revision ?? floor;
      events = events.slice(dropped);
      base += dropped;
    },
    before(prefix, revision) {
      const past = new Map<string, Entry | undefined>();
      for (let i = events.length - 1; i >= 0; i--) {
        const event = events[i];
        if (!event || event.revision <= revision) break;
        if (event.entry.key.startsWith(prefix)) past.set(event.entry.key, event.before);
      }
      return past;
    },
  };
}

export function table(loaded: number, history: number): Table {
  const entries = new Map<string, Entry>();
  const keys: string[] = [];
  const wakes = new Set<() => void>();
  const { add, before: past, floor, positionAfter, at, forget } = eventWindow(loaded, history);

  function range(prefix: string, after?: string, limit = Infinity): Entry[] {
    const out: Entry[] = [];
    let i = after === undefined ? firstAtLeast(keys, prefix) : firstAfter(keys, after);
    for (; i < keys.length && out.length < limit; i++) {
      const key = keys[i] ?? '';
      if (!key.startsWith(prefix)) break;
      const entry = entries.get(key);
      if (entry) out.push(entry);
    }
    return out;
  }

  return {
    get: (key) => entries.get(key),
    range,
    count: (prefix) => firstAtLeast(keys, `${prefix}\uffff`) - firstAtLeast(keys, prefix),
    rangeAt(prefix, revision) {
      if (revision < floor()) return undefined;
      const changed = past(prefix, revision);
      const now = range(prefix).filter((entry) => !changed.has(entry.key));
      const then = [...changed.values()].filter((entry) => entry !== undefined);
      return then.length === 0 ? now : [...now, ...then].sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    floor,
    positionAfter,
    at,
    forget,
    subscribe(wake) {
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
    load(entry) {
      keys.push(entry.key);
      entries.set(entry.key, entry);
    },
    apply(entry, isRemoval) {
      const before = entries.get(entry.key);
      if (isRemoval) {
        entries.delete(entry.key);
        if (before) keys.splice(firstAtLeast(keys, entry.key), 1);
      } else {
        if (!before) keys.splice(firstAtLeast(keys, entry.key), 0, entry.key);
        entries.set(entry.key, entry);
      }
      const type = isRemoval ? 'DELETED' : before ? 'MODIFIED' : 'ADDED';
      add({ type, revision: entry.revision, entry, before, lines: new Map() });
      for (const wake of wakes) wake();
      return type;
    },
  };
}

const firstAtLeast = (keys: string[], key: string): number => search(keys.length, (i) => (keys[i] ?? '') >= key);
const firstAfter = (keys: string[], key: string): number => search(keys.length, (i) => (keys[i] ?? '') > key);

/** The first index for which `isPast` holds; it must hold for every later one. */
function search(length: number, isPast: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
