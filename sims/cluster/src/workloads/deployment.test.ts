// Deployments and StatefulSets as they go, on a clock that stands still until moved and pods that do not listen.
import { afterEach, expect, test } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { cluster } from '../cluster.ts';
import type { Deployment, Pod, ReplicaSet, StatefulSet } from '../kube/objects.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { tinyApi } from '../testing/tiny-api.ts';
import { conditionOf, isActive, isReady } from './pod-state.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

const apps = '/apis/apps/v1/namespaces/a';

async function world() {
  const clock = fakeClock();
  const api = tinyApi({ now: clock.now });
  const one = cluster({
    server: 'http://api',
    fetch: api.fetch,
    name: 'w',
    podCidr: '127.91.10.0/24',
    nodes: 2,
    listen: false,
    clock,
    random: () => 0.5,
  });
  running.push(one);
  await one.start();
  const settle = () => clock.advance(100);
  const send = async (method: string, path: string, body?: object) => {
    await api.fetch(new Request(`http://api${path}`, { method, ...(body && { body: JSON.stringify(body) }) }));
    await settle();
  };
  const template = (image: string, annotations: object = {}) => ({
    metadata: { labels: { app: 'web' }, annotations },
    spec: { containers: [{ name: 'c', image }] },
  });
  return {
    api,
    clock,
    send,
    template,
    create: (spec: object, plural = 'deployments') =>
      send('POST', `${apps}/${plural}`, {
        metadata: { name: 'web' },
        spec: { selector: { matchLabels: { app: 'web' } }, template: template('1'), ...spec },
      }),
    patch: (spec: object, plural = 'deployments') => send('PATCH', `${apps}/${plural}/web`, { spec }),
    deployment: () => api.get<Deployment>('deployments', 'a/web')!,
    pods: () => api.list<Pod>('pods').filter(isActive),
    sets: () => api.list<ReplicaSet>('replicasets'),
    condition: (type: string) => conditionOf(api.get<Deployment>('deployments', 'a/web')!.status?.conditions, type),
  };
}

const images = (pods: Pod[]) =>
  pods
    .map((pod) => pod.spec.containers[0]!.image)
    .sort()
    .join('');

test('Recreate: no new pod before the last old one is gone', async () => {
  const w = await world();
  await w.create({ replicas: 3, strategy: { type: 'Recreate' } });
  const seen = new Set<string>();
  void w.api.until(() => {
    seen.add([...new Set(w.api.list<Pod>('pods').map((pod) => pod.spec.containers[0]!.image))].join(''));
    return false;
  });
  await w.patch({ template: w.template('2') });
  await w.clock.advance(1000);
  expect(images(w.pods())).toBe('222');
  expect([...seen]).toEqual(['1', '', '2']);
});

test('only as many old ReplicaSets stay as the history limit says, and going back takes up the old one', async () => {
  const w = await world();
  await w.create({ replicas: 1, revisionHistoryLimit: 1 });
  const [first] = w.sets();
  for (const image of ['2', '3']) {
    await w.patch({ template: w.template(image) });
    await w.clock.advance(1000);
  }
  const revisions = () =>
    w
      .sets()
      .map((set) => set.metadata.annotations!['deployment.kubernetes.io/revision'])
      .sort();
  expect(revisions()).toEqual(['2', '3']);
  expect(w.sets().some((set) => set.metadata.uid === first!.metadata.uid)).toBe(false);
  await w.patch({ template: w.template('2') });
  await w.clock.advance(1000);
  const back = w.sets().find((set) => set.spec.template.spec.containers[0]!.image === '2')!;
  expect(revisions()).toEqual(['3', '4']);
  expect([back.spec.replicas, back.metadata.annotations!['deployment.kubernetes.io/revision-history']]).toEqual([
    1,
    '2',
  ]);
});

test('paused, a new template changes nothing but a new size does; resumed, the rollout begins', async () => {
  const w = await world();
  await w.create({ replicas: 2 });
  await w.patch({ paused: true, template: w.template('2') });
  expect([images(w.pods()), w.condition('Progressing')!.reason]).toEqual(['11', 'DeploymentPaused']);
  await w.patch({ replicas: 3 });
  expect(images(w.pods())).toBe('111');
  await w.patch({ paused: false });
  await w.clock.advance(1000);
  expect(images(w.pods())).toBe('222');
});

