// Reading one object and lists of them: selectors, pages, versions of the past, and the form the client asked for.
import type { Cluster } from './cluster.ts';
import { continueAfter, tokenOf } from './continue-token.ts';
import { integerIn, unsignedProblem } from './number.ts';
import { checkListOptions } from './options.ts';
import { entriesIn, entryIn, headOf, inVersion } from './conversion.ts';
import { apiVersionOf, valueAt, type KubeObject, type Tree } from './object.ts';
import type { Call } from './request.ts';
import { keyOf, type Resource, type Version } from './resource.ts';
import { parseFieldSelector, parseLabelSelector, type FieldRequirement, type LabelSelector } from './selector.ts';
import { decode, type Entry } from './store.ts';
import { badRequest, expired, notFound, ok, refuse, tooNew, unexplained, type Result } from './status.ts';
import { includeOf, partial, tableOf, wantedForm } from './table/table.ts';

export interface Reading {
  cluster: Cluster;
  call: Call;
  resource: Resource;
  version: Version;
}

/** Which objects a list or watch is about. */
export interface Selection {
  prefix: string;
  /** True when neither labels nor fields narrow it: texts can then be passed on unread. */
  isWhole: boolean;
  matches(entry: Entry): boolean;
}

export function selectionOf({ call, resource, version }: Reading): Result<Selection> {
  const labels = parseLabelSelector(call.query.get('labelSelector') ?? '');
  if (!labels.ok) return labels;
  const fields = parseFieldSelector(call.query.get('fieldSelector') ?? '');
  if (!fields.ok) return fields;
  for (const { path } of fields.value) {
    if (isSelectable(path, version)) continue;
    return refuse(badRequest(unselectable(path, resource, version)));
  }
  const { namespace, name } = call.target;
  // A watch on one name is a watch of its collection, narrowed to it.
  const requirements = name ? [...fields.value, { path: 'metadata.name', isEqual: true, value: name }] : fields.value;
  return ok({
    prefix: keyOf(resource, namespace),
    isWhole: requirements.length === 0 && !call.query.get('labelSelector'),
    matches: matcher(labels.value, requirements, resource),
  });
}

/** Kinds with selectable fields of their own say less than those without. */
const unselectable = (path: string, { isCustom }: Resource, version: Version): string =>
  isCustom || version.selectable.length > 0
    ? `field label not supported: ${path}`
    : `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`;

const isSelectable = (path: string, version: Version): boolean =>
  path === 'metadata.name' || path === 'metadata.namespace' || version.selectable.includes(path);

function matcher(labels: LabelSelector, fields: FieldRequirement[], resource: Resource): (entry: Entry) => boolean {
  if (fields.length === 0) return (entry) => labels(entry.labels);
  return (entry) => {
    if (!labels(entry.labels)) return false;
    return fields.every(({ path, value, isEqual }) => (fieldValue(path, entry, resource) === value) === isEqual);
  };
}

// Entries never change, so each is parsed once for a path however many lists and watches select by it.
const fieldValues = new WeakMap<Entry, Map<string, string>>();

function fieldValue(path: string, entry: Entry, resource: Resource): string {
  if (path === 'metadata.name') return entry.key.slice(entry.key.lastIndexOf('/') + 1);
  if (path === 'metadata.namespace') return resource.isNamespaced ? (entry.key.split('/').at(-2) ?? '') : '';
  let values = fieldValues.get(entry);
  if (!values) fieldValues.set(entry, (values = new Map()));
  let value = values.get(path);
  if (value === undefined) values.set(path, (value = readField(path, decode(entry.text), resource)));
  return value;
}

function readField(path: string, object: KubeObject, resource: Resource): string {
  const own = resource.rules.fields?.[path];
  if (own) return own(object);
  const value = valueAt(object, path);
  return value === undefined || value === null ? '' : String(value);
}

