// What a watcher does in each situation that a server, or the way to it, can bring about.
import { getEventListeners } from 'node:events';
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import type { KubeOptions } from './client.ts';
import { configMaps } from './kinds.ts';
import type { Trouble } from './kube.ts';
import {
  type Answer,
  bookmark,
  clientOf,
  configMap,
  json,
  listOf,
  mark,
  refused,
  scripted,
  streamed,
} from './scripted.ts';
import { store } from './store.ts';

const refusal = () => refused(422, 'Invalid');

/** A store whose server has no WatchList and answers as told after the first refusal. Stop it at the end of each test. */
async function begin(answers: Answer[], options: Partial<KubeOptions> = {}) {
  const clock = fakeClock();
  const server = scripted(refusal(), ...answers);
  const troubles: Trouble[] = [];
  const copy = store(clientOf(server, clock, { report: (trouble) => troubles.push(trouble), ...options }), configMaps);
  const seen: string[] = [];
  copy.listen(({ before, after }) => seen.push(`${mark(before)}>${mark(after)}`));
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  await clock.advance(0);
  const end = async () => {
    stop.abort();
    await running;
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  };
  /** What was asked after the refused try, without the parts that are always there. */
  const asks = () =>
    server.lines.slice(1).map((line) => line.replace(/&timeoutSeconds=\d+|allowWatchBookmarks=true&/g, ''));
  return { clock, server, copy, seen, troubles, end, asks, stop };
}

const listPath = 'GET /api/v1/configmaps?limit=500';
const watchPath = (at: string) => `GET /api/v1/configmaps?watch=true&resourceVersion=${at}`;

test('a watch asks for bookmarks, and for an end after five to ten minutes', async () => {
  const low = await begin([listOf([], '1')]);
  expect(low.server.lines[2]).toContain('watch=true&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=300');
  await low.end();
  const high = await begin([listOf([], '1')], { random: () => 0.999 });
  expect(high.server.lines[2]).toContain('timeoutSeconds=599');
  await high.end();
});

test('a watch that the server closes after a while is resumed at once from the last event', async () => {
  const first = streamed();
  const { clock, copy, seen, end, asks } = await begin([listOf([configMap('a', '1')], '5'), first.answer]);
  expect(copy.synced).toBe(true);
  first.event('MODIFIED', configMap('a', '6'));
  first.event('ADDED', configMap('b', '7'));
  await clock.advance(60_000);
  first.close();
  await clock.advance(0);
  expect(asks()).toEqual([listPath, watchPath('5'), watchPath('7')]);
  expect(seen).toEqual(['>a@1', 'a@1>a@6', '>b@7']);
  await end();
});

test('a watch that is closed at once, again and again, is retried ever more slowly', async () => {
  const closes = Array.from({ length: 40 }, () => {
    const one = streamed();
    one.close();
    return one.answer;
  });
  const { clock, server, troubles, end } = await begin([listOf([], '1'), ...closes]);
  await clock.advance(6_000);
  const early = server.asked.length;
  expect(early).toBeLessThan(10);
  await clock.advance(60_000);
  const late = server.asked.length - early;
  expect(late).toBeLessThanOrEqual(6);
  expect(troubles[0]).toMatchObject({
    problem: { code: 'unreachable', message: expect.stringContaining('ended after') },
  });
  await end();
});

test.each([
  [
    'an ERROR event',
    (stream: ReturnType<typeof streamed>) => stream.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }),
  ],
  ['an answer of 410', undefined],
])('after %s the kind is listed again, and the old copy stays until the new list is whole', async (_, tell) => {
  const first = streamed();
  const gone = tell ? first.answer : refused(410, 'Expired');
  const { clock, server, copy, seen, end, asks } = await begin([
    listOf([configMap('a', '1'), configMap('b', '2')], '5'),
    gone,
  ]);
  tell?.(first);
  await clock.advance(0);
  expect(asks()).toEqual([listPath, watchPath('5'), listPath]);
  expect([copy.synced, [...copy.all()].length]).toEqual([true, 2]);
  const second = streamed();
  server.next(listOf([configMap('b', '2'), configMap('c', '8')], '9'), second.answer);
  await clock.advance(0);
  expect(seen).toEqual(['>a@1', '>b@2', 'a@1>', '>c@8']);
  expect(asks().at(-1)).toBe(watchPath('9'));
  await end();
});

test('a 410 that comes again and again is not a storm of lists', async () => {
  const rounds = Array.from({ length: 40 }, () => [listOf([], '1'), refused(410, 'Expired')]).flat();
  const { clock, server, end } = await begin(rounds);
  await clock.advance(6_000);
  expect(server.asked.length).toBeLessThan(20);
  await end();
});

