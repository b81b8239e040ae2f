import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Cluster, ClusterOptions } from './index.ts';
import { cluster } from './index.ts';
import type { Deployment, Endpoints, EndpointSlice, Pod } from './kube/objects.ts';
import { isReady } from './workloads/pod-state.ts';
import type { TinyApi } from './testing/tiny-api.ts';
import { tinyApi } from './testing/tiny-api.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

// Each test has a block of its own, so that a port still closing in one is not in the way of the next.
let block = 10;

async function start(api: TinyApi, options: Partial<ClusterOptions> = {}): Promise<Cluster> {
  const podCidr = options.podCidr ?? `127.91.${(block += 1)}.0/24`;
  const one = cluster({ server: 'http://api', fetch: api.fetch, name: 'test', podCidr, nodes: 2, ...options });
  running.push(one);
  await one.start();
  return one;
}

interface Shape {
  name?: string;
  replicas?: number;
  ports?: object[];
  pod?: object;
  annotations?: Record<string, string>;
  container?: object;
}

function deployment({ name = 'web', replicas = 1, ports, pod, annotations = {}, container }: Shape = {}): object {
  const one = { name: 'main', image: 'web:1', ports: ports ?? [{ name: 'http', containerPort: 8080 }], ...container };
  return {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name }, annotations }, spec: { containers: [one], ...pod } },
    },
  };
}

const apps = '/apis/apps/v1/namespaces/shop/deployments';

function send(api: TinyApi, method: string, path: string, body?: object): Promise<Response> {
  return api.fetch(new Request(`http://api${path}`, { method, ...(body && { body: JSON.stringify(body) }) }));
}

function service(name = 'web', spec: object = {}): object {
  return {
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
  };
}

function pods(api: TinyApi): Pod[] {
  return api.list<Pod>('pods');
}

function readyPods(api: TinyApi, n: number): Promise<Pod[]> {
  return api.until(
    () => pods(api).filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp).length === n && pods(api),
  );
}

test('a Deployment becomes pods that answer with their names on their own addresses, and an EndpointSlice', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', '/api/v1/namespaces/shop/services', service());
  await send(api, 'POST', apps, deployment({ replicas: 2 }));
  const all = await readyPods(api, 2);

  const slice = await api.until(() =>
    api
      .list<EndpointSlice>('endpointslices')
      .find((one) => one.endpoints?.filter((e) => e.conditions.ready).length === 2),
  );
  expect(slice.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  expect(slice.endpoints?.map((one) => one.zone).sort()).toEqual(['zone-a', 'zone-b']);
  const answers = await Promise.all(all.map((pod) => fetch(`http://${pod.status!.podIP}:8080/who`)));
  expect(answers.map((one) => one.headers.get('x-pod'))).toEqual(all.map((pod) => pod.metadata.name));
  expect(await answers[0]!.json()).toMatchObject({
    service: 'web',
    namespace: 'shop',
    cluster: 'test',
    port: 8080,
    path: '/who',
  });
  const subset = await api.until(() =>
    api.get<Endpoints>('endpoints', 'shop/web')?.subsets?.find((one) => one.addresses?.length === 2),
  );
  expect(subset.notReadyAddresses).toBeUndefined();
  const told = await api.until(
    () =>
      api.get<Deployment>('deployments', 'shop/web')?.status?.availableReplicas === 2 &&
      api.get<Deployment>('deployments', 'shop/web'),
  );
  expect(told.status?.conditions?.map((one) => `${one.type}=${one.status}`).sort()).toEqual([
    'Available=True',
    'Progressing=True',
  ]);
});

test('the readiness annotation reaches the EndpointSlice, and the pod goes on serving', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', '/api/v1/namespaces/shop/services', service());
  await send(api, 'POST', apps, deployment());
  const [pod] = await readyPods(api, 1);
  await send(api, 'PATCH', `/api/v1/namespaces/shop/pods/${pod!.metadata.name}`, {
    metadata: { annotations: { 'sim.fairlead.io/ready': 'false' } },
  });
  const endpoint = await api.until(() =>
    api.list<EndpointSlice>('endpointslices')[0]?.endpoints?.find((one) => one.conditions.ready === false),
  );
  expect(endpoint.conditions).toEqual({ ready: false, serving: false, terminating: false });
  expect((await fetch(`http://${pod!.status!.podIP}:8080/healthz`)).status).toBe(503);
  expect((await fetch(`http://${pod!.status!.podIP}:8080/`)).status).toBe(200);
  await fetch(`http://${pod!.status!.podIP}:8080/-/ready?value=false`, { method: 'POST' });
  await send(api, 'PATCH', `/api/v1/namespaces/shop/pods/${pod!.metadata.name}`, {
    metadata: { annotations: { 'sim.fairlead.io/ready': null } },
  });
  await fetch(`http://${pod!.status!.podIP}:8080/-/ready?value=true`, { method: 'POST' });
  await readyPods(api, 1);
});

