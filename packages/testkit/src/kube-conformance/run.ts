// Runs cases on a server and gives what it answered, masked: what is recorded from the real one and asked of ours.
import { isDeepStrictEqual } from 'node:util';
import {
  isWatching,
  type Ask,
  type Case,
  type Chapter,
  type Json,
  type Step,
  type Tree,
  type Watching,
} from './case.ts';
import { mask, type Mask } from './mask.ts';
import { inTime } from './in-time.ts';
import { filled, filledTree, isTree, partOf } from './part.ts';
import type { Answered, Place } from './place.ts';
import { readEvents } from './stream.ts';

/** One compared step: status, the headers that clients act on, and the body or the events of a watch. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body?: Json;
  events?: Json[];
}

/** Either all answers, or the arranged step that failed: then the rule could not be asked for. */
export type Outcome = { answers: Answer[] } | { failed: string };

const told = ['content-type', 'warning', 'allow', 'retry-after', 'www-authenticate', 'location'];
const tries = 400;
const between = 25;

/** Runs the cases of a chapter one after the other; `each` is told as they end. */
export async function runChapter(
  place: Place,
  chapter: Chapter,
  each: (one: Case, outcome: Outcome) => void,
): Promise<void> {
  const start = await beginChapter(place, chapter);
  for (const one of chapter.cases) each(one, start.failed ?? (await start.run(one)));
  await start.end();
}

export interface Begun {
  /** When `before` failed: what every case of the chapter then comes to. */
  failed?: Outcome;
  run(one: Case): Promise<Outcome>;
  /** Removes what the chapter made. */
  end(): Promise<void>;
}

export async function beginChapter(place: Place, chapter: Chapter): Promise<Begun> {
  const group = `${chapter.name}.${place.run}.example.com`;
  const words = new Map([['group', group], ...hookWords(place)]);
  const told: Telling = { place, words, mask: mask({ words, said: '' }), made: [] };
  const failure = await arrange(told, chapter.before ?? []);
  return {
    ...(failure === undefined ? {} : { failed: { failed: failure } }),
    run: (one) => runCase(place, chapter, one, group),
    end: () => sweep(told),
  };
}

const hookWords = ({ hook }: Place): [string, string][] => [
  ['hook', hook.url],
  ['ca', hook.ca],
];

async function arrange(telling: Telling, steps: Ask[]): Promise<string | undefined> {
  for (const step of steps) {
    const taken = await ask(telling, { ...step, isArranged: true });
    if (typeof taken === 'string') return taken;
  }
  return undefined;
}

/** What the steps of one case share. */
interface Telling {
  place: Place;
  words: Map<string, string>;
  mask: Mask;
  /** Paths of objects outside the case's namespace, to be removed at the end. */
  made: string[];
}

async function runCase(place: Place, chapter: Chapter, one: Case, group: string): Promise<Outcome> {
  const namespace = `${chapter.name}-${chapter.cases.indexOf(one)}-${place.run}`;
  const words = new Map([['ns', namespace], ['group', group], ...hookWords(place)]);
  const telling: Telling = {
    place,
    words,
    mask: mask({ words: new Map(words), said: JSON.stringify(one.steps) }),
    made: [],
  };
  const space: Ask = {
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    isArranged: true,
  };
  const answers: Answer[] = [];
  try {
    for (const step of [space, ...one.steps]) {
      const taken = await take(telling, step);
      if (typeof taken === 'string') return { failed: taken };
      if (taken) answers.push(taken);
    }
    return { answers };
  } finally {
    await sweep(telling);
  }
}

/** Whatever was made in the namespace goes with it; where nothing empties namespaces, it stays and disturbs nobody. */
async function sweep({ place, made }: Telling): Promise<void> {
  const token = place.tokens['admin'];
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  for (const path of made.toReversed()) {
    const answered = await place.send(path, { method: 'DELETE', headers });
    await answered.text();
  }
}

const take = (telling: Telling, step: Step): Promise<Answer | string | undefined> =>
  isWatching(step) ? follow(telling, step) : ask(telling, step);

/** The answer to compare; undefined for an arranged step, and a sentence when that failed. */
async function ask(telling: Telling, step: Ask): Promise<Answer | string | undefined> {
  const { place, words, mask: masked, made } = telling;
  const path = filled(step.path, words);
  let body: Json = null;
  let answered: Answered | undefined;
  for (let round = 0; round < tries; round++) {
    if (round > 0) await place.pass(between);
    const whole = await exchange(telling, step, path);
    if (!whole) return `${step.method} ${masked.text(path)} was never answered to its end`;
    ({ answered, body } = whole);
    const isDone = Object.entries(step.until ?? {}).every(
      ([part, wanted]) => partOf({ status: answered?.status ?? 0, body }, part) === wanted,
    );
    if (isDone) break;
    if (round === tries - 1) return `${step.method} ${masked.text(path)} never came to ${JSON.stringify(step.until)}`;
  }
  if (!answered) throw new Error('bug: no round was asked');
  note(made, { step, path, status: answered.status, body, namespace: words.get('ns') });
  if (step.isArranged && !step.mayFail && answered.status >= 300)
    return masked.text(`${step.method} ${path} answered ${answered.status}: ${messageOf(body)}`);
  for (const [word, part] of Object.entries(step.keep ?? {})) {
    const kept = partOf(body, part);
    if (kept === undefined) return `${step.method} ${masked.text(path)} answered without ${part}`;
    words.set(word, String(kept));
  }
  return step.isArranged ? undefined : answerOf(answered, masked, comparedBody(masked, body, step));
}

