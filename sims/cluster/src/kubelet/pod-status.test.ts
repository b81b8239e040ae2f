import { expect, test } from 'vitest';
import type { Condition, ContainerState, Pod } from '../kube/objects.ts';
import type { ContainerView, PodView } from './pod-status.ts';
import { podStatus } from './pod-status.ts';

const running: ContainerState = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const waiting: ContainerState = { waiting: { reason: 'ContainerCreating' } };
const ended = (exitCode: number): ContainerState => ({
  terminated: { exitCode, reason: 'x', startedAt: '', finishedAt: '' },
});

function container(state: ContainerState, more: Partial<ContainerView> = {}): ContainerView {
  return {
    name: 'c',
    image: 'i',
    id: 'id',
    state,
    lastState: {},
    restarts: 0,
    isStarted: true,
    isReady: state === running,
    isOver: false,
    ...more,
  };
}

function status(containers: ContainerView[], more: { pod?: Partial<Pod>; view?: Partial<PodView> } = {}) {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'a', uid: 'u', resourceVersion: '1' },
    spec: { containers: [] },
    ...more.pod,
  };
  const view = {
    ip: '127.0.0.2',
    hostIp: '127.0.0.1',
    startedAt: 0,
    isInitialized: true,
    inits: [],
    containers,
    ...more.view,
  };
  return podStatus(pod, view, Date.parse('2026-01-02T00:00:00Z'));
}

test.each([
  { rule: 'nothing started yet', containers: [container(waiting)], want: 'Pending' },
  { rule: 'init containers not done', containers: [container(waiting)], initialized: false, want: 'Pending' },
  { rule: 'one of two runs', containers: [container(running), container(waiting)], want: 'Running' },
  { rule: 'waiting to be started again', containers: [container(waiting, { lastState: ended(1) })], want: 'Running' },
  { rule: 'ended but to be started again', containers: [container(ended(1))], want: 'Running' },
  { rule: 'all over, well', containers: [container(ended(0), { isOver: true })], want: 'Succeeded' },
  {
    rule: 'all over, one badly',
    containers: [container(ended(0), { isOver: true }), container(ended(137), { isOver: true })],
    want: 'Failed',
  },
])('phase with $rule is $want', ({ containers, initialized = true, want }) => {
  expect(status(containers, { view: { isInitialized: initialized } }).phase).toBe(want);
});

const state = (conditions: Condition[] | undefined, type: string) => conditions?.find((one) => one.type === type);

test.each([
  { rule: 'no gates and ready containers', gates: [], found: [], ready: true, want: ['True', undefined] },
  { rule: 'a container not ready', gates: [], found: [], ready: false, want: ['False', 'ContainersNotReady'] },
  {
    rule: 'a gate nobody has written',
    gates: ['lb'],
    found: [],
    ready: true,
    want: ['False', 'ReadinessGatesNotReady'],
  },
  {
    rule: 'a gate that is False',
    gates: ['lb'],
    found: ['False'],
    ready: true,
    want: ['False', 'ReadinessGatesNotReady'],
  },
  { rule: 'a gate that is True', gates: ['lb'], found: ['True'], ready: true, want: ['True', undefined] },
  {
    rule: 'a gate that is True and a container not ready',
    gates: ['lb'],
    found: ['True'],
    ready: false,
    want: ['False', 'ContainersNotReady'],
  },
])('Ready with $rule', ({ gates, found, ready, want }) => {
  const conditions = found.map((one) => ({ type: 'lb', status: one as 'True' | 'False' }));
  const spec = { containers: [], readinessGates: gates.map((conditionType) => ({ conditionType })) };
  const told = status([container(running, { isReady: ready })], { pod: { spec, status: { conditions } } });
  const one = state(told.conditions, 'Ready');
  expect([one?.status, one?.reason]).toEqual(want);
  expect(state(told.conditions, 'ContainersReady')?.status).toBe(ready ? 'True' : 'False');
  expect(state(told.conditions, 'lb')).toEqual(conditions[0]);
});

test('a condition keeps its time until its status changes', () => {
  const before = [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' } as Condition];
  const same = status([container(running)], { pod: { status: { conditions: before } } });
  expect(state(same.conditions, 'Ready')?.lastTransitionTime).toBe('2020-01-01T00:00:00Z');
  const changed = status([container(running, { isReady: false })], { pod: { status: { conditions: before } } });
  expect(state(changed.conditions, 'Ready')?.lastTransitionTime).toBe('2026-01-02T00:00:00Z');
});
