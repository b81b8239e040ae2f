// What the live copy holds, finds and tells.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { configMaps, type ConfigMap } from './kinds.ts';
import type { Change, Kube, KubeProblem, WatchOptions, WatchSink } from './kube.ts';
import { clientOf, configMap, mark, scripted } from './scripted.ts';
import { type LiveStore, store, type StoreOptions } from './store.ts';

interface Fed {
  copy: LiveStore<ConfigMap>;
  sink: WatchSink<ConfigMap>;
  seen: string[];
  given: WatchOptions<ConfigMap>;
}

/** A store with its sink in our hands. */
function fed(options: StoreOptions<ConfigMap> = {}): Fed {
  const caught: { sink?: WatchSink<ConfigMap>; given?: WatchOptions<ConfigMap> } = {};
  const watch = (_kind: unknown, given: unknown, sink: unknown) => {
    caught.sink = sink as WatchSink<ConfigMap>;
    caught.given = given as WatchOptions<ConfigMap>;
    return Promise.resolve();
  };
  const kube: Kube = { ...clientOf(scripted(), fakeClock()), watch };
  const copy = store(kube, configMaps, options);
  void copy.run(new AbortController().signal);
  const seen: string[] = [];
  copy.listen(({ before, after }) => seen.push(`${mark(before)}>${mark(after)}`));
  const { sink, given } = caught;
  if (!sink || !given) throw new Error('bug: the store did not watch');
  return { copy, sink, seen, given };
}

const names = (objects: Iterable<ConfigMap>) => [...objects].map(({ metadata }) => metadata.name);
const labelled = (name: string, resourceVersion: string, app: string, namespace = 'shop'): ConfigMap => ({
  ...configMap(name, resourceVersion),
  metadata: { ...configMap(name, resourceVersion).metadata, namespace, labels: { app } },
});
const byApp: StoreOptions<ConfigMap> = { indexes: { app: ({ metadata }) => [metadata.labels?.['app'] ?? ''] } };

const cases: { rule: string; steps: (sink: WatchSink<ConfigMap>) => void; seen: string[] }[] = [
  { rule: 'a new object is an add', steps: (sink) => sink.put(configMap('a', '1')), seen: ['>a@1'] },
  {
    rule: 'a change has what was there before',
    steps: (sink) => [configMap('a', '1'), configMap('a', '2')].map(sink.put),
    seen: ['>a@1', 'a@1>a@2'],
  },
  {
    rule: 'the same resourceVersion again is no change',
    steps: (sink) => [configMap('a', '1'), configMap('a', '1')].map(sink.put),
    seen: ['>a@1'],
  },
  {
    rule: 'a delete has what was there before',
    steps: (sink) => {
      sink.put(configMap('a', '1'));
      sink.remove(configMap('a', '2'));
    },
    seen: ['>a@1', 'a@1>'],
  },
  { rule: 'a delete of what is not there is nothing', steps: (sink) => sink.remove(configMap('a', '2')), seen: [] },
  {
    rule: 'an object made anew under the name is a delete and an add',
    steps: (sink) => {
      sink.put(configMap('a', '1'));
      sink.put({ ...configMap('a', '5'), metadata: { ...configMap('a', '5').metadata, uid: 'another' } });
    },
    seen: ['>a@1', 'a@1>', '>a@5'],
  },
  {
    rule: 'a whole list deletes what is not in it, and is silent about what is equal',
    steps: (sink) => {
      sink.replace([configMap('a', '1'), configMap('b', '1'), configMap('c', '1')]);
      sink.replace([configMap('b', '1'), configMap('c', '2'), configMap('d', '3')]);
    },
    seen: ['>a@1', '>b@1', '>c@1', 'a@1>', 'c@1>c@2', '>d@3'],
  },
];

for (const { rule, steps, seen } of cases)
  test(rule, () => {
    const one = fed();
    steps(one.sink);
    expect(one.seen).toEqual(seen);
  });

