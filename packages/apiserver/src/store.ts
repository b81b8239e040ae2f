// Every object, in memory as JSON text under its key, with one revision counter and a window of past events per resource.
// A change is seen by readers and watches only once storage has kept it, so nobody acts on what a crash could take back.
import type { KubeObject } from './object.ts';
import type { Storage } from './storage/storage.ts';
import { table, type Table } from './store-table.ts';

/** An object as kept: its text carries its revision. */
export interface Entry {
  key: string;
  revision: number;
  text: string;
  labels: Readonly<Record<string, string>>;
}

export interface StoreEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  revision: number;
  /** The object after the change; for DELETED its last state, under the revision of the delete. */
  entry: Entry;
  before: Entry | undefined;
  /** The event's line as sent to watches, made once for all of them; by type, because a selector can turn one into another. Gone when few still need it. */
  lines: Map<string, Uint8Array> | undefined;
}

export interface Store {
  /** The newest revision that readers see. */
  revision(): number;
  get(key: string): Entry | undefined;
  /** The part of the store that holds one resource: everything under `/registry/<group>/<resource>/`. */
  table(prefix: string): Table;
  /** Keeps `object` under `key`; stamps its resourceVersion. Resolves when it is durable and visible. */
  put(key: string, object: KubeObject): Promise<Entry>;
  /** Removes `key`; `last` is what watches are told was removed. */
  remove(key: string, last: KubeObject): Promise<Entry>;
  /** Runs `work` when no other work on `key` runs: read, decide and write without another writer in between. */
  locked<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Calls `listener` with each change, and first with everything there is; for the parts of the server that follow owners and namespaces. */
  listen(listener: Listener): void;
  close(): Promise<void>;
}

/** Told of one object as it now is (for DELETED, as it was last). */
export type Listener = (type: StoreEvent['type'], key: string, object: KubeObject) => void;

/** `/registry/<group>/<resource>/` of a key or a longer prefix. */
function tablePrefix(key: string): string {
  let end = 0;
  for (let slashes = 0; slashes < 4; slashes++) end = key.indexOf('/', end) + 1;
  return key.slice(0, end);
}

export const encode = ({ kind, apiVersion, metadata, ...rest }: KubeObject): string =>
  JSON.stringify({ kind, apiVersion, metadata, ...rest });

export const decode = (text: string): KubeObject => JSON.parse(text) as KubeObject;

/** Reads `storage` whole and serves from memory. `history` is how many past events of each resource a watch can start from. */
export async function openStore(storage: Storage, history: number): Promise<Store> {
  const tables = new Map<string, Table>();
  const locks = new Map<string, Promise<unknown>>();
  const loaded = await storage.revision();
  const listeners: Listener[] = [];
  let visible = loaded;
  let staged = loaded;

  const tableOf = (prefix: string): Table => {
    let found = tables.get(prefix);
    // Events before the start are gone: a watch from an older revision has to list again.
    if (!found) tables.set(prefix, (found = table(loaded, history)));
    return found;
  };
  for await (const [key, text] of storage.entries()) tableOf(tablePrefix(key)).load(entryOf(key, decode(text), text));

  async function commit(key: string, object: KubeObject, isRemoval: boolean): Promise<Entry> {
    const revision = ++staged;
    object.metadata.resourceVersion = String(revision);
    const text = encode(object);
    const entry: Entry = { key, revision, text, labels: object.metadata.labels ?? {} };
    await storage.write([{ key, text: isRemoval ? undefined : text }], revision);
    visible = revision;
    const type = tableOf(tablePrefix(key)).apply(entry, isRemoval);
    for (const listener of listeners) listener(type, key, object);
    return entry;
  }

  return {
    revision: () => visible,
    get: (key) => tables.get(tablePrefix(key))?.get(key),
    table: tableOf,
    put: (key, object) => commit(key, object, false),
    remove: (key, last) => commit(key, last, true),
    async locked(key, work) {
      const before = locks.get(key);
      const turn = (async () => {
        // A failed turn belongs to whoever asked for it; the next in line only needs it to be over.
        if (before) await before.then(undefined, () => undefined);
        return work();
      })();
      locks.set(key, turn);
      try {
        return await turn;
      } finally {
        if (locks.get(key) === turn) locks.delete(key);
      }
    },
    listen(listener) {
      for (const part of tables.values())
        for (const entry of part.range('')) listener('ADDED', entry.key, decode(entry.text));
      listeners.push(listener);
    },
    close: () => storage.close(),
  };
}

function entryOf(key: string, object: KubeObject, text: string): Entry {
  return { key, revision: Number(object.metadata.resourceVersion), text, labels: object.metadata.labels ?? {} };
}
