// Watches: streams of events from a position in a resource's window. A watch holds no queue, only its position,
// so slow clients cost nothing; one that falls behind the window is told 410 and starts over.
import { apiVersionOf, type KubeObject } from './object.ts';
import { checkWatchOptions } from './options.ts';
import { integerIn } from './number.ts';
import { isTrue } from './request.ts';
import { checkedRevision, objectIn, selectionOf, textIn, type Reading, type Selection } from './read.ts';
import { keyOf } from './resource.ts';
import { decode, encode, type Entry, type StoreEvent } from './store.ts';
import { entriesIn, isConverted } from './conversion.ts';
import { expired, ok, refuse, type Result } from './status.ts';
import type { Table } from './store-table.ts';
import { includeOf, partial, tableOf, wantedForm } from './table/table.ts';

const encoder = new TextEncoder();
const mostAtOnce = 256 * 1024;
const bookmarkEvery = 60_000;
const initialEnd = 'k8s.io/initial-events-end';

/** What the stream says first, before events of the window. */
interface Start {
  position: number;
  /** Said as ADDED; turned into lines only as the client takes them. */
  initial: Entry[];
  /** The revision of the bookmark that ends them, where one was asked for. */
  mark: number | undefined;
}

/*
   resourceVersion | sendInitialEvents | starts with
   ----------------+-------------------+------------------------------------------------------
   absent, 0       | –                 | ADDED for what is there, then what happens
   N               | –                 | what happened after N; ERROR 410 when that is too long ago
   any             | true              | ADDED for what is there, a bookmark that says so, then what happens
*/
export async function watch(reading: Reading): Promise<Result<ReadableStream<Uint8Array>>> {
  const selection = selectionOf(reading);
  if (!selection.ok) return selection;
  const table = reading.cluster.store.table(keyOf(reading.resource));
  const start = await startOf(reading, selection.value, table);
  if (!start.ok) return start.status.code === 410 ? ok(lone(line('ERROR', JSON.stringify(start.status)))) : start;
  return ok(stream({ reading, selection: selection.value, table, start: start.value }));
}

/** A stream that says one thing: too late for a watch is told as its first event. */
const lone = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(text));
      controller.close();
    },
  });

async function startOf(reading: Reading, selection: Selection, table: Table): Promise<Result<Start>> {
  const { cluster, call } = reading;
  const text = call.query.get('resourceVersion') ?? '';
  const timeout = integerIn(call.query, 'timeoutSeconds');
  if (!timeout.ok) return timeout;
  const options = checkWatchOptions(call.query);
  if (!options.ok) return options;
  const asked = checkedRevision(cluster, text);
  if (!asked.ok) return asked;
  const now = cluster.store.revision();
  const hasInitial = call.query.has('sendInitialEvents');
  const isInitial = hasInitial ? isTrue(call.query.get('sendInitialEvents')) : asked.value === 0;
  if (!isInitial) {
    if (asked.value < table.floor() && text !== '')
      return refuse(expired(`too old resource version: ${asked.value} (${table.floor()})`));
    return ok({ position: table.positionAfter(text === '' ? now : asked.value), initial: [], mark: undefined });
  }
  const position = table.positionAfter(now);
  const read = await entriesIn(reading, table.range(selection.prefix));
  if (!read.ok) return read;
  return ok({
    position,
    initial: selection.isWhole ? [...read.value] : read.value.filter((entry) => selection.matches(entry)),
    mark: hasInitial && takesBookmarks(reading) ? now : undefined,
  });
}

interface Streaming {
  reading: Reading;
  selection: Selection;
  table: Table;
  start: Start;
}

/** Where one watch stands. */
interface Watcher extends Streaming {
  position: number;
  /** How many of the initial entries were said. */
  said: number;
  /** Lines ready to be sent. */
  waiting: Uint8Array[];
  isBookmarkDue: boolean;
  /** Whether a table has told its columns: only the first one does. */
  hasColumns: boolean;
  isOver: boolean;
  wake(): void;
}