test('a readiness gate holds Ready back, and a gate written by another is never lost', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', apps, deployment({ pod: { readinessGates: [{ conditionType: 'lb/ready' }] } }));
  const pod = await api.until(() =>
    pods(api).find((one) => one.status?.conditions?.some((c) => c.type === 'ContainersReady' && c.status === 'True')),
  );
  expect(isReady(pod)).toBe(false);
  const gate = { type: 'lb/ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  await send(api, 'PATCH', `/api/v1/namespaces/shop/pods/${pod.metadata.name}/status`, {
    status: { conditions: [...pod.status!.conditions!, gate] },
  });
  const [ready] = await readyPods(api, 1);
  expect(ready!.status!.conditions).toContainEqual(gate);
});

test('a gate written while the kubelet writes is not lost', async () => {
  const api = tinyApi();
  const gate = { type: 'lb/ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  let isWritten = false;
  const racing = async (request: Request) => {
    const path = new URL(request.url).pathname;
    if (request.method === 'PATCH' && path.endsWith('/status') && path.includes('/pods/') && !isWritten) {
      isWritten = true;
      await send(api, 'PATCH', path, { status: { conditions: [gate] } });
    }
    return api.fetch(request);
  };
  await start(api, { fetch: racing });
  await send(api, 'POST', apps, deployment({ pod: { readinessGates: [{ conditionType: 'lb/ready' }] } }));
  const [pod] = await readyPods(api, 1);
  expect(pod!.status!.conditions).toContainEqual(gate);
});

test('a deleted pod is terminating in the slice, finishes its open connection, then goes', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', '/api/v1/namespaces/shop/services', service());
  await send(api, 'POST', apps, deployment({ ports: [{ name: 'echo', containerPort: 9000 }] }));
  const [pod] = await readyPods(api, 1);
  const socket = connect({ host: pod!.status!.podIP!, port: 9000 });
  const first = await new Promise<Buffer>((done) => socket.once('data', done));
  expect(String(first)).toBe(`pod=${pod!.metadata.name} service=web cluster=test\n`);

  await send(api, 'DELETE', `/api/v1/namespaces/shop/pods/${pod!.metadata.name}`);
  await api.until(() =>
    api
      .list<EndpointSlice>('endpointslices')[0]
      ?.endpoints?.find((one) => one.conditions.terminating && one.conditions.serving),
  );
  const replacement = await api.until(() =>
    pods(api).find((one) => one.metadata.uid !== pod!.metadata.uid && isReady(one)),
  );
  expect(replacement.status!.podIP).not.toBe(pod!.status!.podIP);
  const refused = await new Promise((done) =>
    connect({ host: pod!.status!.podIP!, port: 9000 })
      .on('error', done)
      .on('connect', () => done('accepted')),
  );
  expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  socket.write('still here');
  expect(String(await new Promise((done) => socket.once('data', done)))).toBe('still here');
  expect(api.get('pods', `shop/${pod!.metadata.name}`)).toBeDefined();
  socket.end();
  await api.until(() => !api.get('pods', `shop/${pod!.metadata.name}`));
});

