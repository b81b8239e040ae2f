// The pure steps of StatefulSets, DaemonSets and ReplicaSets.
import { expect, test } from 'vitest';
import type { Node, Pod } from '../kube/objects.ts';
import type { Daemons } from './daemon-step.ts';
import { daemonStep, isWanted } from './daemon-step.ts';
import { deletionOrder } from './scale-down.ts';
import type { Ordered } from './stateful-step.ts';
import { statefulStep } from './stateful-step.ts';

interface Shape {
  ready?: boolean;
  revision?: string;
  deleting?: boolean;
  phase?: string;
  node?: string;
  cost?: number;
  restarts?: number;
  created?: string;
  since?: string;
}

function pod(name: string, shape: Shape = {}): Pod {
  const { ready = true, revision = 'new', deleting, phase = 'Running', node = 'n1', cost, restarts = 0 } = shape;
  const containerStatuses = [{ name: 'c', state: {}, ready, restartCount: restarts, image: '', imageID: '' }];
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      labels: { 'controller-revision-hash': revision },
      creationTimestamp: shape.created ?? '2026-01-01T00:00:00Z',
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ...(cost !== undefined && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(cost) } }),
    },
    spec: { containers: [], ...(node && { nodeName: node }) },
    status: {
      phase,
      containerStatuses,
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: shape.since ?? '2026-01-01T00:00:00Z' },
      ],
    },
  };
}

const isReady = (one: Pod) => one.status!.conditions![0]!.status === 'True';

function ordered(pods: Record<number, Pod>, more: Partial<Ordered> = {}): Ordered {
  const held = new Map(Object.entries(pods).map(([ordinal, one]) => [Number(ordinal), one]));
  return {
    start: 0,
    replicas: 3,
    pods: held,
    isParallel: false,
    partition: 0,
    currentReplicas: 0,
    current: 'old',
    update: 'new',
    isAvailable: isReady,
    ...more,
  };
}

const p = pod;
const old = (name: string, shape: Shape = {}) => pod(name, { revision: 'old', ...shape });

test.each<{ rule: string; set: Ordered; want: string }>([
  { rule: 'the first is made alone', set: ordered({}), want: '+0:new' },
  { rule: 'the next waits until the one before is ready', set: ordered({ 0: p('0', { ready: false }) }), want: '' },
  { rule: 'then it is made', set: ordered({ 0: p('0') }), want: '+1:new' },
  { rule: 'all at once when Parallel', set: ordered({}, { isParallel: true }), want: '+0:new +1:new +2:new' },
  { rule: 'an ended pod is removed first', set: ordered({ 0: p('0', { phase: 'Failed', ready: false }) }), want: '-0' },
  {
    rule: 'nothing is made while its predecessor is terminating',
    set: ordered({ 0: p('0', { deleting: true }) }),
    want: '',
  },
  {
    rule: 'too many: the highest goes',
    set: ordered({ 0: p('0'), 1: p('1'), 2: p('2') }, { replicas: 1 }),
    want: '-2',
  },
  {
    rule: 'one at a time',
    set: ordered({ 0: p('0'), 1: p('1'), 2: p('2', { deleting: true }) }, { replicas: 1 }),
    want: '',
  },
  {
    rule: 'all too many at once when Parallel',
    set: ordered({ 0: p('0'), 1: p('1'), 2: p('2') }, { replicas: 1, isParallel: true }),
    want: '-2 -1',
  },
  {
    rule: 'nothing goes while a needed one is not ready',
    set: ordered({ 0: p('0', { ready: false }), 1: p('1') }, { replicas: 1 }),
    want: '',
  },
  { rule: 'an update begins at the highest', set: ordered({ 0: old('0'), 1: old('1'), 2: old('2') }), want: '-2' },
  {
    rule: 'it waits for the new one to be ready',
    set: ordered({ 0: old('0'), 1: old('1'), 2: p('2', { ready: false }) }),
    want: '',
  },
  { rule: 'then it goes on', set: ordered({ 0: old('0'), 1: old('1'), 2: p('2') }), want: '-1' },
  { rule: 'down to the partition', set: ordered({ 0: old('0'), 1: old('1'), 2: p('2') }, { partition: 2 }), want: '' },
  {
    rule: 'below the partition a lost pod comes back as it was',
    set: ordered({ 0: old('0'), 2: p('2') }, { partition: 2 }),
    want: '+1:old',
  },
  {
    rule: 'during an update a lost low pod comes back as it was',
    set: ordered({ 1: old('1'), 2: p('2') }, { currentReplicas: 2 }),
    want: '+0:old',
  },
  {
    rule: 'OnDelete updates nothing by itself',
    set: ordered({ 0: old('0'), 1: old('1'), 2: old('2') }, { partition: undefined }),
    want: '',
  },
  {
    rule: 'ordinals may begin elsewhere',
    set: ordered({ 4: p('4'), 5: p('5') }, { start: 5, replicas: 1 }),
    want: '-4',
  },
])('StatefulSet: $rule', ({ set, want }) => {
  const { make, remove } = statefulStep(set);
  expect(
    [...make.map((one) => `+${one.ordinal}:${one.revision}`), ...remove.map((one) => `-${one.metadata.name}`)].join(
      ' ',
    ),
  ).toBe(want);
});