test('a connection reset is told, and the watch resumes', async () => {
  const first = streamed();
  const { clock, copy, troubles, end, asks } = await begin([listOf([], '1'), first.answer]);
  first.event('ADDED', configMap('a', '3'));
  first.reset();
  await clock.advance(0);
  expect(troubles).toEqual([
    { doing: 'watch configmaps', problem: { code: 'unreachable', message: 'GET /api/v1/configmaps: read ECONNRESET' } },
  ]);
  expect(copy.problem?.code).toBe('unreachable');
  await clock.advance(250);
  expect(asks()).toEqual([listPath, watchPath('1'), watchPath('3')]);
  await end();
});

test('a problem is over when a watch is open again', async () => {
  const second = streamed();
  const { clock, copy, end } = await begin([listOf([], '1'), new Error('connect ECONNREFUSED'), second.answer]);
  expect(copy.problem?.message).toContain('ECONNREFUSED');
  await clock.advance(250);
  expect(copy.problem).toBeUndefined();
  await end();
});

test.each([
  { rule: 'a 500 is waited out by back-off', answer: () => refused(500, 'InternalError'), wait: 125 },
  {
    rule: 'a 429 is waited out as it says',
    answer: () => refused(429, 'TooManyRequests', { 'retry-after': '7' }),
    wait: 7_000,
  },
  { rule: 'a 403 may be lifted, so it is retried', answer: () => refused(403, 'Forbidden'), wait: 125 },
])('$rule', async ({ answer, wait }) => {
  const { clock, end, asks } = await begin([listOf([], '1'), answer()]);
  await clock.advance(wait - 1);
  expect(asks()).toEqual([listPath, watchPath('1')]);
  await clock.advance(1);
  expect(asks()).toEqual([listPath, watchPath('1'), watchPath('1')]);
  await end();
});

test('an ERROR event other than 410 resumes after a wait', async () => {
  const first = streamed();
  const { clock, troubles, end, asks } = await begin([listOf([], '1'), first.answer]);
  first.event('ERROR', {
    kind: 'Status',
    code: 500,
    reason: 'InternalError',
    message: 'etcd is away',
    details: { retryAfterSeconds: 2 },
  });
  await clock.advance(1_999);
  expect(asks().length).toBe(2);
  await clock.advance(1);
  expect(asks().at(-1)).toBe(watchPath('1'));
  expect(troubles[0]).toMatchObject({ problem: { code: 'busy', message: expect.stringContaining('etcd is away') } });
  await end();
});

test('a resourceVersion that the server calls invalid is given up for a list', async () => {
  const { clock, end, asks } = await begin([listOf([], 'odd'), refused(400, 'BadRequest'), listOf([], '2')]);
  await clock.advance(250);
  expect(asks()).toEqual([listPath, watchPath('odd'), listPath, watchPath('2')]);
  await end();
});

test('a server that is behind the place to resume from, restored from a backup, is listed again', async () => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
  const behind = json({ kind: 'Status', code: 504, reason: 'Timeout', details }, 504);
  const { end, asks } = await begin([listOf([], '500'), behind, listOf([], '20')]);
  expect(asks()).toEqual([listPath, watchPath('500'), listPath, watchPath('20')]);
  await end();
});

test('a stream that was sound ends the count of failures', async () => {
  const fails = [1, 2, 3, 4].map(() => refused(500, 'InternalError'));
  const sound = streamed();
  const { clock, server, end, asks } = await begin([listOf([], '1'), ...fails, sound.answer]);
  await clock.advance(2_000);
  expect(asks().length).toBe(6);
  await clock.advance(20_000);
  server.next(refused(500, 'InternalError'));
  sound.close();
  await clock.advance(0);
  expect(asks().length).toBe(7);
  await clock.advance(125);
  expect(asks().length).toBe(8);
  await end();
});

test('many resumes leave no listeners on the signal', async () => {
  const streams = Array.from({ length: 20 }, () => streamed());
  const { clock, stop, end, asks } = await begin([listOf([], '1'), ...streams.map(({ answer }) => answer)]);
  for (const stream of streams) {
    await clock.advance(20_000);
    stream.close();
  }
  await clock.advance(0);
  expect(asks().length).toBe(22);
  expect(getEventListeners(stop.signal, 'abort').length).toBeLessThan(3);
  await end();
});

test('who aborts from within a listener hears nothing of the same chunk any more', async () => {
  const first = streamed();
  const { clock, copy, seen, stop, end } = await begin([listOf([], '1'), first.answer]);
  copy.listen(() => stop.abort());
  const lines = ['a', 'b'].map((name) => `${JSON.stringify({ type: 'ADDED', object: configMap(name, '2') })}\n`);
  first.bytes(new TextEncoder().encode(lines.join('')));
  await clock.advance(0);
  expect(seen).toEqual(['>a@2']);
  await end();
});

