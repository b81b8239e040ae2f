import { expect, test } from 'vitest';
import type { IntOrString, Pod } from '../kube/objects.ts';
import { budgetOf } from './budget.ts';

const now = Date.parse('2026-01-01T00:10:00Z');

function pod(name: string, ready = true): Pod {
  return {
    metadata: { name, uid: name, resourceVersion: '1' },
    spec: { containers: [] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

const pods = (healthy: number, broken = 0) => [
  ...Array.from({ length: healthy }, (_, i) => pod(`h${i}`)),
  ...Array.from({ length: broken }, (_, i) => pod(`b${i}`, false)),
];

test.each<{
  rule: string;
  spec: { minAvailable?: IntOrString; maxUnavailable?: IntOrString };
  pods: Pod[];
  scale?: number;
  want: number[];
}>([
  { rule: 'minAvailable', spec: { minAvailable: 3 }, pods: pods(5), want: [5, 3, 2] },
  { rule: 'minAvailable with a broken pod', spec: { minAvailable: 3 }, pods: pods(3, 2), want: [5, 3, 0] },
  { rule: 'a percentage rounds up', spec: { minAvailable: '50%' }, pods: pods(5), scale: 5, want: [5, 3, 2] },
  { rule: 'maxUnavailable', spec: { maxUnavailable: 1 }, pods: pods(4), scale: 4, want: [4, 3, 1] },
  {
    rule: 'maxUnavailable while one is missing',
    spec: { maxUnavailable: 1 },
    pods: pods(3),
    scale: 4,
    want: [4, 3, 0],
  },
  {
    rule: 'maxUnavailable as a percentage rounds up',
    spec: { maxUnavailable: '30%' },
    pods: pods(5),
    scale: 5,
    want: [5, 3, 2],
  },
  { rule: 'no pods: nothing is allowed', spec: { maxUnavailable: 1 }, pods: [], scale: 0, want: [0, 0, 0] },
])('$rule', ({ spec, pods: all, scale = 0, want }) => {
  const found = budgetOf({ metadata: { name: 'b', uid: 'b', resourceVersion: '1' }, spec }, all, { scale, now });
  expect([found.expectedPods, found.desiredHealthy, found.disruptionsAllowed]).toEqual(want);
});

test('an eviction that was noted counts until its pod is going or two minutes are over', () => {
  const all = pods(4);
  all[1]!.metadata.deletionTimestamp = '2026-01-01T00:10:00Z';
  const disruptedPods = {
    h0: '2026-01-01T00:09:30Z',
    h1: '2026-01-01T00:09:30Z',
    h2: '2026-01-01T00:05:00Z',
    gone: '2026-01-01T00:09:30Z',
  };
  const found = budgetOf(
    { metadata: { name: 'b', uid: 'b', resourceVersion: '1' }, spec: { minAvailable: 1 }, status: { disruptedPods } },
    all,
    { scale: 4, now },
  );
  expect(Object.keys(found.disruptedPods)).toEqual(['h0']);
  expect([found.currentHealthy, found.disruptionsAllowed]).toEqual([2, 1]);
});
