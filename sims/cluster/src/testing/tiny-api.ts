// A Kubernetes API server just large enough for this package's own tests, in memory, as a fetch function.
// It keeps the rules the controllers rely on: versions and conflicts, generation, grace, binding, owners, watches.
import type { Draft, KubeObject } from '../kube/objects.ts';
import type { Stored, TinyStore } from './tiny-store.ts';
import { kinds } from '../kube/kinds.ts';
import { keyOf, tinyStore } from './tiny-store.ts';

interface Address {
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

export interface TinyOptions {
  now?: () => number;
  /** True: dependents and namespaces are left to a controller, as by a kube-apiserver alone. */
  isBare?: boolean;
}

export type TinyApi = ReturnType<typeof tinyApi>;

export function tinyApi({ now = Date.now, isBare = false }: TinyOptions = {}) {
  const store = tinyStore(now, isBare);
  const calls: string[] = [];
  const refusals: { method: string; path: RegExp; status: number }[] = [];

  const answer = (request: Request, body: unknown): Response => {
    const url = new URL(request.url);
    const discovered = discovery(url.pathname);
    if (discovered) return reply(200, discovered);
    const at = addressOf(url.pathname);
    const refused = refusals.findIndex((one) => one.method === request.method && one.path.test(url.pathname));
    if (refused >= 0) return refusal(refusals.splice(refused, 1)[0]!.status, 'Refused');
    if (url.searchParams.has('watch')) return watch(store, at.plural, request);
    if (request.method === 'POST' && !at.name) return create(store, at, { draft: body as Draft<Stored>, now: now() });
    if (!at.name) {
      const items = [...store.of(at.plural).values()].filter(
        ({ metadata }) => !at.namespace || metadata.namespace === at.namespace,
      );
      if (request.method === 'DELETE') for (const one of items) store.remove(at.plural, one);
      return reply(200, { metadata: { resourceVersion: String(store.version()) }, items });
    }
    const found = store.of(at.plural).get(at.namespace ? `${at.namespace}/${at.name}` : at.name);
    return found ? answerFor(store, { method: request.method, at, found }, body) : refusal(404, 'NotFound');
  };

  return {
    /** Every request as `METHOD path`. */
    calls,
    until: store.until,
    list: <T extends KubeObject>(plural: string) => [...store.of(plural).values()] as unknown as T[],
    get: <T extends KubeObject>(plural: string, key: string) => store.of(plural).get(key) as unknown as T | undefined,
    /** The next matching request is answered with `status`. */
    refuse: (method: string, path: RegExp, status: number) => void refusals.push({ method, path, status }),
    async fetch(request: Request): Promise<Response> {
      calls.push(`${request.method} ${new URL(request.url).pathname}`);
      const text = await request.text();
      return answer(request, text === '' ? undefined : JSON.parse(text));
    },
  };
}

interface Asked {
  method: string;
  at: Address;
  found: Stored;
}

function answerFor(store: TinyStore, { method, at, found }: Asked, body: unknown): Response {
  if (at.subresource === 'binding') return bind(store, found, body as { target: { name: string } });
  if (method === 'GET') return reply(200, found);
  if (method === 'PUT') return write(store, at, { found, next: body as Stored });
  if (method === 'PATCH') return write(store, at, { found, next: merge(found, body) as Stored });
  const options = (body ?? {}) as {
    preconditions?: { uid?: string };
    gracePeriodSeconds?: number;
    propagationPolicy?: string;
  };
  const uid = options.preconditions?.uid;
  if (uid && uid !== found.metadata.uid) return refusal(409, 'Conflict');
  store.remove(at.plural, found, { graceSeconds: options.gracePeriodSeconds, propagation: options.propagationPolicy });
  return reply(200, store.of(at.plural).get(keyOf(found)) ?? { kind: 'Status', status: 'Success' });
}

function create(store: TinyStore, at: Address, { draft, now }: { draft: Draft<Stored>; now: number }): Response {
  const { generateName, ...given } = draft.metadata;
  const metadata = {
    ...given,
    name: given.name ?? `${generateName}${store.next().toString(36).padStart(5, '0')}`,
    ...(at.namespace && { namespace: at.namespace }),
    uid: `uid-${store.next()}`,
    generation: 1,
    creationTimestamp: new Date(now).toISOString(),
    resourceVersion: '',
  };
  const object = { ...draft, metadata } as Stored;
  if (store.of(at.plural).has(keyOf(object))) return refusal(409, 'AlreadyExists');
  return reply(201, store.put(at.plural, object));
}

function write(store: TinyStore, at: Address, { found, next }: { found: Stored; next: Stored }): Response {
  const { uid, resourceVersion } = next.metadata;
  if (uid && uid !== found.metadata.uid) return refusal(409, 'Conflict');
  if (resourceVersion && resourceVersion !== found.metadata.resourceVersion) return refusal(409, 'Conflict');
  const isStatus = at.subresource === 'status';
  const isSpecChanged = !isStatus && JSON.stringify(next.spec) !== JSON.stringify(found.spec);
  const generation = (found.metadata.generation ?? 1) + (isSpecChanged ? 1 : 0);
  const { status } = isStatus ? next : found;
  const merged = { ...(isStatus ? found : next), ...(status !== undefined && { status }) };
  const metadata = { ...merged.metadata, uid: found.metadata.uid, generation };
  const isDone =
    metadata.deletionTimestamp !== undefined && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds;
  if (isDone && (at.plural !== 'namespaces' || at.subresource === 'finalize')) {
    store.drop(at.plural, { ...merged, metadata });
    return reply(200, { ...merged, metadata });
  }
  return reply(200, store.put(at.plural, { ...merged, metadata }));
}

function bind(store: TinyStore, pod: Stored, { target }: { target: { name: string } }): Response {
  if (pod.spec?.['nodeName']) return refusal(409, 'Conflict');
  store.put('pods', { ...pod, spec: { ...pod.spec, nodeName: target.name } });
  return reply(201, { kind: 'Status', status: 'Success' });
}

function watch(store: TinyStore, plural: string, request: Request): Response {
  const encoder = new TextEncoder();
  const from = Number(new URL(request.url).searchParams.get('resourceVersion'));
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      const stop = store.watch(plural, from, (line) => stream.enqueue(encoder.encode(line)));
      request.signal.addEventListener('abort', () => {
        stop();
        stream.error(request.signal.reason);
      });
    },
  });
  return new Response(body);
}