test('a rollout that does not move is called overdue after its deadline, and not before', async () => {
  const w = await world();
  await w.create({ replicas: 2, progressDeadlineSeconds: 60 });
  await w.patch({ template: w.template('2', { 'sim.fairlead.io/ready': 'false' }) });
  await w.clock.advance(58_000);
  expect(w.condition('Progressing')!.status).toBe('True');
  await w.clock.advance(4000);
  expect(w.condition('Progressing')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
  expect([w.condition('Available')!.status, images(w.pods().filter(isReady))]).toEqual(['True', '11']);
});

test('scaled in the middle of a rollout, each ReplicaSet keeps its share', async () => {
  const w = await world();
  await w.create({
    replicas: 8,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } },
  });
  await w.patch({ template: w.template('2', { 'sim.fairlead.io/ready': 'false' }) });
  expect(images(w.pods())).toBe('11111122');
  await w.patch({ replicas: 16 });
  expect(images(w.pods())).toBe('1111111111112222');
});

test('minReadySeconds holds the rollout back until new pods have been ready so long', async () => {
  const w = await world();
  await w.create({ replicas: 2, minReadySeconds: 30, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  expect(w.deployment().status).toMatchObject({ readyReplicas: 2, unavailableReplicas: 2 });
  await w.clock.advance(31_000);
  expect(w.deployment().status).toMatchObject({ availableReplicas: 2, unavailableReplicas: 0 });
  await w.patch({ template: w.template('2') });
  expect(images(w.pods())).toBe('112');
  await w.clock.advance(31_000);
  expect(images(w.pods())).toBe('122');
  await w.clock.advance(31_000);
  expect(images(w.pods())).toBe('22');
});

test('a ReplicaSet of that name that is not ours leads to another name', async () => {
  const w = await world();
  await w.create({ replicas: 1 });
  const [ours] = w.sets();
  const name = ours!.metadata.name;
  await w.send('DELETE', `${apps}/deployments/web`);
  await w.send('POST', `${apps}/replicasets`, {
    metadata: { name, labels: { app: 'else' } },
    spec: { replicas: 0, selector: { matchLabels: { app: 'else' } }, template: { spec: { containers: [] } } },
  });
  await w.create({ replicas: 1 });
  await w.clock.advance(1000);
  expect([w.sets().length, w.deployment().status!.collisionCount, w.deployment().status!.readyReplicas]).toEqual([
    2, 1, 1,
  ]);
});

test('a refused pod shows in the conditions, and is made when it is no longer refused', async () => {
  const w = await world();
  w.api.refuse('POST', /\/pods$/, 403);
  await w.create({ replicas: 1 });
  await w.clock.advance(1000);
  expect([w.condition('ReplicaFailure'), images(w.pods())]).toEqual([undefined, '1']);
});

test("a StatefulSet's current revision moves only when the update is over", async () => {
  const w = await world();
  await w.create({ replicas: 3, serviceName: 'web' }, 'statefulsets');
  await w.clock.advance(1000);
  const status = () => w.api.get<StatefulSet>('statefulsets', 'a/web')!.status!;
  const before = status().currentRevision;
  expect(status()).toMatchObject({ readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3, updateRevision: before });
  await w.patch({ template: w.template('2', { 'sim.fairlead.io/ready': 'false' }) }, 'statefulsets');
  await w.clock.advance(1000);
  expect(images(w.pods())).toBe('112');
  expect(status()).toMatchObject({ currentRevision: before, currentReplicas: 2, updatedReplicas: 1 });
  // As in Kubernetes, a pod that is not ready holds up the next update too.
  await w.patch({ template: w.template('3', { 'sim.fairlead.io/ready': null }) }, 'statefulsets');
  await w.clock.advance(1000);
  expect(images(w.pods())).toBe('112');
  await w.send('PATCH', '/api/v1/namespaces/a/pods/web-2', {
    metadata: { annotations: { 'sim.fairlead.io/ready': null } },
  });
  await w.clock.advance(1000);
  expect([images(w.pods()), status().currentRevision === status().updateRevision, status().currentReplicas]).toEqual([
    '333',
    true,
    3,
  ]);
  expect(w.pods().map((pod) => [pod.metadata.name, pod.spec.hostname, pod.spec.subdomain])).toContainEqual([
    'web-0',
    'web-0',
    'web',
  ]);
});
