// The life of pods on a clock that stands still until moved: probes, hooks, grace, crashes, lost nodes.
import { afterEach, expect, test } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { cluster } from '../cluster.ts';
import type { Node, Pod } from '../kube/objects.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { tinyApi } from '../testing/tiny-api.ts';
import { conditionOf, isReady } from '../workloads/pod-state.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

async function world(nodes = 1, more: { listen?: boolean; podCidr?: string } = {}) {
  const clock = fakeClock();
  const start = clock.now();
  const api = tinyApi({ now: clock.now });
  const one = cluster({
    server: 'http://api',
    fetch: api.fetch,
    name: 'life',
    podCidr: '127.91.9.0/24',
    nodes,
    listen: false,
    clock,
    random: () => 0.5,
    ...more,
  });
  running.push(one);
  await one.start();
  const send = async (method: string, path: string, body?: object) => {
    await api.fetch(new Request(`http://api${path}`, { method, ...(body && { body: JSON.stringify(body) }) }));
    await clock.advance(0);
  };
  const pod = (name = 'p') => api.get<Pod>('pods', `a/${name}`);
  return {
    api,
    clock,
    cluster: one,
    send,
    pod,
    since: () => clock.now() - start,
    async run(spec: object, annotations: Record<string, string> = {}, name = 'p') {
      const full = { containers: [{ name: 'c' }], ...spec };
      await send('POST', '/api/v1/namespaces/a/pods', { metadata: { name, annotations }, spec: full });
      await clock.advance(0);
    },
    /** Moves time on, second by second, until `isSo`; answers how many it took. */
    async seconds(isSo: () => boolean, most = 600): Promise<number> {
      for (let n = 0; n <= most; n += 1) {
        if (isSo()) return n;
        await clock.advance(1000);
      }
      throw new Error(`not so within ${most} s`);
    },
    remove: (query = {}) => send('DELETE', '/api/v1/namespaces/a/pods/p', query),
    annotate: (annotations: object, name = 'p') =>
      send('PATCH', `/api/v1/namespaces/a/pods/${name}`, { metadata: { annotations } }),
  };
}

function state(pod: Pod | undefined, index = 0) {
  return pod!.status!.containerStatuses![index]!;
}

test('a start delay is time spent Pending, with its address already known', async () => {
  const w = await world();
  await w.run({}, { 'sim.fairlead.io/start-delay': '5s' });
  expect([w.pod()!.status!.phase, w.pod()!.status!.podIP]).toEqual(['Pending', '127.91.9.16']);
  expect(await w.seconds(() => w.pod()!.status!.phase === 'Running')).toBe(5);
});

test('init containers run one after the other, and a failing one is tried again', async () => {
  const w = await world();
  const initContainers = [
    { name: 'one', command: ['sleep', '3'] },
    { name: 'two', command: ['sh', '-c', 'sleep 2; true'] },
  ];
  await w.run({ initContainers });
  expect(conditionOf(w.pod()!.status!.conditions, 'Initialized')?.status).toBe('False');
  expect(await w.seconds(() => isReady(w.pod()!))).toBe(5);
  await w.run({ initContainers: [{ name: 'bad', command: ['false'] }] }, {}, 'never');
  await w.clock.advance(30_000);
  expect(w.pod('never')!.status!.phase).toBe('Pending');
  expect(w.pod('never')!.status!.initContainerStatuses![0]!.restartCount).toBeGreaterThan(1);
});

test('a container that crashes comes back at once, then after 10 s, then after 20 s', async () => {
  const w = await world();
  await w.run({});
  for (const [value, wait, restarts] of [
    ['a', 0, 1],
    ['b', 10, 2],
    ['c', 20, 3],
  ] as const) {
    await w.annotate({ 'sim.fairlead.io/crash': value });
    if (wait > 0) expect(state(w.pod()).state.waiting?.reason).toBe('CrashLoopBackOff');
    expect(await w.seconds(() => isReady(w.pod()!))).toBe(wait);
    expect([state(w.pod()).restartCount, state(w.pod()).lastState?.terminated?.exitCode]).toEqual([restarts, 1]);
  }
});

test.each([
  { policy: 'Never', code: 1, phase: 'Failed' },
  { policy: 'Never', code: 0, phase: 'Succeeded' },
  { policy: 'OnFailure', code: 0, phase: 'Succeeded' },
  { policy: 'OnFailure', code: 1, phase: 'Running' },
])('restartPolicy $policy and exit code $code: $phase', async ({ policy, code, phase }) => {
  const w = await world();
  await w.run({ restartPolicy: policy });
  w.cluster.crash('a/p', code);
  await w.clock.advance(0);
  expect(w.pod()!.status!.phase).toBe(phase);
});