/** Discovery documents of the kinds in `kinds`, all with all verbs. */
function discovery(path: string): object | undefined {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  const [, version] = /^\/apis?\/([^/]+|[^/]+\/[^/]+)$/.exec(path) ?? [];
  const all = Object.values(kinds);
  if (path === '/apis') {
    const versions = new Set(all.map((one) => one.apiVersion).filter((one) => one.includes('/')));
    return {
      groups: [...versions].map((groupVersion) => ({
        name: groupVersion.split('/')[0],
        preferredVersion: { groupVersion },
      })),
    };
  }
  const served = all.filter((one) => one.apiVersion === version);
  if (served.length === 0) return undefined;
  return { resources: served.map(({ plural, kind, namespaced }) => ({ name: plural, kind, namespaced, verbs })) };
}

function addressOf(path: string): Address {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3);
  const isScoped = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'finalize';
  const [plural = '', name, subresource] = isScoped ? parts.slice(2) : parts;
  return { plural, namespace: isScoped ? parts[1] : undefined, name, subresource };
}

/** JSON merge patch, RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const result = { ...(typeof target === 'object' ? target : {}) } as Record<string, unknown>;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

function reply(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

function refusal(code: number, reason: string): Response {
  return reply(code, { kind: 'Status', status: 'Failure', code, reason, message: reason });
}