function stream(streaming: Streaming): ReadableStream<Uint8Array> {
  const { reading, table, start } = streaming;
  const { clock } = reading.cluster;
  const over = new AbortController();
  const watcher: Watcher = {
    ...streaming,
    position: start.position,
    said: 0,
    waiting: [],
    isBookmarkDue: false,
    hasColumns: false,
    isOver: false,
    wake: () => undefined,
  };
  const unsubscribe = table.subscribe(() => watcher.wake());
  const end = () => {
    if (watcher.isOver) return;
    watcher.isOver = true;
    unsubscribe();
    // With a reason: without one, each abort makes an exception, stack and all, that nobody reads.
    over.abort(null);
    watcher.wake();
  };
  reading.call.request.signal.addEventListener('abort', end, { once: true });
  void clock.sleep(timeoutOf(reading), over.signal).then(end);
  if (takesBookmarks(reading)) void remind(watcher, over.signal);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await fill(watcher, end);
        if (watcher.waiting.length > 0) controller.enqueue(joined(watcher.waiting.splice(0)));
        if (watcher.isOver) controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

const takesBookmarks = ({ call }: Reading): boolean => isTrue(call.query.get('allowWatchBookmarks') ?? 'no');

/** Bookmarks fall due at intervals, so that a quiet watch can still start again from somewhere recent. */
async function remind(watcher: Watcher, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await watcher.reading.cluster.clock.sleep(bookmarkEvery, over);
    watcher.isBookmarkDue = true;
    watcher.wake();
  }
}

/** Waits until there is something to send, or nothing more will be. */
async function fill(watcher: Watcher, end: () => void): Promise<void> {
  for (;;) {
    if (watcher.isOver || watcher.waiting.length > 0) return;
    if (isConverted(watcher.reading.resource)) await gatherConverted(watcher, end);
    else gather(watcher, end);
    if (watcher.isOver || watcher.waiting.length > 0) return;
    await new Promise<void>((resolve) => (watcher.wake = resolve));
  }
}

/** How many events of the window are converted at once. */
const convertedAtOnce = 500;

/** The same where a webhook makes the objects of the version asked for: it is asked before anything is gathered. */
async function gatherConverted(watcher: Watcher, end: () => void): Promise<void> {
  const { reading, table, waiting } = watcher;
  for (;;) {
    const events: StoreEvent[] = [];
    for (let at = watcher.position; events.length < convertedAtOnce; at++) {
      const event = table.at(at);
      if (event === undefined || event === 'gone') break;
      events.push(event);
    }
    const entries = events.flatMap(({ entry, before }) => (before ? [entry, before] : [entry]));
    const read = await entriesIn(reading, entries);
    if (watcher.isOver) return;
    if (!read.ok) {
      waiting.push(encoder.encode(line('ERROR', JSON.stringify(read.status))));
      return end();
    }
    const converted = new Map(entries.map((entry, i) => [entry, read.value[i] ?? entry]));
    gather(watcher, end, (entry) => converted.get(entry));
    if (waiting.length > 0 || watcher.isOver || table.at(watcher.position) === undefined) return;
  }
}

/** Lines from the window, up to a chunk's worth. */
function gather(watcher: Watcher, end: () => void, read: (entry: Entry) => Entry | undefined = (entry) => entry): void {
  const { reading, table, waiting } = watcher;
  let size = gatherInitial(watcher);
  while (size < mostAtOnce) {
    const event = table.at(watcher.position);
    if (event === undefined) break;
    if (event === 'gone') {
      waiting.push(encoder.encode(line('ERROR', JSON.stringify(expired('too old resource version')))));
      end();
      return;
    }
    const seen = read(event.entry);
    if (!seen) break;
    watcher.position++;
    const before = event.before && (read(event.before) ?? event.before);
    const isStored = seen === event.entry && before === event.before;
    const bytes = lineOf(watcher, isStored ? event : { ...event, entry: seen, before });
    if (bytes) waiting.push(bytes);
    size += bytes?.byteLength ?? 0;
  }
  // A bookmark promises that nothing before it is missing, so it comes after what was gathered.
  if (watcher.isBookmarkDue && watcher.start.initial.length === 0 && table.at(watcher.position) === undefined) {
    watcher.isBookmarkDue = false;
    waiting.push(bookmark(watcher, reading.cluster.store.revision(), false));
  }
}

/** Initial entries, up to a chunk's worth, and after the last of them the bookmark; the bytes gathered. */
function gatherInitial(watcher: Watcher): number {
  const { start, waiting } = watcher;
  let size = 0;
  while (watcher.said < start.initial.length && size < mostAtOnce) {
    const entry = start.initial[watcher.said++];
    if (!entry) break;
    const bytes = encoder.encode(line('ADDED', formOf(watcher, entry)));
    waiting.push(bytes);
    size += bytes.byteLength;
  }
  if (watcher.said < start.initial.length) return size;
  // Said all: what they were is not kept for as long as the watch lasts.
  start.initial = [];
  watcher.said = 0;
  if (start.mark !== undefined) waiting.push(bookmark(watcher, start.mark, true));
  start.mark = undefined;
  return size;
}

