// A client that is exchanged under its stores: what they hear of it.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { configMaps, type ConfigMap } from './kinds.ts';
import type { Kube, WatchSink } from './kube.ts';
import { clientOf, configMap, mark, scripted } from './scripted.ts';
import { store } from './store.ts';
import { switched } from './switched.ts';

/** A server whose watches are in our hands. */
function server(name: string): Kube & { sink?: WatchSink<ConfigMap>; watches: number } {
  const here: Kube & { sink?: WatchSink<ConfigMap>; watches: number } = {
    ...clientOf(scripted(), fakeClock()),
    server: name,
    watches: 0,
    watch(_kind, _options, sink, signal) {
      here.sink = sink as unknown as WatchSink<ConfigMap>;
      here.watches += 1;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
  };
  return here;
}

const settled = () => new Promise<void>((done) => setImmediate(done));

function followed() {
  const first = server('first');
  const same = new Set<Kube>([first]);
  const bugs: unknown[] = [];
  const client = switched(first, { isSame: async (kube) => same.has(kube), onBug: (bug) => bugs.push(bug) });
  const copy = store(client.kube, configMaps);
  const seen: string[] = [];
  copy.listen(({ before, after }) => seen.push(`${mark(before)}>${mark(after)}`));
  const stop = new AbortController();
  const done = copy.run(stop.signal);
  const end = async () => {
    stop.abort();
    await done;
  };
  return { first, same, client, copy, seen, bugs, end };
}

test('a store goes over to the next client and hears only what differs', async () => {
  const { first, same, client, copy, seen, end } = followed();
  first.sink?.replace([configMap('a', '1'), configMap('b', '1')]);
  await settled();
  const next = server('next');
  same.add(next);
  client.use(next);
  await settled();
  expect([client.kube.server, next.watches]).toEqual(['next', 1]);
  next.sink?.replace([configMap('a', '1'), configMap('b', '2')]);
  await settled();
  expect(seen).toEqual(['>a@1', '>b@1', 'b@1>b@2']);
  first.sink?.put(configMap('c', '1'));
  expect([...copy.all()]).toHaveLength(2);
  await end();
});

test('the list of another server is not passed on, nor what follows it', async () => {
  const { first, same, copy, seen, end } = followed();
  first.sink?.replace([configMap('a', '1')]);
  await settled();
  same.clear();
  first.sink?.replace([]);
  first.sink?.put(configMap('x', '1'));
  await settled();
  first.sink?.put(configMap('y', '1'));
  expect(seen).toEqual(['>a@1']);
  expect(copy.get({ name: 'a', namespace: configMap('a', '1').metadata.namespace })).toBeDefined();
  same.add(first);
  first.sink?.replace([configMap('a', '2')]);
  await settled();
  expect(seen).toEqual(['>a@1', 'a@1>a@2']);
  await end();
});

test('what comes while the question is open is told after the list, in order', async () => {
  const { first, seen, end } = followed();
  first.sink?.replace([configMap('a', '1')]);
  first.sink?.put(configMap('a', '2'));
  expect(seen).toEqual([]);
  await settled();
  expect(seen).toEqual(['>a@1', 'a@1>a@2']);
  await end();
});

test('a listener that throws is told of, and the stream goes on', async () => {
  const { first, copy, bugs, seen, end } = followed();
  copy.listen(() => {
    throw new Error('bug of a listener');
  });
  first.sink?.replace([configMap('a', '1')]);
  await settled();
  first.sink?.put(configMap('b', '1'));
  expect(bugs).toHaveLength(2);
  expect(seen).toEqual(['>a@1', '>b@1']);
  await end();
});
