// The few verbs the controllers use. Failures are values; what a write answers goes into the stores at once,
// so that the next turn sees it even when the watch is slower (otherwise a ReplicaSet would create its pods twice).
import type { Kind, Place } from './kinds.ts';
import { pathOf } from './kinds.ts';
import type { Draft, KubeObject } from './objects.ts';
import type { Store } from './store.ts';
import type { Received, Transport } from './transport.ts';

/** Why a request failed: the server's status code (0 when it could not be reached), reason and message. */
export interface Problem {
  status: number;
  reason: string;
  message: string;
  retryAfterMs?: number;
}

/** The reason of a refusal because the namespace is being deleted. */
export const namespaceTerminating = 'NamespaceTerminating';

export type Result<T> = { ok: true; value: T } | { ok: false; problem: Problem };

export interface ListPage<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[] | null;
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

export interface RemoveOptions {
  graceSeconds?: number;
  uid?: string;
  propagation?: 'Background' | 'Foreground' | 'Orphan';
}

export interface PatchOptions {
  subresource?: string;
  /** The body's media type; a JSON merge patch (RFC 7386) unless told. */
  type?: string;
}

export type Client = ReturnType<typeof client>;

export function client(transport: Transport, stores: ReadonlyMap<string, Store<KubeObject>>) {
  const send = sender(transport);
  const wrote = <T extends KubeObject>(kind: Kind<T>, result: Result<unknown>): Result<T> => {
    if (result.ok) stores.get(kind.plural)?.put(result.value as KubeObject);
    return result as Result<T>;
  };

  return {
    async create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<Result<T>> {
      const body = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
      return wrote(kind, await send('POST', pathOf(kind, { namespace: object.metadata.namespace }), body));
    },

    /** `body` to a subresource of a pod that answers with a Status, such as `binding` or `eviction`. */
    post(kind: Kind, place: Place, subresource: string, body: unknown): Promise<Result<unknown>> {
      return send('POST', pathOf(kind, place, subresource), body);
    },

    async read<T extends KubeObject>(kind: Kind<T>, place: Place): Promise<Result<T>> {
      return wrote(kind, await send('GET', pathOf(kind, place)));
    },

    async replace<T extends KubeObject>(kind: Kind<T>, object: T, subresource?: string): Promise<Result<T>> {
      const body = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
      return wrote(kind, await send('PUT', pathOf(kind, object.metadata, subresource), body));
    },

    async patch<T extends KubeObject>(
      kind: Kind<T>,
      place: Place,
      patch: unknown,
      options: PatchOptions = {},
    ): Promise<Result<T>> {
      const types = { body: options.type ?? 'application/merge-patch+json' };
      return wrote(kind, await send('PATCH', pathOf(kind, place, options.subresource), patch, types));
    },

    /** Deletes one object. That it is already gone counts as done. */
    async remove(kind: Kind, place: Place, options: RemoveOptions = {}): Promise<Result<unknown>> {
      const { graceSeconds, uid, propagation } = options;
      const result = await send('DELETE', pathOf(kind, place), {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
        ...(uid && { preconditions: { uid } }),
        ...(propagation && { propagationPolicy: propagation }),
      });
      const store = stores.get(kind.plural);
      if (!result.ok) return result.problem.status === 404 ? { ok: true, value: undefined } : result;
      // Either the object, which may have a grace period or finalizers still, or a Status that says it is gone.
      const left = result.value as KubeObject;
      if (left.metadata?.uid && left.metadata.deletionTimestamp) store?.put(left);
      else if (uid) store?.forget(place, uid);
      return result;
    },

    list<T extends KubeObject>(kind: Kind<T>, query: Record<string, string>): Promise<Result<ListPage<T>>> {
      const types = kind.isPartial ? { accept: partial('List') } : {};
      return send('GET', `${pathOf(kind)}?${new URLSearchParams(query)}`, undefined, types) as Promise<
        Result<ListPage<T>>
      >;
    },

    /** Any path of the API, for what has no kind here: discovery, `finalize`, deleting collections. */
    send,

    /** The events of `kind` since a resourceVersion, until the server ends the stream. */
    watch: <T extends KubeObject>(kind: Kind<T>, query: Record<string, string>, signal: AbortSignal) =>
      watch<T>(transport, { kind, query }, signal),
  };
}

type Send = (method: string, path: string, body?: unknown, types?: Types) => Promise<Result<unknown>>;

/** Media types of the body sent and of the answer wanted. */
interface Types {
  body?: string;
  accept?: string;
}

const partial = (suffix: string) => `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`;

/** The one place where a failing connection becomes a problem. */
function sender(transport: Transport): Send {
  return async (method, path, body, types = {}) => {
    const headers: Record<string, string> = {
      accept: types.accept ?? 'application/json',
      'user-agent': 'fairlead-sim-cluster',
    };
    if (body !== undefined) headers['content-type'] = types.body ?? 'application/json';
    let status: number;
    let text: string;
    let received: Received;
    try {
      received = await transport.send({
        method,
        path,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      status = received.status;
      text = await received.text();
    } catch (error) {
      return {
        ok: false,
        problem: { status: 0, reason: 'Unreachable', message: `${method} ${path}: ${cause(error)}` },
      };
    }
    if (status >= 400) return { ok: false, problem: problemOf(`${method} ${path}`, received, text) };
    return { ok: true, value: text === '' ? undefined : JSON.parse(text) };
  };
}

async function watch<T extends KubeObject>(
  transport: Transport,
  { kind, query }: { kind: Kind; query: Record<string, string> },
  signal: AbortSignal,
): Promise<Result<AsyncIterable<WatchEvent<T>>>> {
  const path = `${pathOf(kind)}?${new URLSearchParams({ watch: '1', ...query })}`;
  const accept = kind.isPartial ? partial('') : 'application/json';
  const unreachable = (error: unknown): Problem => ({
    status: 0,
    reason: 'Unreachable',
    message: `watch ${path}: ${cause(error)}`,
  });
  let received: Received;
  try {
    received = await transport.send({ method: 'GET', path, headers: { accept }, signal });
    if (received.status >= 400)
      return { ok: false, problem: problemOf(`watch ${path}`, received, await received.text()) };
  } catch (error) {
    return { ok: false, problem: unreachable(error) };
  }
  return { ok: true, value: lines<WatchEvent<T>>(received.chunks) };
}

/** A stream of JSON values, one a line. */
async function* lines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part.trim() !== '') yield JSON.parse(part) as T;
  }
}

function problemOf(what: string, received: Received, text: string): Problem {
  let body: { reason?: string; message?: string; details?: { causes?: { reason?: string }[] } } = {};
  if (text.startsWith('{')) body = JSON.parse(text) as typeof body;
  const seconds = Number(received.retryAfter ?? Number.NaN);
  return {
    status: received.status,
    reason: body.details?.causes?.some((one) => one.reason === namespaceTerminating)
      ? namespaceTerminating
      : (body.reason ?? 'Unknown'),
    message: `${what}: ${received.status} ${body.message ?? text.slice(0, 200)}`,
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1000 }),
  };
}

function cause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
