// Builds requests: paths, queries, headers, bodies. Pure.
import type { ApplyOptions, DeleteOptions, KubeResult, ListOptions, Name, Patch, WriteOptions } from './kube.ts';
import type { Kind, KubeObject } from './object.ts';
import { invalid } from './problem.ts';

export interface KubeRequest {
  method: string;
  /** Without the query: for messages. */
  path: string;
  /** Begins with `?`, or is empty. */
  query: string;
  headers: Record<string, string>;
  body?: string;
  /** May it be sent twice, when no answer came to the first? */
  repeatable: boolean;
}

type Query = Record<string, string | number | boolean | undefined>;

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

// JSON is YAML, so no serializer is needed for a type that says yaml.
const applyType = 'application/apply-patch+yaml';

export const read = (kind: Kind, at: Name): KubeResult<KubeRequest> => build('GET', place(kind, at), {});

export interface Page {
  limit?: number | undefined;
  continue?: string | undefined;
}

export const list = (kind: Kind, options: ListOptions, page: Page): KubeResult<KubeRequest> =>
  build('GET', collection(kind, options.namespace), { query: { ...selectors(options), ...page } });

export interface WatchFrom {
  /** Undefined asks for the initial state first (WatchList): ADDED for each object, then a marked bookmark. */
  resourceVersion?: string | undefined;
  timeoutSeconds: number;
}

export function watch(kind: Kind, options: ListOptions, from: WatchFrom): KubeResult<KubeRequest> {
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
  const query: Query = {
    watch: true,
    allowWatchBookmarks: true,
    ...selectors(options),
    ...(from.resourceVersion === undefined ? initial : { resourceVersion: from.resourceVersion }),
    timeoutSeconds: from.timeoutSeconds,
  };
  return build('GET', collection(kind, options.namespace), { query });
}

export function create(kind: Kind, object: KubeObject, options: WriteOptions): KubeResult<KubeRequest> {
  const { namespace } = object.metadata;
  if (kind.namespaced && !namespace) return lacksNamespace(kind, object.metadata.name);
  // A new object has no place of its own yet; one posted to a subresource has.
  const path = options.subresource ? place(kind, object.metadata, options.subresource) : collection(kind, namespace);
  return build('POST', path, { query: written(options), body: object });
}

export const replace = (kind: Kind, object: KubeObject, options: WriteOptions): KubeResult<KubeRequest> =>
  build('PUT', place(kind, object.metadata, options.subresource), { query: written(options), body: object });

export const patch = (kind: Kind, at: Name, patch: Patch, options: WriteOptions): KubeResult<KubeRequest> =>
  build('PATCH', place(kind, at, options.subresource), {
    query: written(options),
    body: patch.body,
    type: patchTypes[patch.type],
  });

export function apply(kind: Kind, object: KubeObject, options: ApplyOptions): KubeResult<KubeRequest> {
  const query = { ...written(options), force: options.force };
  return build('PATCH', place(kind, object.metadata, options.subresource), { query, body: object, type: applyType });
}

export function remove(kind: Kind, at: Name, options: DeleteOptions): KubeResult<KubeRequest> {
  const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
  const preconditions = uid || resourceVersion ? { uid, resourceVersion } : undefined;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, gracePeriodSeconds, propagationPolicy };
  return build('DELETE', place(kind, at), { body });
}

/** `path` may carry a query. */
export function raw(method: string, path: string, body: unknown): KubeResult<KubeRequest> {
  const [bare = '', query] = path.split(/\?(.*)/s);
  const request = build(method, { ok: true, value: bare }, body === undefined ? {} : { body });
  return request.ok && query ? { ok: true, value: { ...request.value, query: `?${query}` } } : request;
}

interface Parts {
  query?: Query;
  body?: unknown;
  /** Content type; JSON when absent. */
  type?: string;
}

/**
 *   method            | sent again when no answer came
 *   ------------------+-------------------------------------------------------
 *   GET PUT DELETE    | yes: twice is as once (a PUT's resourceVersion turns the second into a conflict)
 *   PATCH apply merge | yes: the wish is the same the second time
 *   PATCH, any other  | no: a JSON patch may append twice
 *   POST              | no: a generated name would give two objects
 */
function build(method: string, path: KubeResult<string>, { query = {}, body, type }: Parts): KubeResult<KubeRequest> {
  if (!path.ok) return path;
  const repeatable = ['GET', 'PUT', 'DELETE'].includes(method) || type === applyType || type === patchTypes.merge;
  const headers: Record<string, string> = { accept: 'application/json' };
  const request = { method, path: path.value, query: queryOf(query), headers, repeatable };
  if (body === undefined) return { ok: true, value: request };
  headers['content-type'] = type ?? 'application/json';
  return { ok: true, value: { ...request, body: JSON.stringify(body) } };
}

function collection(kind: Kind, namespace: string | undefined): KubeResult<string> {
  const root = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`;
  if (!kind.namespaced || namespace === undefined) return { ok: true, value: `${root}/${kind.plural}` };
  const segment = segmentOf(kind, namespace);
  return segment.ok ? { ok: true, value: `${root}/namespaces/${segment.value}/${kind.plural}` } : segment;
}

function place(kind: Kind, { name, namespace }: Name, subresource?: string): KubeResult<string> {
  if (kind.namespaced && !namespace) return lacksNamespace(kind, name);
  const path = collection(kind, namespace);
  const segment = segmentOf(kind, name);
  if (!path.ok || !segment.ok) return path.ok ? segment : path;
  return { ok: true, value: `${path.value}/${segment.value}${subresource ? `/${subresource}` : ''}` };
}

// Names come from users' objects: `..` or a slash would make the request one for something else.
function segmentOf(kind: Kind, name: string): KubeResult<string> {
  if (name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name))
    return { ok: true, value: encodeURIComponent(name) };
  return invalid(`"${name}" cannot be a name in a path of ${kind.plural}`);
}

const lacksNamespace = (kind: Kind, name: string): KubeResult<never> =>
  invalid(`${kind.kind} "${name}" needs a namespace`);

const selectors = ({ labelSelector, fieldSelector }: ListOptions): Query => ({ labelSelector, fieldSelector });

const written = ({ fieldManager, dryRun, fieldValidation }: WriteOptions): Query => ({
  fieldManager,
  fieldValidation,
  dryRun: dryRun ? 'All' : undefined,
});

function queryOf(query: Query): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== false && value !== '');
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}