test.each([
  {
    rule: 'preStop sleep holds the end back',
    spec: { containers: [{ name: 'c', lifecycle: { preStop: { sleep: { seconds: 7 } } } }] },
    seconds: 7,
  },
  {
    rule: 'preStop exec does too',
    spec: { containers: [{ name: 'c', lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', 'sleep 4'] } } } }] },
    seconds: 4,
  },
  {
    rule: 'the grace period ends a longer hook',
    spec: {
      terminationGracePeriodSeconds: 3,
      containers: [{ name: 'c', lifecycle: { preStop: { sleep: { seconds: 60 } } } }],
    },
    seconds: 3,
  },
  {
    rule: 'who ignores SIGTERM has the whole grace period',
    spec: { terminationGracePeriodSeconds: 9 },
    annotations: { 'sim.fairlead.io/ignore-sigterm': 'true' },
    seconds: 9,
  },
  { rule: 'without any of these it ends at once', spec: {}, seconds: 0 },
])('deletion: $rule', async ({ spec, annotations, seconds }) => {
  const w = await world();
  await w.run(spec, annotations);
  expect(isReady(w.pod()!)).toBe(true);
  await w.remove();
  expect(await w.seconds(() => w.pod() === undefined)).toBe(seconds);
});

test('a pod stays Ready while its preStop hook runs, and a second delete can only shorten its time', async () => {
  const w = await world();
  await w.run({ terminationGracePeriodSeconds: 30 }, { 'sim.fairlead.io/ignore-sigterm': 'true' });
  await w.remove();
  await w.clock.advance(5000);
  expect(isReady(w.pod()!)).toBe(true);
  await w.remove({ gracePeriodSeconds: 60 });
  await w.remove({ gracePeriodSeconds: 2 });
  expect(await w.seconds(() => w.pod() === undefined)).toBe(2);
});

test('a second delete with more grace changes nothing', async () => {
  const w = await world();
  await w.run({ terminationGracePeriodSeconds: 10 }, { 'sim.fairlead.io/ignore-sigterm': 'true' });
  await w.remove();
  await w.clock.advance(5000);
  await w.remove({ gracePeriodSeconds: 60 });
  expect(await w.seconds(() => w.pod() === undefined)).toBe(5);
});

test('the address of a pod that ran before is not given to one that was bound meanwhile', async () => {
  const w = await world();
  await w.run({ schedulingGates: [{ name: 'wait' }] }, {}, 'first');
  await w.run({});
  const before = w.pod()!.status!.podIP;
  await w.cluster.stop();
  await w.send('PATCH', '/api/v1/namespaces/a/pods/first', { spec: { schedulingGates: null } });
  await w.send('POST', '/api/v1/namespaces/a/pods/first/binding', {
    metadata: { name: 'first' },
    target: { kind: 'Node', name: 'life-node-1' },
  });
  await w.cluster.start();
  await w.clock.advance(0);
  expect(w.pod()!.status!.podIP).toBe(before);
  expect(w.pod('first')!.status!.podIP).not.toBe(before);
});

test('a pod that was being deleted when the simulator ended is finished by the next, not started again', async () => {
  const w = await world();
  await w.run({ terminationGracePeriodSeconds: 30 }, { 'sim.fairlead.io/ignore-sigterm': 'true' });
  await w.remove();
  await w.cluster.stop();
  await w.cluster.start();
  await w.seconds(() => w.pod() === undefined, 31);
});

test('restarts and readiness are known after a restart of the simulator', async () => {
  const w = await world();
  await w.run({});
  await w.annotate({ 'sim.fairlead.io/crash': 'once' });
  const before = w.pod()!;
  await w.cluster.stop();
  w.api.calls.length = 0;
  await w.cluster.start();
  await w.clock.advance(0);
  expect(w.pod()!.status).toEqual(before.status);
  expect(w.api.calls.filter((call) => call.includes('/pods/p/status'))).toEqual([]);
});

test('a lost node is called Unknown after its grace, its pods unready, and deleted after five minutes', async () => {
  const w = await world(2);
  await w.run({ nodeName: 'life-node-1' });
  await w.cluster.loseNode('life-node-1');
  const node = () => w.api.get<Node>('nodes', 'life-node-1')!;
  const ready = () => conditionOf(node().status!.conditions, 'Ready')!.status;
  const silent = await w.seconds(() => ready() === 'Unknown');
  expect(silent).toBeGreaterThan(29);
  expect(silent).toBeLessThan(42);
  expect(isReady(w.pod()!)).toBe(false);
  expect(node().spec!.taints!.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
    'node.kubernetes.io/unreachable:NoSchedule',
    'node.kubernetes.io/unreachable:NoExecute',
  ]);
  expect(await w.seconds(() => w.pod()?.metadata.deletionTimestamp !== undefined)).toBeGreaterThanOrEqual(299);
  w.cluster.restoreNode('life-node-1');
  await w.seconds(() => w.pod() === undefined, 40);
  expect([ready(), node().spec!.taints]).toEqual(['True', undefined]);
});

test('an annotation loses a node, over a restart of the simulator too, and taken off it restores it', async () => {
  const w = await world(2);
  await w.run({ nodeName: 'life-node-1' });
  const mark = (lost: string | null) =>
    w.send('PATCH', '/api/v1/nodes/life-node-1', { metadata: { annotations: { 'sim.fairlead.io/lost': lost } } });
  const ready = () => conditionOf(w.api.get<Node>('nodes', 'life-node-1')!.status!.conditions, 'Ready')!.status;
  await mark('true');
  expect(await w.seconds(() => ready() === 'Unknown')).toBeGreaterThan(29);
  await w.cluster.stop();
  await w.cluster.start();
  await w.clock.advance(60_000);
  expect([ready(), isReady(w.pod()!)]).toEqual(['Unknown', false]);
  await mark(null);
  expect(await w.seconds(() => ready() === 'True' && isReady(w.pod()!), 40)).toBeLessThan(15);
});

test('pods of a node that does not exist are removed, and so is a node of an earlier, larger start', async () => {
  const w = await world(1);
  await w.run({ nodeName: 'nowhere' });
  const labels = { 'sim.fairlead.io/cluster': 'life' };
  await w.send('POST', '/api/v1/nodes', { metadata: { name: 'life-node-9', labels } });
  await w.cluster.stop();
  await w.cluster.start();
  // A node may only be late to appear: its pods are given forty seconds.
  expect(await w.seconds(() => w.pod() === undefined && !w.api.get('nodes', 'life-node-9'))).toBe(40);
});

test('a pod no node can take says why, and is bound when one can', async () => {
  const w = await world(1);
  await w.run({ nodeSelector: { disk: 'fast' } });
  const scheduled = () => conditionOf(w.pod()!.status?.conditions, 'PodScheduled');
  expect(scheduled()).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  });
  await w.send('PATCH', '/api/v1/nodes/life-node-1', { metadata: { labels: { disk: 'fast' } } });
  await w.clock.advance(0);
  expect([w.pod()!.spec.nodeName, scheduled()?.status]).toEqual(['life-node-1', 'True']);
});

