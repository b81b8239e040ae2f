// What every Kubernetes API server must do for our client, as tests: one call for each server.
import {
  configMaps,
  namespaces,
  store,
  type ConfigMap,
  type Kube,
  type KubeResult,
  type LiveStore,
} from '@fairlead/kube';
import { expect, test } from 'vitest';

/** A server that answers. Each rule works in a namespace of its own, so a real cluster can be given too. */
export interface KubePlace {
  kube: Kube;
  /** The same server, without credentials. */
  stranger: Kube;
  close(): Promise<void>;
}

export interface KubeSuite {
  make(): Promise<KubePlace>;
  /** Begins the names of the namespaces; differs for each run where the server outlives it. */
  prefix: string;
}

interface World {
  kube: Kube;
  stranger: Kube;
  namespace: string;
  /** A ConfigMap in the namespace, with the label `suite: kube`. */
  configMap(name: string, words: Record<string, string>): ConfigMap;
}

const rules: Record<string, (world: World) => Promise<void>> = {
  async 'what was made reads back equal, and a name is given once'({ kube, configMap, namespace }) {
    const made = await value(kube.create(configMaps, configMap('a', { a: '1' })));
    expect(await value(kube.get(configMaps, { namespace, name: 'a' }))).toEqual(made);
    expect(await code(kube.create(configMaps, configMap('a', {})))).toBe('exists');
  },

  async 'a replace of an older state is a conflict'({ kube, configMap }) {
    const made = await value(kube.create(configMaps, configMap('a', { a: '1' })));
    const changed = await value(kube.replace(configMaps, { ...made, data: { a: '2' } }));
    expect(changed.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
    expect(await code(kube.replace(configMaps, { ...made, data: { a: '3' } }))).toBe('conflict');
  },

  async 'a merge patch sets and removes, a JSON patch tests first'({ kube, configMap, namespace }) {
    const at = { namespace, name: 'a' };
    await value(kube.create(configMaps, configMap('a', { a: '1' })));
    const merged = await value(kube.patch(configMaps, at, { type: 'merge', body: { data: { b: '1', a: null } } }));
    expect(merged.data).toEqual({ b: '1' });
    const json = (was: string) => [
      { op: 'test', path: '/data/b', value: was },
      { op: 'replace', path: '/data/b', value: '2' },
    ];
    expect((await value(kube.patch(configMaps, at, { type: 'json', body: json('1') }))).data).toEqual({ b: '2' });
    expect(await code(kube.patch(configMaps, at, { type: 'json', body: json('1') }))).toBe('invalid');
  },

  async 'a patch that changes nothing leaves the resourceVersion'({ kube, configMap, namespace }) {
    const made = await value(kube.create(configMaps, configMap('a', { a: '1' })));
    const same = { type: 'merge', body: { data: { a: '1' } } } as const;
    const patched = await value(kube.patch(configMaps, { namespace, name: 'a' }, same));
    expect(patched.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  },

  async 'two appliers own their fields, and a quarrel is a conflict'({ kube, configMap }) {
    await value(kube.apply(configMaps, configMap('a', { a: '1' }), { fieldManager: 'one' }));
    const both = await value(kube.apply(configMaps, configMap('a', { b: '1' }), { fieldManager: 'two' }));
    expect(both.data).toEqual({ a: '1', b: '1' });
    const quarrel = configMap('a', { a: '2' });
    expect(await code(kube.apply(configMaps, quarrel, { fieldManager: 'two' }))).toBe('conflict');
    const forced = await value(kube.apply(configMaps, quarrel, { fieldManager: 'two', force: true }));
    expect(forced.data).toEqual({ a: '2' });
  },

  async 'a dry run answers as if, and leaves nothing'({ kube, configMap, namespace }) {
    expect((await value(kube.create(configMaps, configMap('a', { a: '1' }), { dryRun: true }))).data).toEqual({
      a: '1',
    });
    expect(await code(kube.get(configMaps, { namespace, name: 'a' }))).toBe('missing');
  },

  async 'a remove for another uid is a conflict, and what is gone is missing'({ kube, configMap, namespace }) {
    const at = { namespace, name: 'a' };
    const made = await value(kube.create(configMaps, configMap('a', {})));
    expect(await code(kube.remove(configMaps, at, { uid: 'another' }))).toBe('conflict');
    await value(kube.remove(configMaps, at, { uid: made.metadata.uid }));
    expect([await code(kube.get(configMaps, at)), await code(kube.remove(configMaps, at))]).toEqual([
      'missing',
      'missing',
    ]);
  },

  async 'a finalizer holds an object until it is taken off'({ kube, configMap, namespace }) {
    const at = { namespace, name: 'a' };
    const held = configMap('a', {});
    held.metadata.finalizers = ['fairlead.io/suite'];
    await value(kube.create(configMaps, held));
    await value(kube.remove(configMaps, at));
    expect((await value(kube.get(configMaps, at))).metadata.deletionTimestamp).toBeDefined();
    await value(kube.patch(configMaps, at, { type: 'merge', body: { metadata: { finalizers: null } } }));
    expect(await code(kube.get(configMaps, at))).toBe('missing');
  },

  async 'what is not of the schema is invalid, and a stranger is denied'({ kube, stranger, configMap, namespace }) {
    const odd = { ...configMap('a', {}), data: { a: 1 } } as unknown as ConfigMap;
    expect(await code(kube.create(configMaps, odd))).toBe('invalid');
    expect(await code(stranger.list(configMaps, { namespace }))).toBe('denied');
  },

  async 'selectors choose, and a list of several pages comes whole'({ kube, configMap, namespace }) {
    const names = Array.from({ length: 1_100 }, (_, index) => `n${index}`);
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(
        names.slice(from, from + 50).map((name) => value(kube.create(configMaps, configMap(name, {})))),
      );
    const labelled = await value(kube.list(configMaps, { namespace, labelSelector: 'suite=kube' }));
    expect(new Set(labelled.items.map(({ metadata }) => metadata.name))).toEqual(new Set(names));
    const one = await value(kube.list(configMaps, { namespace, fieldSelector: 'metadata.name=n7' }));
    expect(one.items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name])).toEqual([
      ['v1', 'ConfigMap', 'n7'],
    ]);
  },

  async 'a store holds what was there and follows each change, also out of its selector'({
    kube,
    configMap,
    namespace,
  }) {
    const at = { namespace, name: 'a' };
    await value(kube.create(configMaps, configMap('a', { a: '1' })));
    const copy = store(kube, configMaps, { namespace, labelSelector: 'suite=kube' });
    await followed(copy, async (seen) => {
      await value(kube.create(configMaps, configMap('b', { b: '1' })));
      await value(kube.patch(configMaps, at, { type: 'merge', body: { data: { a: '2' } } }));
      await value(kube.patch(configMaps, at, { type: 'merge', body: { metadata: { labels: { suite: 'no' } } } }));
      await value(kube.remove(configMaps, { ...at, name: 'b' }));
      expect(await seen(5)).toEqual(['>a:1', '>b:1', 'a:1>a:2', 'a:2>', 'b:1>']);
    });
    expect([...copy.all()]).toEqual([]);
  },
};