test('a bookmark moves the place to resume from, and is no change', async () => {
  const first = streamed();
  const { clock, seen, end, asks } = await begin([listOf([], '1'), first.answer]);
  first.event('BOOKMARK', bookmark('40'));
  await clock.advance(20_000);
  first.close();
  await clock.advance(0);
  expect(asks().at(-1)).toBe(watchPath('40'));
  expect(seen).toEqual([]);
  await end();
});

test('a connection on which nothing was heard for long is replaced', async () => {
  const first = streamed();
  const { clock, end, asks } = await begin([listOf([], '1'), first.answer]);
  await clock.advance(100_000);
  first.event('BOOKMARK', bookmark('2'));
  await clock.advance(149_999);
  expect(asks().length).toBe(2);
  await clock.advance(1);
  expect(asks().at(-1)).toBe(watchPath('2'));
  await end();
});

test('chunks may split lines and characters anywhere', async () => {
  const first = streamed();
  const { clock, copy, end } = await begin([listOf([], '1'), first.answer]);
  const long = 'ü€😀'.repeat(5_000);
  const lines = ['a', 'b'].map((name, index) =>
    JSON.stringify({ type: 'ADDED', object: configMap(name, `${index + 2}`, { data: { long } }) }),
  );
  const bytes = new TextEncoder().encode(`${lines.join('\n')}\n`);
  for (let from = 0; from < bytes.length; from += 7) first.bytes(bytes.subarray(from, from + 7));
  await clock.advance(0);
  // A body of this many chunks takes more rounds than a step of the clock waits for.
  while (copy.get({ namespace: 'shop', name: 'b' }) === undefined) await clock.advance(0);
  expect([...copy.all()].map(({ data }) => data?.['long'] === long)).toEqual([true, true]);
  await end();
});

test('half an event at the end of a stream is not believed', async () => {
  const first = streamed();
  const { clock, seen, end, asks } = await begin([listOf([], '1'), first.answer]);
  first.event('ADDED', configMap('a', '2'));
  first.bytes(new TextEncoder().encode('{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"3"}}}'));
  await clock.advance(20_000);
  first.close();
  await clock.advance(0);
  expect(seen).toEqual(['>a@2']);
  expect(asks().at(-1)).toBe(watchPath('2'));
  await end();
});

test.each([
  ['not JSON', '<html>'],
  ['no object', '{"type":"ADDED"}'],
  ['unknown', '{"type":"NEW","object":{"metadata":{"resourceVersion":"1"}}}'],
])('a line that is %s breaks the stream, and is told', async (_, line) => {
  const first = streamed();
  const { clock, troubles, end, asks } = await begin([listOf([], '1'), first.answer]);
  first.bytes(new TextEncoder().encode(`${line}\n`));
  await clock.advance(250);
  expect(troubles).toMatchObject([{ problem: { code: 'unreachable' } }]);
  expect(asks().at(-1)).toBe(watchPath('1'));
  await end();
});

test('a listener that throws is reported, and others and later events go on', async () => {
  const first = streamed();
  const { clock, copy, seen, troubles, end } = await begin([listOf([], '1'), first.answer]);
  const bug = new Error('bug');
  const order: string[] = [];
  copy.listen(() => {
    throw bug;
  });
  copy.listen(({ after }) => order.push(mark(after)));
  first.event('ADDED', configMap('a', '2'));
  first.event('ADDED', configMap('b', '3'));
  await clock.advance(0);
  expect(seen).toEqual(['>a@2', '>b@3']);
  expect(order).toEqual(['a@2', 'b@3']);
  expect(troubles).toEqual([
    { doing: 'watch configmaps', bug },
    { doing: 'watch configmaps', bug },
  ]);
  await end();
});

test('after the abort nothing more is told or asked', async () => {
  const first = streamed();
  const { clock, server, copy, seen, end } = await begin([listOf([configMap('a', '1')], '1'), first.answer]);
  await end();
  first.event('DELETED', configMap('a', '2'));
  await clock.advance(600_000);
  expect([seen, server.asked.length]).toEqual([['>a@1'], 3]);
  expect([...copy.all()].length).toBe(1);
});

test('a list that fails is tried again until it works', async () => {
  const broken = Array.from({ length: 4 }, () => new Error('connect ECONNREFUSED'));
  const { clock, copy, end } = await begin([...broken, json({ kind: 'odd' }), listOf([], '1')]);
  await clock.advance(700);
  expect([copy.synced, copy.problem]).toEqual([false, expect.objectContaining({ code: 'unreachable' })]);
  await clock.advance(5_000);
  expect([copy.synced, copy.problem]).toEqual([true, undefined]);
  await end();
});
