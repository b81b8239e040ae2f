import { expect, test } from 'vitest';
import type { Pod } from './objects.ts';
import { Store } from './store.ts';

function pod(name: string, version: number, more: { uid?: string; node?: string } = {}): Pod {
  return {
    metadata: { name, namespace: 'a', uid: more.uid ?? name, resourceVersion: String(version) },
    spec: { containers: [], nodeName: more.node ?? 'n' },
  };
}

function setup() {
  const store = new Store<Pod>({ node: (one) => [one.spec.nodeName!] });
  const changes: string[] = [];
  store.onChange(({ key, before, after }) =>
    changes.push(`${key} ${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`),
  );
  return {
    store,
    changes,
    on: (node: string) =>
      store
        .by('node', node)
        .map((one) => one.metadata.name)
        .sort(),
  };
}

test('the newer of two wins, whichever comes first', () => {
  const { store, changes } = setup();
  store.put(pod('p', 5));
  store.put(pod('p', 4));
  store.put(pod('p', 5));
  store.put(pod('p', 6));
  expect(changes).toEqual(['a/p ->5', 'a/p 5>6']);
});

test('an answer that arrives after the deletion does not bring the object back', () => {
  const { store, changes } = setup();
  store.put(pod('p', 5));
  store.remove(pod('p', 7));
  store.put(pod('p', 6));
  store.forget({ namespace: 'a', name: 'q' }, 'q');
  store.put(pod('q', 3));
  expect([store.size, changes]).toEqual([0, ['a/p ->5', 'a/p 5>-']]);
});

test('a new object of the same name is another one, and the late deletion of the old leaves it', () => {
  const { store } = setup();
  store.put(pod('p', 5, { uid: 'old' }));
  store.put(pod('p', 9, { uid: 'new' }));
  store.remove(pod('p', 8, { uid: 'old' }));
  expect(store.get('a/p')?.metadata.uid).toBe('new');
});

test('an index follows what it is made of', () => {
  const { store, on } = setup();
  store.put(pod('p', 1, { node: 'x' }));
  store.put(pod('q', 2, { node: 'x' }));
  store.put(pod('p', 3, { node: 'y' }));
  store.remove(pod('q', 4));
  expect([on('x'), on('y'), store.count('node', 'y')]).toEqual([[], ['p'], 1]);
});

test('a list removes what it lacks, but not what we wrote after it was made', () => {
  const { store } = setup();
  store.put(pod('old', 3));
  store.put(pod('ours', 12));
  store.replace([pod('listed', 8)], '10');
  expect([...store.all()].map((one) => one.metadata.name).sort()).toEqual(['listed', 'ours']);
});