/** Registers one test per rule. */
export function testKube({ make, prefix }: KubeSuite): void {
  for (const [index, [name, rule]] of Object.entries(rules).entries())
    test(name, async () => {
      const { kube, stranger, close } = await make();
      const namespace = `${prefix}-${index}`;
      try {
        await value(kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }));
        const configMap: World['configMap'] = (name, words) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace, labels: { suite: 'kube' } },
          data: words,
        });
        await rule({ kube, stranger, namespace, configMap });
        await value(kube.remove(namespaces, { name: namespace }));
      } finally {
        await close();
      }
    });
}

async function value<T>(answer: Promise<KubeResult<T>>): Promise<T> {
  const got = await answer;
  if (!got.ok) throw new Error(got.problem.message);
  return got.value;
}

async function code(answer: Promise<KubeResult<unknown>>): Promise<string | undefined> {
  const got = await answer;
  return got.ok ? undefined : got.problem.code;
}

/** Runs `copy` while `work` works. `seen(n)` waits for n changes and gives them, as `before>after`. */
async function followed(
  copy: LiveStore<ConfigMap>,
  work: (seen: (count: number) => Promise<string[]>) => Promise<void>,
): Promise<void> {
  const changes: string[] = [];
  let arrived = () => {};
  copy.listen(({ before, after }) => {
    changes.push(`${wordsOf(before)}>${wordsOf(after)}`);
    arrived();
  });
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  await copy.ready();
  try {
    await work(async (count) => {
      while (changes.length < count) await new Promise<void>((resolve) => (arrived = resolve));
      return changes;
    });
  } finally {
    stop.abort();
    await running;
  }
}

const wordsOf = (object: ConfigMap | undefined): string =>
  Object.entries(object?.data ?? {})
    .map(([key, text]) => `${key}:${text}`)
    .join();
