// What the server gives out by itself, and what it leaves to those who ask for something by name.
import { expect, test } from 'vitest';
import { addresses } from './addresses.ts';
import { listOf, treeOf, type KubeObject, type Tree } from './object.ts';

/** Always the first that may be given. */
const pool = (serviceCidr: string) => addresses({ serviceCidr, random: (bytes) => new Uint8Array(bytes) });

const service = (spec: Tree = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a' },
  spec: { type: 'NodePort', ports: [{ port: 80 }], ...spec },
});

function given(object: KubeObject): [unknown, unknown] {
  const spec = treeOf(object.spec);
  return [spec.clusterIP, treeOf(listOf(spec.ports)[0]).nodePort];
}

test('the lowest of a range are left to those who ask for them', () => {
  const { give } = pool('10.96.0.0/16');
  const [first, second, asked] = [
    service(),
    service(),
    service({ clusterIP: '10.96.0.10', ports: [{ port: 80, nodePort: 30_000 }] }),
  ];
  for (const one of [first, second, asked]) expect(give(one, undefined).ok).toBe(true);
  expect([given(first), given(second), given(asked)]).toEqual([
    ['10.96.1.1', 30_086],
    ['10.96.1.2', 30_087],
    ['10.96.0.10', 30_000],
  ]);
});

test('when the rest is used up they are given out too, each once', () => {
  const { give } = pool('10.96.0.0/27');
  const all = Array.from({ length: 30 }, () => service({ type: 'ClusterIP' }));
  for (const one of all) expect(give(one, undefined).ok).toBe(true);
  expect(given(all[0] ?? service())[0]).toBe('10.96.0.17');
  expect(new Set(all.map((one) => given(one)[0])).size).toBe(30);
  expect(give(service({ type: 'ClusterIP' }), undefined).ok).toBe(false);
});
