import { expect, test } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { client } from './client.ts';
import { kinds } from './kinds.ts';
import type { Pod } from './objects.ts';
import { reflect } from './reflector.ts';
import { Store } from './store.ts';
import { overFetch } from './transport.ts';

const pod = (name: string, version: number) => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion: String(version) },
  spec: { containers: [] },
});

const lines = (...events: object[]) => new Response(events.map((event) => `${JSON.stringify(event)}\n`).join(''));

const list = (version: number, ...items: Pod[]) =>
  Response.json({ metadata: { resourceVersion: String(version) }, items });

/** Answers the requests in order, then hangs; `asked` tells what they were and when. */
async function play(answers: (() => Response)[], advance: number) {
  const clock = fakeClock();
  const start = clock.now();
  const asked: string[] = [];
  const log: string[] = [];
  const store = new Store<Pod>();
  const stop = new AbortController();
  const answer = async (request: Request) => {
    const url = new URL(request.url);
    const kind = url.searchParams.has('watch')
      ? `watch ${url.searchParams.get('resourceVersion')}`
      : `list ${url.searchParams.get('continue') ?? ''}`;
    asked.push(`${clock.now() - start} ${kind.trim()}`);
    const next = answers.shift();
    return next
      ? next()
      : new Promise<Response>((_, refuse) =>
          request.signal.addEventListener('abort', () => refuse(request.signal.reason)),
        );
  };
  const api = client(overFetch({ server: 'http://api' }, answer), new Map());
  let isSynced = false;
  const done = reflect(
    { kind: kinds.pod, store, client: api, clock, random: () => 0.5, log: (line) => log.push(line) },
    stop.signal,
    () => (isSynced = true),
  );
  await clock.advance(advance);
  stop.abort();
  await done;
  return { asked, log, isSynced, names: [...store.all()].map((one) => one.metadata.name).sort() };
}

test('a watch starts where the list ended, and the next one where the watch did', async () => {
  const bookmark = { type: 'BOOKMARK', object: { metadata: { name: '', uid: '', resourceVersion: '9' } } };
  const watched = lines({ type: 'ADDED', object: pod('b', 6) }, { type: 'DELETED', object: pod('a', 7) }, bookmark);
  const { asked, names, isSynced } = await play([() => list(5, pod('a', 3)), () => watched], 0);
  expect([asked, names, isSynced]).toEqual([['0 list', '0 watch 5', '0 watch 9'], ['b'], true]);
});

test('a version that is too old leads to a new list after a pause, and what vanished meanwhile is removed', async () => {
  const gone = () => Response.json({ code: 410, reason: 'Expired', message: 'too old' }, { status: 410 });
  const { asked, names } = await play(
    [() => list(5, pod('a', 3), pod('b', 4)), gone, () => list(20, pod('b', 4), pod('c', 12))],
    300,
  );
  expect([asked, names]).toEqual([
    ['0 list', '0 watch 5', '200 list', '200 watch 20'],
    ['b', 'c'],
  ]);
});

test('the same said in the middle of a watch counts too', async () => {
  const error = lines(
    { type: 'ADDED', object: pod('b', 6) },
    { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } },
  );
  const { asked } = await play([() => list(5), () => error, () => list(8, pod('b', 6))], 0);
  expect(asked).toEqual(['0 list', '0 watch 5', '0 list', '0 watch 8']);
});

test('a long list comes in pages', async () => {
  const first = Response.json({ metadata: { resourceVersion: '5', continue: 'x' }, items: [pod('a', 1)] });
  const { asked, names } = await play([() => first, () => list(5, pod('b', 2))], 0);
  expect([asked.slice(0, 2), names]).toEqual([
    ['0 list', '0 list x'],
    ['a', 'b'],
  ]);
});

test('a server that fails is asked again after a wait that doubles, and each failure is told', async () => {
  const no = () => Response.json({ reason: 'InternalError', message: 'no' }, { status: 500 });
  const { asked, log } = await play([no, no, no, () => list(5)], 10_000);
  expect(asked.slice(0, 5)).toEqual(['0 list', '200 list', '600 list', '1400 list', '1400 watch 5']);
  expect(log).toHaveLength(3);
});

test('a server that ends every watch at once is not asked without pause', async () => {
  const { asked } = await play([() => list(5), () => lines(), () => lines(), () => lines()], 450);
  expect(asked).toEqual(['0 list', '0 watch 5', '200 watch 5', '400 watch 5']);
});

test('a kind that is not served counts as synced, and is looked for again', async () => {
  const missing = () => Response.json({ reason: 'NotFound', message: 'no such kind' }, { status: 404 });
  const { isSynced, asked } = await play([missing, missing], 300);
  expect([isSynced, asked]).toEqual([true, ['0 list', '200 list']]);
});