test('objects are found by name, by namespace and by index, and no longer where they were', () => {
  const { copy, sink } = fed(byApp);
  sink.put(labelled('a', '1', 'web'));
  sink.put(labelled('b', '1', 'web', 'other'));
  expect(copy.get({ namespace: 'other', name: 'b' })?.metadata.resourceVersion).toBe('1');
  expect(copy.get({ namespace: 'other', name: 'a' })).toBeUndefined();
  expect([names(copy.inNamespace('shop')), names(copy.by('app', 'web')), names(copy.all())]).toEqual([
    ['a'],
    ['a', 'b'],
    ['a', 'b'],
  ]);
  sink.put(labelled('a', '2', 'db'));
  sink.remove(labelled('b', '2', 'web', 'other'));
  expect([names(copy.by('app', 'web')), names(copy.by('app', 'db')), names(copy.inNamespace('other'))]).toEqual([
    [],
    ['a'],
    [],
  ]);
});

test('a whole list replaces what the indexes find', () => {
  const { copy, sink } = fed(byApp);
  sink.replace([labelled('a', '1', 'web'), labelled('b', '1', 'web')]);
  sink.replace([labelled('b', '2', 'db')]);
  expect([names(copy.by('app', 'web')), names(copy.by('app', 'db'))]).toEqual([[], ['b']]);
});

test('an index that was not asked for is a bug', () => {
  expect(() => fed().copy.by('app', 'web')).toThrow('bug');
});

test('listeners find the new state in the copy already, the whole list at once', () => {
  const { copy, sink } = fed();
  const sizes: [boolean, number][] = [];
  copy.listen(() => sizes.push([copy.synced, names(copy.all()).length]));
  sink.replace([configMap('a', '1'), configMap('b', '1')]);
  expect(sizes).toEqual([
    [true, 2],
    [true, 2],
  ]);
});

test('a listener hears what comes after it began and before it stopped', () => {
  const { copy, sink } = fed();
  sink.put(configMap('a', '1'));
  const heard: string[] = [];
  const listener = ({ after }: Change<ConfigMap>) => heard.push(mark(after));
  const [stopOne, stopTwo] = [copy.listen(listener), copy.listen(listener)];
  sink.put(configMap('b', '2'));
  stopOne();
  sink.put(configMap('c', '3'));
  stopTwo();
  sink.put(configMap('d', '4'));
  expect(heard).toEqual(['b@2', 'b@2', 'c@3']);
});

test('a listener stopped, or begun, by one before it does not hear of the same change', () => {
  const { copy, sink } = fed();
  const heard: string[] = [];
  copy.listen(() => {
    stop();
    copy.listen(() => heard.push('begun'));
  });
  const stop = copy.listen(() => heard.push('stopped'));
  sink.put(configMap('a', '1'));
  expect(heard).toEqual([]);
});

test('all listeners hear all changes, though some throw; then the bugs come out together', () => {
  const { copy, sink } = fed();
  const heard: string[] = [];
  copy.listen(() => {
    throw new Error('one');
  });
  copy.listen(({ after }) => heard.push(mark(after)));
  expect(() => sink.replace([configMap('a', '1'), configMap('b', '1')])).toThrow('bug: 2 listeners');
  expect(heard).toEqual(['a@1', 'b@1']);
});

test('ready waits for the first whole list, or for the abort', async () => {
  const { copy, sink } = fed();
  const stop = new AbortController();
  const order: string[] = [];
  const waits = [
    copy.ready().then(() => order.push('synced')),
    copy.ready(stop.signal).then(() => order.push('aborted')),
  ];
  stop.abort();
  await waits[1];
  expect([order, copy.synced]).toEqual([['aborted'], false]);
  sink.replace([]);
  await waits[0];
  await copy.ready();
  expect([order, copy.synced]).toEqual([['aborted', 'synced'], true]);
});

test('the present problem can be read', () => {
  const { copy, sink } = fed();
  const problem: KubeProblem = { code: 'denied', message: 'no' };
  sink.trouble(problem);
  expect(copy.problem).toBe(problem);
  sink.trouble(undefined);
  expect(copy.problem).toBeUndefined();
});

test('selectors and projection go to the watch', () => {
  const project = (object: ConfigMap) => object;
  const { given } = fed({ namespace: 'shop', labelSelector: 'a=b', fieldSelector: 'c=d', project, ...byApp });
  expect(given).toEqual({ namespace: 'shop', labelSelector: 'a=b', fieldSelector: 'c=d', project });
});

test('a store that runs cannot be run again', async () => {
  const copy = store({ ...clientOf(scripted(), fakeClock()), watch: () => new Promise<void>(() => {}) }, configMaps);
  void copy.run(new AbortController().signal);
  await expect(copy.run(new AbortController().signal)).rejects.toThrow('bug');
});