function daemons(pods: Pod[], more: Partial<Daemons> = {}): Daemons {
  return {
    wanted: new Set(['n1', 'n2', 'n3']),
    pods,
    update: 'new',
    rolling: { maxSurge: 0, maxUnavailable: 1 },
    isAvailable: isReady,
    ...more,
  };
}

const on = (node: string, shape: Shape = {}) => pod(`${shape.revision ?? 'new'}@${node}`, { node, ...shape });
const oldOn = (node: string, shape: Shape = {}) => on(node, { revision: 'old', ...shape });
const surge = { rolling: { maxSurge: 1, maxUnavailable: 0 } };

test.each<{ rule: string; set: Daemons; want: string }>([
  { rule: 'every wanted node gets one', set: daemons([on('n2')]), want: '+n1 +n3' },
  { rule: 'an unwanted node loses its own', set: daemons([on('n1'), on('n2'), on('n3'), on('n9')]), want: '-new@n9' },
  {
    rule: 'an ended one is removed',
    set: daemons([on('n1', { phase: 'Failed', ready: false }), on('n2'), on('n3')]),
    want: '-new@n1',
  },
  {
    rule: 'while one is terminating its node waits',
    set: daemons([on('n1', { deleting: true }), on('n2'), on('n3')]),
    want: '',
  },
  {
    rule: 'old ones go, as many as may be unavailable',
    set: daemons([oldOn('n1'), oldOn('n2'), oldOn('n3')]),
    want: '-old@n1',
  },
  {
    rule: 'none more while a new one is not ready',
    set: daemons([on('n1', { ready: false }), oldOn('n2'), oldOn('n3')]),
    want: '',
  },
  {
    rule: 'an old one that is not ready costs nothing',
    set: daemons([oldOn('n1'), oldOn('n2', { ready: false }), on('n3')]),
    want: '-old@n2',
  },
  {
    rule: 'with surge the new one comes first',
    set: daemons([oldOn('n1'), oldOn('n2'), oldOn('n3')], surge),
    want: '+n1',
  },
  {
    rule: 'the old one stays until the new one is ready',
    set: daemons([oldOn('n1'), on('n1', { ready: false }), oldOn('n2'), oldOn('n3')], surge),
    want: '',
  },
  { rule: 'then it goes', set: daemons([oldOn('n1'), on('n1'), on('n2'), on('n3')], surge), want: '-old@n1' },
  {
    rule: 'OnDelete leaves old ones',
    set: daemons([oldOn('n1'), oldOn('n2'), oldOn('n3')], { rolling: undefined }),
    want: '',
  },
])('DaemonSet: $rule', ({ set, want }) => {
  const { make, remove } = daemonStep(set);
  expect([...make.map((one) => `+${one}`), ...remove.map((one) => `-${one.metadata.name}`)].join(' ')).toBe(want);
});

test.each([
  { rule: 'a plain node', spec: {}, template: {}, want: true },
  {
    rule: 'a cordoned node, too',
    spec: { taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
    template: {},
    want: true,
  },
  {
    rule: 'a tainted node not',
    spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
    template: {},
    want: false,
  },
  {
    rule: 'a tolerated taint is none',
    spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
    template: { tolerations: [{ key: 'gpu', value: 'yes' }] },
    want: true,
  },
  { rule: 'only nodes that are selected', spec: {}, template: { nodeSelector: { disk: 'fast' } }, want: false },
])('a DaemonSet runs on $rule: $want', ({ spec, template, want }) => {
  const node: Node = { metadata: { name: 'n', uid: 'n', resourceVersion: '1' }, spec };
  expect(isWanted({ ...pod('t'), spec: { containers: [], ...template } }, node)).toBe(want);
});

test.each([
  { rule: 'not bound before bound', first: p('x', { node: '' }), last: p('y', { ready: false }) },
  { rule: 'Pending before Running', first: p('x', { phase: 'Pending' }), last: p('y', { ready: false }) },
  { rule: 'not ready before ready', first: p('x', { ready: false }), last: p('y', { cost: -5 }) },
  { rule: 'lower cost before higher', first: p('x', { cost: -5 }), last: p('y', { restarts: 9 }) },
  {
    rule: 'ready for less time before longer',
    first: p('x', { since: '2026-01-03T00:00:00Z' }),
    last: p('y', { restarts: 9 }),
  },
  {
    rule: 'more restarts before fewer',
    first: p('x', { restarts: 9 }),
    last: p('y', { created: '2026-02-01T00:00:00Z' }),
  },
  { rule: 'created later before earlier', first: p('x', { created: '2026-02-01T00:00:00Z' }), last: p('y') },
])('who goes first: $rule', ({ first, last }) => {
  expect(deletionOrder([last, first]).map((one) => one.metadata.name)).toEqual(['x', 'y']);
});

test('who goes first: from the node with the most of ours', () => {
  const pods = [p('alone', { node: 'n2' }), p('a', { node: 'n1' }), p('b', { node: 'n1' })];
  expect(deletionOrder(pods).at(-1)?.metadata.name).toBe('alone');
});