test('after a restart of the simulator what had ended stays so, and what was waiting to start again does', async () => {
  const w = await world();
  const initContainers = [{ name: 'i' }];
  await w.run({ initContainers, restartPolicy: 'Never', containers: [{ name: 'job' }, { name: 'sidecar' }] });
  await w.run({}, {}, 'looping');
  await w.annotate({ 'sim.fairlead.io/crash': 'a' }, 'looping');
  await w.annotate({ 'sim.fairlead.io/crash': 'b' }, 'looping');
  const status = w.pod()!.status!;
  const [job, ...others] = status.containerStatuses!;
  const terminated = {
    exitCode: 0,
    reason: 'Completed',
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: '2026-01-01T00:00:00Z',
  };
  await w.cluster.stop();
  const ended = { ...job, state: { terminated }, ready: false, started: false };
  await w.send('PATCH', '/api/v1/namespaces/a/pods/p/status', {
    status: { ...status, containerStatuses: [ended, ...others] },
  });
  await w.cluster.start();
  await w.clock.advance(0);
  expect(w.pod()!.status!.containerStatuses!.map((one) => Object.keys(one.state)[0])).toEqual([
    'terminated',
    'running',
  ]);
  expect(w.pod()!.status!.initContainerStatuses).toEqual(status.initContainerStatuses);
  expect([state(w.pod('looping')).restartCount, isReady(w.pod('looping')!)]).toEqual([2, true]);
});
