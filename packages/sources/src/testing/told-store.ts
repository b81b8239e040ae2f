// A store that holds what a test puts in it, and tells its listeners as one that watches a cluster would.
import type { Change, Kind, KubeObject, Name, Store } from '@fairlead/kube';

export class ToldStore<T extends KubeObject> implements Store<T> {
  synced = false;
  readonly kind: Kind<T>;
  readonly #indexes: Record<string, (object: KubeObject) => string[]>;
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #waiting = new Set<() => void>();

  constructor(kind: Kind<T>, indexes: Record<string, (object: KubeObject) => string[]> = {}) {
    this.kind = kind;
    this.#indexes = indexes;
  }

  put(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#tell({ kind: this.kind, before, after: object });
  }

  remove(name: Name): void {
    const before = this.#objects.get(keyOf(name));
    this.#objects.delete(keyOf(name));
    if (before) this.#tell({ kind: this.kind, before, after: undefined });
  }

  /** The whole list was seen. */
  fill(): void {
    this.synced = true;
    for (const done of this.#waiting) done();
    this.#waiting.clear();
  }

  get = (at: Name): T | undefined => this.#objects.get(keyOf(at));
  all = (): Iterable<T> => this.#objects.values();
  inNamespace = (namespace: string): T[] => [...this.all()].filter(({ metadata }) => metadata.namespace === namespace);

  by(index: string, key: string): T[] {
    const keysOf = this.#indexes[index];
    if (!keysOf) throw new Error(`bug: the store was made without the index ${index}`);
    return [...this.all()].filter((object) => keysOf(object).includes(key));
  }

  listen(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  ready(signal?: AbortSignal): Promise<void> {
    if (this.synced) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting.add(done);
      signal?.addEventListener('abort', () => done(), { once: true });
    });
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

const keyOf = ({ namespace = '', name }: Name): string => `${namespace}/${name}`;
