// What pods do on the wire: protocols, probes really performed, and ending while connections are open.
import { createSocket } from 'node:dgram';
import { Agent, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import type { Cluster, ClusterOptions } from '../cluster.ts';
import { cluster } from '../cluster.ts';
import type { Pod } from '../kube/objects.ts';
import { tinyApi } from '../testing/tiny-api.ts';
import { isReady } from '../workloads/pod-state.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

let block = 40;

async function world(options: Partial<ClusterOptions> = {}) {
  const api = tinyApi();
  const podCidr = `127.91.${(block += 1)}.0/24`;
  const one = cluster({ server: 'http://api', fetch: api.fetch, name: 'net', podCidr, nodes: 1, ...options });
  running.push(one);
  await one.start();
  const send = (method: string, path: string, body?: object) =>
    api.fetch(new Request(`http://api${path}`, { method, ...(body && { body: JSON.stringify(body) }) }));
  return {
    api,
    podCidr,
    cluster: one,
    pod: () => api.get<Pod>('pods', 'a/p'),
    remove: () => send('DELETE', '/api/v1/namespaces/a/pods/p'),
    /** Runs a pod of one container; resolves when `isSo` of it. */
    async run(container: object, isSo: (pod: Pod) => boolean = isReady, annotations: object = {}) {
      const spec = { containers: [{ name: 'c', ...container }] };
      await send('POST', '/api/v1/namespaces/a/pods', {
        metadata: { name: 'p', labels: { app: 'shop' }, annotations },
        spec,
      });
      return api.until(() => {
        const pod = api.get<Pod>('pods', 'a/p');
        return pod && isSo(pod) && pod;
      });
    },
  };
}

const http = { ports: [{ name: 'http', containerPort: 8080 }] };

test('https ports speak TLS, and say who they are', async () => {
  const w = await world();
  const pod = await w.run({ ports: [{ name: 'https', containerPort: 8443 }] });
  const answer = await new Promise<string>((done, fail) => {
    const where = { host: pod.status!.podIP!, port: 8443, path: '/?headers', rejectUnauthorized: false, agent: false };
    const asked = secureRequest(where, (response) => response.setEncoding('utf8').once('data', done));
    asked.on('error', fail).end();
  });
  expect(JSON.parse(answer)).toMatchObject({
    service: 'shop',
    pod: 'p',
    port: 8443,
    headers: { host: expect.any(String) },
  });
});

test('UDP ports echo', async () => {
  const w = await world();
  const pod = await w.run({ ports: [{ containerPort: 5300, protocol: 'UDP' }] });
  const socket = createSocket('udp4');
  const echoed = new Promise<string>((done) => socket.once('message', (message) => done(String(message))));
  socket.send('hello', 5300, pod.status!.podIP!);
  expect(await echoed).toBe('hello');
  socket.close();
});

test.each([
  { path: '/status/503', status: 503 },
  { path: '/?status=404', status: 404 },
  { path: '/delay/1', status: 200 },
  { path: '/status/999', status: 400 },
  { path: '/healthz', status: 200 },
  { path: '/-/ready?value=maybe', method: 'POST', status: 400 },
  { path: '/-/ready?value=false', status: 405 },
])('$path is answered with $status', async ({ path, method = 'GET', status }) => {
  const w = await world();
  const pod = await w.run(http);
  const answer = await fetch(`http://${pod.status!.podIP}:8080${path}`, { method });
  expect([answer.status, answer.headers.get('x-pod')]).toEqual([status, 'p']);
});

test('a pod answers with the status it is annotated with, and stays ready', async () => {
  const w = await world();
  const pod = await w.run(http, isReady, { 'sim.fairlead.io/status': '500' });
  const statuses = ['/', '/status/204', '/healthz'].map(
    async (path) => (await fetch(`http://${pod.status!.podIP}:8080${path}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([500, 204, 200]);
});

test('a request under way when its pod is deleted is answered, and told to close; new ones are refused', async () => {
  const w = await world();
  const pod = await w.run(http);
  const agent = new Agent({ keepAlive: true });
  const where = { host: pod.status!.podIP!, port: 8080, agent };
  const answered = new Promise<{ status: number | undefined; connection: string | undefined }>((done, fail) => {
    const asked = request({ ...where, path: '/delay/50' }, (response) => {
      response.resume();
      done({ status: response.statusCode, connection: response.headers.connection });
    });
    asked.on('error', fail).end();
    asked.on('socket', (socket) => socket.on('connect', () => void w.remove()));
  });
  expect(await answered).toEqual({ status: 200, connection: 'close' });
  await w.api.until(() => !w.pod());
  await expect(fetch(`http://${pod.status!.podIP}:8080/`)).rejects.toThrow();
  agent.destroy();
});

const restarted = (pod: Pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(pod);

test.each([
  {
    rule: 'an httpGet readiness probe that succeeds',
    container: { ...http, readinessProbe: { httpGet: { path: '/healthz', port: 'http' } } },
    isSo: isReady,
  },
  {
    rule: 'a tcpSocket readiness probe',
    container: { ...http, readinessProbe: { tcpSocket: { port: 8080 } } },
    isSo: isReady,
  },
  {
    rule: 'a readiness probe that waits for the startup probe',
    container: {
      ...http,
      startupProbe: { tcpSocket: { port: 8080 } },
      readinessProbe: { exec: { command: ['true'] } },
    },
    isSo: isReady,
  },
  {
    rule: 'a failed liveness probe: started again',
    container: { ...http, livenessProbe: { httpGet: { path: '/status/500', port: 'http' }, failureThreshold: 1 } },
    isSo: restarted,
  },
  {
    rule: 'a failed startup probe: started again',
    container: { ...http, startupProbe: { exec: { command: ['false'] }, failureThreshold: 1 } },
    isSo: (pod: Pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1,
  },
])('probes: $rule', async ({ container, isSo }) => {
  const w = await world();
  const pod = await w.run(container, isSo);
  expect(pod.status!.phase).toBe('Running');
});

test('a readiness probe that fails keeps the pod out, and says why', async () => {
  const w = await world();
  await w.run(
    { ...http, readinessProbe: { httpGet: { path: '/status/503', port: 'http' }, failureThreshold: 1 } },
    (pod) => pod.status?.phase === 'Running',
  );
  const event = await w.api.until(() =>
    w.api.list('events').find((one) => (one as { reason?: string }).reason === 'Unhealthy'),
  );
  expect((event as { message?: string }).message).toBe(
    'Readiness probe failed: HTTP probe answered with statuscode: 503',
  );
  expect(isReady(w.pod()!)).toBe(false);
});

test('a port may speak what its annotation says', async () => {
  const w = await world();
  const pod = await w.run({ ports: [{ name: 'admin', containerPort: 9090 }] }, isReady, {
    'sim.fairlead.io/protocol.admin': 'http',
  });
  expect((await fetch(`http://${pod.status!.podIP}:9090/`)).status).toBe(200);
});

test('with a listenCidr the API shows one address and the pod listens at the same place of the other', async () => {
  const w = await world({ podCidr: '10.91.3.0/24', listenCidr: '127.91.3.0/24' });
  const pod = await w.run(http);
  expect(pod.status!.podIP).toBe('10.91.3.16');
  expect((await fetch('http://127.91.3.16:8080/')).headers.get('x-pod')).toBe('p');
  expect(w.cluster.logs('a/p')).toEqual(['listening on 127.91.3.16:8080 (http)', 'started', 'GET / 200']);
});
