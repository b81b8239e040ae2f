// Single objects that are followed by name.
import { expect, test } from 'vitest';
import { secrets, type Secret } from './kinds.ts';
import type { Kube, WatchOptions, WatchSink } from './kube.ts';
import { namedStore } from './named.ts';

const at = { namespace: 'shop', name: 'tls' };
const secret = (resourceVersion: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...at, uid: 'u', resourceVersion },
});

/** A store whose watches are in our hands. */
function world() {
  const watches: { options: WatchOptions<Secret>; sink: WatchSink<Secret>; signal: AbortSignal }[] = [];
  const watch: Kube['watch'] = (_kind, options, sink, signal) => {
    watches.push({
      options: options as unknown as WatchOptions<Secret>,
      sink: sink as unknown as WatchSink<Secret>,
      signal,
    });
    return new Promise((ended) => signal.addEventListener('abort', () => ended()));
  };
  const stop = new AbortController();
  const store = namedStore({ watch }, secrets);
  const heard: string[] = [];
  store.listen(({ name }) => heard.push(`${name} ${store.see({ ...at, name }).state}`));
  const ended = store.run(stop.signal);
  return { store, watches, heard, end: async () => (stop.abort(), await ended) };
}

test('one watch for each name, by a field selector, however many follow it; it ends with the last of them', async () => {
  const { store, watches, end } = world();
  const [first, second] = [store.follow(at), store.follow(at)];
  expect(watches.map(({ options }) => options)).toEqual([{ namespace: 'shop', fieldSelector: 'metadata.name=tls' }]);
  first();
  first();
  expect(watches[0]?.signal.aborted).toBe(false);
  second();
  expect(watches[0]?.signal.aborted).toBe(true);
  expect(store.see(at)).toEqual({ state: 'unknown' });
  await end();
});

test('what is followed before the run begins is watched once it does', async () => {
  const watched: string[] = [];
  const watch: Kube['watch'] = async (_, { fieldSelector }) => void watched.push(fieldSelector ?? '');
  const store = namedStore({ watch }, secrets);
  store.follow(at);
  expect(watched).toEqual([]);
  await store.run(AbortSignal.abort());
  expect(watched).toEqual(['metadata.name=tls']);
});

test('here, changed, gone; the same state is told once', () => {
  const { store, watches, heard } = world();
  store.follow(at);
  const sink = watches[0]!.sink;
  sink.replace([secret('1')]);
  sink.put(secret('1'));
  sink.put(secret('2'));
  sink.remove(secret('2'));
  sink.replace([]);
  expect(heard).toEqual(['tls here', 'tls here', 'tls absent']);
});

test('what cannot be looked at is hidden, but what was seen once stays', () => {
  const { store, watches, heard } = world();
  store.follow(at);
  const sink = watches[0]!.sink;
  const problem = { code: 'denied' as const, message: 'no' };
  sink.trouble(problem);
  expect(store.see(at)).toEqual({ state: 'hidden', problem });
  sink.replace([secret('1')]);
  sink.trouble(problem);
  expect(heard).toEqual(['tls hidden', 'tls here']);
});