/** A request and its whole answer; undefined when that has a beginning and no end, as a watch that nobody asked for. */
async function exchange(
  telling: Telling,
  step: Ask,
  path: string,
): Promise<{ answered: Answered; body: Json } | undefined> {
  const { place } = telling;
  const stop = new AbortController();
  const sending = {
    method: step.method,
    headers: headersOf(telling, step),
    ...bodyOf(telling, step),
    signal: stop.signal,
  };
  const answered = await place.send(path, sending);
  const text = await inTime(answered.text(), place);
  if (text !== undefined) return { answered, body: parsed(answered, text) };
  stop.abort();
  return undefined;
}

function answerOf(answered: Answered, masked: Mask, rest: Pick<Answer, 'body' | 'events'>): Answer {
  const headers = told.flatMap((name) => {
    const value = answered.headers.get(name);
    return value === null ? [] : [[name, masked.text(value)] as const];
  });
  return { status: answered.status, headers: Object.fromEntries(headers), ...rest };
}

/** A failure is compared whole, whatever part of a success was asked for: its message is the finding. */
function comparedBody(
  masked: Mask,
  body: Json,
  step: Pick<Ask, 'only' | 'hasManagers' | 'unordered' | 'sent'>,
): Pick<Answer, 'body'> {
  const list = step.unordered === undefined ? undefined : partOf(body, step.unordered);
  if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const isFailure = isTree(body) && body['kind'] === 'Status' && body['status'] === 'Failure';
  if (!step.only || isFailure) return { body: masked.body(body, step.hasManagers ?? false) };
  const whole = masked.body(body, step.hasManagers ?? false);
  const parts = step.only.map((path) => [path, partOf(whole, path) ?? null] as const);
  const sent = Object.entries(step.sent ?? {}).map(([path, given]) => {
    const isSame = isDeepStrictEqual(partOf(body, path), given);
    return [path, isSame ? '<as sent>' : (partOf(whole, path) ?? null)] as const;
  });
  return { body: Object.fromEntries([...parts, ...sent]) };
}

async function follow(telling: Telling, step: Watching): Promise<Answer | string> {
  const { place, mask: masked, words } = telling;
  const stop = new AbortController();
  const path = filled(step.watch, words);
  const answered = await place.send(path, { method: 'GET', headers: headersOf(telling, step), signal: stop.signal });
  if (answered.status !== 200)
    return answerOf(answered, masked, { body: masked.body(parsed(answered, await answered.text()), false) });
  try {
    const failure = await arrange(telling, step.during ?? []);
    if (failure !== undefined) return failure;
    const events = await readEvents(answered, step.events, place);
    return answerOf(answered, masked, { events: events.map((event) => eventOf(masked, event, step.only)) });
  } finally {
    stop.abort();
  }
}

function eventOf(masked: Mask, event: Json, only: readonly string[] | undefined): Json {
  // The version of a bookmark is how far the server has come, as a list's.
  const isBookmark = isTree(event) && event['type'] === 'BOOKMARK';
  const whole = masked.body(isBookmark ? withoutVersion(event) : event, false);
  return only ? Object.fromEntries(only.map((path) => [path, partOf(whole, path) ?? null])) : whole;
}

function withoutVersion(event: Tree): Json {
  const object = isTree(event['object']) ? event['object'] : {};
  const metadata = isTree(object['metadata']) ? object['metadata'] : {};
  return { ...event, object: { ...object, metadata: { ...metadata, resourceVersion: '<list version>' } } };
}

function headersOf(
  { place, words }: Telling,
  step: Pick<Ask, 'as' | 'accept' | 'type' | 'headers' | 'body'> | Watching,
): Record<string, string> {
  const { as = 'admin', type, headers = {}, body, accept = 'application/json' } = step as Ask;
  const token = place.tokens[as] ?? place.tokens['admin'];
  const isImpersonated = as !== 'nobody' && as !== 'admin' && place.tokens[as] === undefined;
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value, words)]));
  return {
    accept,
    'user-agent': 'conformance/1',
    ...(as === 'nobody' || token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(isImpersonated ? { 'impersonate-user': as } : {}),
    ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
    ...own,
  };
}

function bodyOf({ words }: Telling, { body }: Ask): { body?: string } {
  if (body === undefined) return {};
  return { body: typeof body === 'string' ? filled(body, words) : JSON.stringify(filledTree(body, words)) };
}

function parsed(answered: Answered, text: string): Json {
  if (!/json/.test(answered.headers.get('content-type') ?? '')) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Said to be JSON and is not: compared as the text it is, where it is bound to differ.
    return text;
  }
}

interface Taken {
  step: Ask;
  path: string;
  status: number;
  body: Json;
  namespace: string | undefined;
}

/** Notes what was made where no namespace's end takes it along. */
function note(made: string[], { step, path, status, body, namespace }: Taken): void {
  if (
    status !== 201 ||
    path.includes('dryRun') ||
    (namespace !== undefined && path.includes(`/namespaces/${namespace}/`))
  )
    return;
  const name = partOf(body, 'metadata.name');
  const [place = ''] = path.split('?');
  if (typeof name === 'string') made.push(step.method === 'POST' ? `${place}/${name}` : place);
}

const messageOf = (body: Json): string => (isTree(body) ? String(body['message']) : String(body));
