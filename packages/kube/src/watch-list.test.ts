// How the first whole list comes: streamed where the server can (WatchList), in pages elsewhere, projected in both.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { configMaps, type ConfigMap } from './kinds.ts';
import { bookmark, clientOf, configMap, initialEnd, listOf, mark, refused, scripted, streamed } from './scripted.ts';
import { store } from './store.ts';

const refusal = () => refused(422, 'Invalid');
const listPath = 'GET /api/v1/configmaps?limit=500';

test('an initial list that breaks half-way starts from nothing, after a growing wait however long it took', async () => {
  const clock = fakeClock();
  const streams = [streamed(), streamed(), streamed()] as const;
  const server = scripted(...streams.map(({ answer }) => answer));
  const copy = store(clientOf(server, clock, { report: () => {} }), configMaps);
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  for (const [index, wait] of [
    [0, 125],
    [1, 250],
  ] as const) {
    for (const name of ['a', 'b', 'c', 'd']) {
      streams[index].event('ADDED', configMap(`${name}${index}`, '1'));
      await clock.advance(4_000);
    }
    streams[index].reset();
    await clock.advance(wait - 1);
    expect(server.asked.length).toBe(index + 1);
    await clock.advance(1);
    expect(server.asked.length).toBe(index + 2);
  }
  streams[2].event('BOOKMARK', bookmark('2', initialEnd));
  await clock.advance(0);
  expect([copy.synced, [...copy.all()]]).toEqual([true, []]);
  stop.abort();
  await running;
});

test("a list that arrives with the abort is nobody's", async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const late = () => {
    stop.abort();
    return listOf([configMap('a', '1')], '1');
  };
  const copy = store(clientOf(scripted(refusal(), late), clock), configMaps);
  await copy.run(stop.signal);
  expect([copy.synced, [...copy.all()]]).toEqual([false, []]);
});

test('what is not needed is projected away, from lists, streams of lists and changes alike', async () => {
  const clock = fakeClock();
  const pages = streamed();
  const project = (object: ConfigMap): ConfigMap => ({ ...object, data: {} });
  const fat = (name: string, at: string) => configMap(name, at, { data: { fat: 'x' } });
  const initial = streamed();
  const server = scripted(initial.answer);
  const client = clientOf(server, clock);
  const stop = new AbortController();
  const copies = [store(client, configMaps, { project })];
  const runs = copies.map((copy) => copy.run(stop.signal));
  initial.event('ADDED', fat('a', '1'));
  initial.event('BOOKMARK', bookmark('1', initialEnd));
  initial.event('ADDED', fat('b', '2'));
  await clock.advance(0);
  server.next(refusal(), listOf([fat('a', '1')], '2'), pages.answer);
  const paged = store(client, configMaps, { project });
  runs.push(paged.run(stop.signal));
  await clock.advance(0);
  pages.event('MODIFIED', fat('a', '3'));
  await clock.advance(0);
  const all = [...copies, paged].flatMap((copy) => [...copy.all()]);
  expect(all.map((object) => [mark(object), object.data])).toEqual([
    ['a@1', {}],
    ['b@2', {}],
    ['a@3', {}],
  ]);
  stop.abort();
  await Promise.all(runs);
});

test('a server that has WatchList is asked for one stream: the copy is whole at the marked bookmark', async () => {
  const clock = fakeClock();
  const first = streamed();
  const server = scripted(first.answer);
  const copy = store(clientOf(server, clock), configMaps);
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  first.event('ADDED', configMap('a', '1'));
  first.event('ADDED', configMap('b', '2'));
  first.event('MODIFIED', configMap('a', '3'));
  first.event('DELETED', configMap('b', '4'));
  first.event('BOOKMARK', bookmark('4'));
  await clock.advance(0);
  expect([copy.synced, [...copy.all()].length]).toEqual([false, 0]);
  first.event('BOOKMARK', bookmark('5', initialEnd));
  first.event('ADDED', configMap('c', '6'));
  await clock.advance(100_000);
  expect([...copy.all()].map(mark)).toEqual(['a@3', 'c@6']);
  expect(server.lines).toEqual([
    'GET /api/v1/configmaps?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300',
  ]);
  first.close();
  await clock.advance(0);
  expect(server.lines[1]).toContain('resourceVersion=6');
  stop.abort();
  await running;
});

test('a server that takes WatchList for a plain watch is found out by its silence, once', async () => {
  const clock = fakeClock();
  const first = streamed();
  const server = scripted(first.answer);
  const client = clientOf(server, clock);
  const stop = new AbortController();
  const running = store(client, configMaps).run(stop.signal);
  first.event('ADDED', configMap('a', '1'));
  await clock.advance(5_000);
  expect(server.lines[1]).toBe(listPath);
  const another = store(client, configMaps).run(stop.signal);
  await clock.advance(0);
  expect(server.lines[2]).toBe(listPath);
  stop.abort();
  await Promise.all([running, another]);
});