test('after a restart of the simulator the same pods listen on the same addresses, and none is added', async () => {
  const api = tinyApi();
  const podCidr = '127.91.7.0/24';
  const first = await start(api, { podCidr });
  await send(api, 'POST', apps, deployment({ replicas: 3 }));
  const before = (await readyPods(api, 3)).map((pod) => `${pod.metadata.uid} ${pod.status!.podIP}`);
  const [deleted] = pods(api);
  await first.stop();
  await expect(fetch(`http://${pods(api)[1]!.status!.podIP}:8080/`)).rejects.toThrow();
  await send(api, 'DELETE', `/api/v1/namespaces/shop/pods/${deleted!.metadata.name}`);

  await start(api, { podCidr });
  await api.until(() => pods(api).length === 3 && !api.get('pods', `shop/${deleted!.metadata.name}`));
  const all = await readyPods(api, 3);
  const after = all.map((pod) => `${pod.metadata.uid} ${pod.status!.podIP}`);
  expect(after.filter((one) => before.includes(one))).toHaveLength(2);
  expect(new Set(all.map((pod) => pod.status!.podIP)).size).toBe(3);
  for (const pod of all)
    expect((await fetch(`http://${pod.status!.podIP}:8080/`)).headers.get('x-pod')).toBe(pod.metadata.name);
});

test('a port that cannot be opened leaves the container waiting, with the reason', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', apps, deployment({ pod: { hostNetwork: true, nodeName: 'test-node-1' }, replicas: 2 }));
  const pod = await api.until(() =>
    pods(api).find((one) => one.status?.containerStatuses?.[0]?.state.waiting?.reason === 'CannotListen'),
  );
  expect(pod.status!.containerStatuses![0]!.state.waiting!.message).toMatch(
    /^listen 127\.91\.\d+\.1:8080: the address is in use by another program$/,
  );
});

test('a rolling update replaces every pod and keeps the old ReplicaSet for the history', async () => {
  const api = tinyApi();
  await start(api);
  await send(api, 'POST', apps, deployment({ replicas: 4 }));
  await readyPods(api, 4);
  let fewest = 4;
  const count = () => {
    fewest = Math.min(fewest, pods(api).filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp).length);
    return false;
  };
  void api.until(count);
  await send(api, 'PATCH', `${apps}/web`, {
    spec: {
      template: {
        spec: { containers: [{ name: 'main', image: 'web:2', ports: [{ name: 'http', containerPort: 8080 }] }] },
      },
    },
  });
  await api.until(
    () => pods(api).length === 4 && pods(api).every((pod) => pod.spec.containers[0]!.image === 'web:2' && isReady(pod)),
  );
  const done = await api.until(() =>
    api
      .get<Deployment>('deployments', 'shop/web')
      ?.status?.conditions?.find((one) => one.reason === 'NewReplicaSetAvailable'),
  );
  expect(done.status).toBe('True');
  expect(fewest).toBeGreaterThanOrEqual(3);
  expect(
    api
      .list('replicasets')
      .map((one) => one.metadata.annotations?.['deployment.kubernetes.io/revision'])
      .sort(),
  ).toEqual(['1', '2']);
  expect(api.get('deployments', 'shop/web')?.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
});

test('a conflicting status write is repeated with the newest object', async () => {
  const api = tinyApi();
  await start(api);
  api.refuse('PATCH', /\/pods\/.*\/status$/, 409);
  await send(api, 'POST', apps, deployment());
  await readyPods(api, 1);
});

test('a lost node goes silent and its pods refuse; restored, it serves them again', async () => {
  const api = tinyApi();
  const one = await start(api, { nodes: 1 });
  await send(api, 'POST', apps, deployment());
  const [pod] = await readyPods(api, 1);
  await one.loseNode('test-node-1');
  await expect(fetch(`http://${pod!.status!.podIP}:8080/`)).rejects.toThrow();
  one.restoreNode('test-node-1');
  const answer = await untilAnswers(`http://${pod!.status!.podIP}:8080/`);
  expect(answer.headers.get('x-pod')).toBe(pod!.metadata.name);
});

/** The listener opens a moment after the node is back, and no write tells of it. */
async function untilAnswers(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch((error: unknown) => error);
    if (answer instanceof Response) return answer;
  }
}

test('stopped before the server has answered, the start ends too; started anew, it works', async () => {
  const api = tinyApi();
  let isAway = true;
  const answer = async (request: Request) => (isAway ? Promise.reject(new Error('away')) : api.fetch(request));
  const one = cluster({ server: 'http://api', fetch: answer, name: 'test', podCidr: '127.91.5.0/24', nodes: 1 });
  const starting = one.start();
  await one.stop();
  await starting;
  isAway = false;
  running.push(one);
  await one.start();
  await send(api, 'POST', apps, deployment());
  await readyPods(api, 1);
});
