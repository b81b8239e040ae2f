// The contract of the client: what the rest of Fairlead may ask of a Kubernetes API server.
import type { Kind, KubeObject } from './object.ts';

/** Why the API server, or the way to it, said no. Codes are a part of core's table, so a problem passes through unchanged. */
export interface KubeProblem {
  code: 'invalid' | 'missing' | 'exists' | 'conflict' | 'denied' | 'gone' | 'busy' | 'unreachable';
  /** Says what was tried: `PUT /api/v1/…: 409 Conflict: …`. */
  message: string;
  /** HTTP status; absent when no answer came. */
  status?: number;
  /** `reason` of the Status object, such as `AlreadyExists`. */
  reason?: string;
  /** Milliseconds, from Retry-After. */
  retryAfter?: number;
}

export type KubeResult<T> = { ok: true; value: T } | { ok: false; problem: KubeProblem };

export interface ListOptions {
  /** All namespaces when absent. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** What `watch` tells of. Each call is one thing seen; a throw is a bug of the listener, reported and survived. */
export interface WatchSink<T extends KubeObject> {
  /** A whole list: what is not in it is gone. */
  replace(items: T[]): void;
  /** Added or changed. */
  put(object: T): void;
  /** Deleted; `object` is its last state. */
  remove(object: T): void;
  /** Why nothing can be seen now; undefined once it can again. The watch goes on trying by itself. */
  trouble(problem: KubeProblem | undefined): void;
}

export interface WatchOptions<T extends KubeObject> extends ListOptions {
  /** Keeps the fields that are needed, to save memory. Must keep name, namespace, uid and resourceVersion; must not keep state. */
  project?: ((object: T) => T) | undefined;
}

/** Told to the program's log: a problem that will be tried again, or a bug that was survived. */
export type Trouble = { doing: string; problem: KubeProblem } | { doing: string; bug: unknown };

export interface Patch {
  type: 'merge' | 'json' | 'strategic';
  body: unknown;
}

export interface WriteOptions {
  /** Write to `/status` rather than the object. */
  subresource?: 'status' | 'scale' | undefined;
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
  /** What becomes of fields the server does not know: refused, warned of, or dropped without a word. The server's own rule when absent. */
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean | undefined;
}

export interface DeleteOptions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
}

export interface Name {
  name: string;
  namespace?: string | undefined;
}

/** One API server. Made by `kube()`. Nothing here throws for what a server may answer. */
export interface Kube {
  /** The server's address, for messages. */
  readonly server: string;
  get<T extends KubeObject>(kind: Kind<T>, at: Name): Promise<KubeResult<T>>;
  /** The whole list, page by page. */
  list<T extends KubeObject>(
    kind: Kind<T>,
    options?: ListOptions,
  ): Promise<KubeResult<{ items: T[]; resourceVersion: string }>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<KubeResult<T>>;
  /** PUT: a `resourceVersion` in the object is the optimistic lock. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<KubeResult<T>>;
  patch<T extends KubeObject>(kind: Kind<T>, at: Name, patch: Patch, options?: WriteOptions): Promise<KubeResult<T>>;
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions): Promise<KubeResult<T>>;
  remove<T extends KubeObject>(kind: Kind<T>, at: Name, options?: DeleteOptions): Promise<KubeResult<void>>;
  /** Any path, such as `/version`. JSON comes parsed, other answers as text. */
  raw(method: string, path: string, body?: unknown): Promise<KubeResult<unknown>>;
  /** Follows a kind until `signal` aborts: list, watch, resume, relist. `store` is what most callers want. */
  watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions<T>,
    sink: WatchSink<T>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What changed in a store. Deletes and moves need `before`. */
export interface Change<T extends KubeObject = KubeObject> {
  kind: Kind<T>;
  before: T | undefined;
  after: T | undefined;
}

/** A live copy of one kind, kept by list and watch. Reads never wait; objects in it must not be changed. */
export interface Store<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Was a whole list seen? Until then absent may mean late. */
  readonly synced: boolean;
  get(at: Name): T | undefined;
  all(): Iterable<T>;
  /** Objects in one namespace, from an index. */
  inNamespace(namespace: string): Iterable<T>;
  /** Objects under `key` of the index named at creation, such as Services by label value. */
  by(index: string, key: string): Iterable<T>;
  /** Calls back for each change after the moment of the call. Returns the way to stop. */
  listen(listener: (change: Change<T>) => void): () => void;
  /** Resolves when synced, or when `signal` aborts. */
  ready(signal?: AbortSignal): Promise<void>;
}
