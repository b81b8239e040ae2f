// What we know of one kind: objects by key and by index, with the change told to whoever listens.
// Fed by the reflector and by our own writes; the resourceVersion decides which of two is newer.
import { keyOf } from './kinds.ts';
import type { KubeObject } from './objects.ts';

/** An object appeared (no `before`), changed, or went (no `after`). */
export interface Change<T> {
  key: string;
  before?: T | undefined;
  after?: T | undefined;
}

/** From an object to the values it is found under. */
export type IndexOf<T> = (object: T) => readonly string[];

const remembered = 20_000;

export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexOf: Record<string, IndexOf<T>>;
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #listeners: ((change: Change<T>) => void)[] = [];
  // Uids of deleted objects, oldest first: an answer to our own write may arrive after the watch has told of the deletion.
  readonly #gone = new Set<string>();

  constructor(indexOf: Record<string, IndexOf<T>> = {}) {
    this.#indexOf = indexOf;
    for (const name of Object.keys(indexOf)) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  all(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Objects found under `value`. An index never declared is a bug. */
  by(index: string, value: string): T[] {
    const values = this.#indexes.get(index);
    if (!values) throw new Error(`bug: no index ${index}`);
    return [...(values.get(value) ?? [])].map((key) => this.#objects.get(key)!);
  }

  /** How many objects are under `value`, without reading them. */
  count(index: string, value: string): number {
    return this.#indexes.get(index)?.get(value)?.size ?? 0;
  }

  onChange(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  put(object: T): void {
    // Half of an object's size, and nothing here reads it. A write without it leaves it as it is.
    delete (object.metadata as { managedFields?: unknown }).managedFields;
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (this.#gone.has(object.metadata.uid)) return;
    if (before && version(before) >= version(object)) return;
    if (before && before.metadata.uid !== object.metadata.uid) this.#tombstone(before.metadata.uid);
    this.#set(key, before, object);
  }

  remove(object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    this.#tombstone(object.metadata.uid);
    if (before?.metadata.uid === object.metadata.uid) this.#set(key, before, undefined);
  }

  /** The object with this uid is gone, when a deletion answered with no object. */
  forget({ namespace, name }: { namespace?: string | undefined; name: string }, uid: string): void {
    const present = this.#objects.get(namespace ? `${namespace}/${name}` : name);
    if (present?.metadata.uid === uid) this.remove(present);
    else this.#tombstone(uid);
  }

  /** The whole kind as listed at `resourceVersion`; our writes that are newer than the list stay. */
  replace(items: T[], resourceVersion: string): void {
    const listed = new Set(items.map((item) => item.metadata.uid));
    for (const object of this.#objects.values()) {
      if (!listed.has(object.metadata.uid) && version(object) <= Number(resourceVersion)) this.remove(object);
    }
    for (const item of items) this.put(item);
  }

  #set(key: string, before: T | undefined, after: T | undefined): void {
    if (after) this.#objects.set(key, after);
    else this.#objects.delete(key);
    for (const [name, values] of this.#indexes)
      this.#reindex(values, key, {
        old: before && this.#indexOf[name]!(before),
        next: after && this.#indexOf[name]!(after),
      });
    for (const listener of this.#listeners) listener({ key, before, after });
  }

  #reindex(
    values: Map<string, Set<string>>,
    key: string,
    found: { old: readonly string[] | undefined; next: readonly string[] | undefined },
  ): void {
    for (const value of found.old ?? []) {
      const keys = values.get(value);
      keys?.delete(key);
      if (keys?.size === 0) values.delete(value);
    }
    for (const value of found.next ?? []) {
      const keys = values.get(value);
      if (keys) keys.add(key);
      else values.set(value, new Set([key]));
    }
  }

  #tombstone(uid: string): void {
    this.#gone.add(uid);
    if (this.#gone.size > remembered) this.#gone.delete(this.#gone.values().next().value!);
  }
}

function version(object: KubeObject): number {
  return Number(object.metadata.resourceVersion);
}