/** The entry's text under the asked version; for lists of built-in kinds without apiVersion and kind, as the real server sends them. */
export function textIn(entry: Entry, { resource, version }: Reading, isBare = false): string {
  if (resource.isCustom) {
    const isThere = entry.text.startsWith(headOf(resource, version.name));
    return isThere ? entry.text : JSON.stringify(inVersion(decode(entry.text), resource, version));
  }
  const rest = entry.text.slice(headOf(resource, resource.storageVersion).length);
  if (isBare) return `{${rest}`;
  return version.name === resource.storageVersion ? entry.text : headOf(resource, version.name) + rest;
}

export function objectIn(entry: Entry, reading: Reading): KubeObject {
  return inVersion(decode(entry.text), reading.resource, reading.version);
}

/** The revision a read asks for; a revision still to come is refused. */
export function checkedRevision(cluster: Cluster, text: string): Result<number> {
  const problem = text === '' ? undefined : unsignedProblem(text);
  if (problem !== undefined)
    return refuse(unexplained(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`));
  const revision = Number(text || 0);
  const current = cluster.store.revision();
  return revision > current ? refuse(tooNew(revision, current)) : ok(revision);
}

export async function readOne(reading: Reading): Promise<Result<string>> {
  const { cluster, call, resource } = reading;
  const { namespace, name } = call.target;
  const asked = checkedRevision(cluster, call.query.get('resourceVersion') ?? '');
  if (!asked.ok) return asked;
  const stored = cluster.store.get(keyOf(resource, namespace, name));
  if (!stored) return refuse(notFound(resource, name));
  const read = await entryIn(reading, stored);
  if (!read.ok) return read;
  const entry = read.value;
  const { form, apiVersion } = wantedForm(call.request.headers.get('accept') ?? '');
  if (form === 'table') {
    const object = objectIn(entry, reading);
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const { columns } = reading.version;
    const include = includeOf(call.query);
    return ok(JSON.stringify(tableOf([object], { columns, include, now: cluster.clock.now(), apiVersion, metadata })));
  }
  if (form === 'metadata') return ok(JSON.stringify(partial(objectIn(entry, reading), apiVersion)));
  return ok(textIn(entry, reading));
}

interface Page {
  entries: readonly Entry[];
  revision: number;
  continueToken?: string;
  remaining?: number;
}

/** A list as text, or in pieces when it is long: so it is never in memory whole, and the first of it leaves at once. */
export async function readList(reading: Reading): Promise<Result<string | ReadableStream<Uint8Array>>> {
  const page = await pageOf(reading);
  if (!page.ok) return page;
  const { cluster, call, resource, version } = reading;
  const { entries, revision, continueToken, remaining } = page.value;
  const metadata: Tree = { resourceVersion: String(revision) };
  if (continueToken) metadata.continue = continueToken;
  // The list of a kind without types of its own tells that there is no more.
  else if (resource.isCustom) metadata.continue = '';
  if (remaining !== undefined) metadata.remainingItemCount = remaining;
  const { form, apiVersion } = wantedForm(call.request.headers.get('accept') ?? '');
  if (form === 'table') {
    const objects = entries.map((entry) => objectIn(entry, reading));
    const { columns } = version;
    const include = includeOf(call.query);
    return ok(JSON.stringify(tableOf(objects, { columns, include, now: cluster.clock.now(), apiVersion, metadata })));
  }
  if (form === 'metadata-list' || form === 'metadata') {
    const items = entries.map((entry) => partial(objectIn(entry, reading), apiVersion));
    return ok(JSON.stringify({ kind: 'PartialObjectMetadataList', apiVersion, metadata, items }));
  }
  const head = `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(resource.group, version.name))},"metadata":${JSON.stringify(metadata)},"items":[`;
  return ok(listBody(head, entries, reading));
}

const encoder = new TextEncoder();
// Large enough that a piece costs little beside its bytes, small enough that other requests get their turn between two.
const pieceSize = 256 * 1024;

function listBody(head: string, entries: readonly Entry[], reading: Reading): string | ReadableStream<Uint8Array> {
  const first = pieceOf(entries, 0, reading);
  if (first.next === entries.length) return `${head}${first.text}]}`;
  let at = first.next;
  let text = head + first.text;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const isLast = at === entries.length;
        controller.enqueue(encoder.encode(isLast ? `${text}]}` : text));
        if (isLast) return controller.close();
        const piece = pieceOf(entries, at, reading);
        text = `,${piece.text}`;
        at = piece.next;
      },
    },
    { highWaterMark: 0 },
  );
}

/** Entries from `start` on, a piece's worth, as the inside of a JSON array; `next` is the first that is not in it. */
function pieceOf(entries: readonly Entry[], start: number, reading: Reading): { text: string; next: number } {
  const texts: string[] = [];
  let next = start;
  for (let size = 0; next < entries.length && size < pieceSize; next++) {
    const entry = entries[next];
    if (!entry) break;
    texts.push(textIn(entry, reading, true));
    size += entry.text.length;
  }
  return { text: texts.join(','), next };
}

/*
   resourceVersion | match        | answers from
   ----------------+--------------+------------------------------------------
   absent, 0       | any          | now
   N               | absent, NotOlderThan | now; 504 when N is still to come
   N               | Exact        | the state at N; 410 when too long ago
   continue token  | –            | the state at the first page; 410 likewise
*/
async function pageOf(reading: Reading): Promise<Result<Page>> {
  const { cluster, call, resource } = reading;
  const selection = selectionOf(reading);
  if (!selection.ok) return selection;
  const limit = integerIn(call.query, 'limit');
  if (!limit.ok) return limit;
  const timeout = integerIn(call.query, 'timeoutSeconds');
  if (!timeout.ok) return timeout;
  const most = Math.max(0, limit.value);
  const token = tokenOf(call.query.get('continue') ?? '', keyOf(resource, call.target.namespace));
  if (!token.ok) return token;
  const match = call.query.get('resourceVersionMatch') ?? '';
  const options = checkListOptions(call.query);
  if (!options.ok) return options;
  const version = call.query.get('resourceVersion') ?? '';
  if (token.value && version !== '' && version !== '0')
    return refuse(badRequest('specifying resource version is not allowed when using continue'));
  const asked = checkedRevision(cluster, version);
  // What a get or a watch fails at, a list calls a bad request.
  if (!asked.ok && asked.status.code === 500)
    return refuse(badRequest(`invalid resource version: ${asked.status.message}`));
  if (!asked.ok) return asked;
  const table = cluster.store.table(keyOf(resource));
  const now = cluster.store.revision();
  const paged = token.value && token.value.revision > 0 ? token.value.revision : undefined;
  const exact = paged ?? (match === 'Exact' ? asked.value : undefined);
  const { prefix, isWhole, matches } = selection.value;
  const all = exact === undefined || exact === now ? undefined : table.rangeAt(prefix, exact);
  if (exact !== undefined && exact !== now && !all)
    return refuse(expired(token.value ? continueTooOld : `The resourceVersion for the provided list is too old.`));
  const after = token.value?.after;
  const isQuick = !all && isWhole;
  // Selectors speak of objects as they are read, which a webhook may make of them.
  const read = await entriesIn(
    reading,
    all
      ? all.filter((entry) => after === undefined || entry.key > after)
      : table.range(prefix, after, isQuick && most ? most + 1 : Infinity),
  );
  if (!read.ok) return read;
  const found = isWhole ? read.value : read.value.filter(matches);
  return ok(cut(found, { prefix, limit: most, revision: exact ?? now, left: isQuick ? leftAfter : undefined }));

  function leftAfter(last: string): number {
    return table.range(prefix, last).length;
  }
}

interface Cut {
  prefix: string;
  limit: number;
  revision: number;
  left: ((last: string) => number) | undefined;
}

function cut(found: readonly Entry[], { prefix, limit, revision, left }: Cut): Page {
  if (limit === 0 || found.length <= limit) return { entries: found, revision };
  const entries = found.slice(0, limit);
  const after = entries.at(-1)?.key ?? '';
  const continueToken = continueAfter(after, prefix, revision);
  // With a selector the rest would have to be read to be counted, so it is not said.
  return { entries, revision, continueToken, ...(left ? { remaining: left(after) } : {}) };
}

const continueTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