// Watches of one kind mostly stand at the same place, so what one of them is sent the next is sent too.
let last: { lines: readonly Uint8Array[]; chunk: Uint8Array } | undefined;

function joined(lines: readonly Uint8Array[]): Uint8Array {
  if (lines.length === 1 && lines[0]) return lines[0];
  if (last && last.lines.length === lines.length && last.lines.every((bytes, i) => bytes === lines[i]))
    return last.chunk;
  last = { lines, chunk: Buffer.concat(lines) };
  return last.chunk;
}

/** As long as the client asks; otherwise between half an hour and an hour, spread so that clients do not return together. */
function timeoutOf({ cluster, call }: Reading): number {
  const asked = Number(call.query.get('timeoutSeconds') ?? 0);
  if (asked > 0) return Math.min(asked, 2 ** 31 / 1000 - 1) * 1000;
  const [high = 0, low = 0] = cluster.random(2);
  return 1_800_000 * (1 + (high * 256 + low) / 65536);
}

/*
   before matches | now matches | told as
   ---------------+-------------+---------
   no             | no          | nothing
   no             | yes         | ADDED
   yes            | no          | DELETED
   yes            | yes         | MODIFIED
*/
function typeFor(selection: Selection, event: StoreEvent): StoreEvent['type'] | undefined {
  if (!event.entry.key.startsWith(selection.prefix)) return undefined;
  if (selection.isWhole) return event.type;
  const was = event.before !== undefined && selection.matches(event.before);
  const is = event.type !== 'DELETED' && selection.matches(event.entry);
  if (was && is) return 'MODIFIED';
  if (is) return 'ADDED';
  return was ? 'DELETED' : undefined;
}

function lineOf(watcher: Watcher, event: StoreEvent): Uint8Array | undefined {
  const { reading, selection } = watcher;
  const type = typeFor(selection, event);
  if (!type) return undefined;
  // What leaves the selection is told as it was when it was in it.
  const hasLeft = type === 'DELETED' && event.type !== 'DELETED';
  const entry = hasLeft && event.before ? entryAt(event.before, event.revision) : event.entry;
  const { form } = wantedForm(reading.call.request.headers.get('accept') ?? '');
  const isPlain = form === 'object' || form === 'metadata-list';
  if (!isPlain) return encoder.encode(line(type, formOf(watcher, entry)));
  const name = `${reading.resource.twin ? 'twin ' : ''}${reading.version.name} ${type}`;
  const known = event.lines?.get(name);
  if (known) return known;
  const bytes = encoder.encode(line(type, textIn(entry, reading)));
  event.lines?.set(name, bytes);
  return bytes;
}

/** An earlier state under the revision of the change that ended it. */
function entryAt(before: Entry, revision: number): Entry {
  const object = decode(before.text);
  object.metadata.resourceVersion = String(revision);
  return { ...before, revision, text: encode(object) };
}

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

function formOf(watcher: Watcher, entry: Entry): string {
  const { reading } = watcher;
  const { form } = wantedForm(reading.call.request.headers.get('accept') ?? '');
  return form === 'object' ? textIn(entry, reading) : formed(watcher, objectIn(entry, reading));
}

/** An object in the form the client asked for. */
function formed(watcher: Watcher, object: KubeObject): string {
  const { cluster, call, version } = watcher.reading;
  const { form, apiVersion } = wantedForm(call.request.headers.get('accept') ?? '');
  if (form === 'object') return JSON.stringify(object);
  if (form !== 'table') return JSON.stringify(partial(object, apiVersion));
  const { columns } = version;
  // The end of the initial events is told even to who wants rows alone.
  const isMark = object.metadata.annotations?.[initialEnd] !== undefined && includeOf(call.query) === 'None';
  const include = isMark ? 'Metadata' : includeOf(call.query);
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  const table = tableOf([object], { columns, include, now: cluster.clock.now(), apiVersion, metadata });
  if (watcher.hasColumns) table.columnDefinitions = null;
  watcher.hasColumns = true;
  return JSON.stringify(table);
}

function bookmark(watcher: Watcher, revision: number, isInitialEnd: boolean): Uint8Array {
  const { resource, version } = watcher.reading;
  const annotations = isInitialEnd ? { annotations: { [initialEnd]: 'true' } } : {};
  const metadata = { resourceVersion: String(revision), ...annotations };
  const object = { kind: resource.kind, apiVersion: apiVersionOf(resource.group, version.name), metadata };
  return encoder.encode(line('BOOKMARK', formed(watcher, object)));
}
