// Logs of containers as an API server gets them: over HTTPS, from the endpoint that the Node object tells of.
import { once } from 'node:events';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { cluster } from '../cluster.ts';
import type { Node, Pod } from '../kube/objects.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { tinyApi } from '../testing/tiny-api.ts';
import { isReady } from '../workloads/pod-state.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

let block = 140;

async function world(options: { podCidr?: string; listenCidr?: string; listen?: boolean } = {}) {
  const clock = fakeClock();
  const api = tinyApi({ now: clock.now });
  const lines: string[] = [];
  const one = cluster({
    server: 'http://api',
    fetch: api.fetch,
    name: 'logs',
    podCidr: `127.91.${(block += 1)}.0/24`,
    nodes: 2,
    clock,
    log: (line) => lines.push(line),
    ...options,
  });
  running.push(one);
  await one.start();
  const pod = () => api.get<Pod>('pods', 'a/p');
  const node = () => api.get<Node>('nodes', pod()?.spec.nodeName ?? 'logs-node-1')!;
  const urlOf = ({ status }: Node) =>
    `https://${status!.addresses!.find((at) => at.type === 'InternalIP')!.address}:${status!.daemonEndpoints!.kubeletEndpoint!.Port}`;
  return {
    api,
    clock,
    cluster: one,
    lines,
    pod,
    node,
    urlOf,
    async run(spec: object = {}) {
      const containers = [{ name: 'c', ports: [{ name: 'http', containerPort: 8080 }] }];
      await api.fetch(
        new Request('http://api/api/v1/namespaces/a/pods', {
          method: 'POST',
          body: JSON.stringify({ metadata: { name: 'p' }, spec: { containers, ...spec } }),
        }),
      );
      await clock.advance(0);
      return api.until(() => pod() && isReady(pod()!) && pod());
    },
    visit: (path: string) => fetch(`http://${pod()!.status!.podIP}:8080${path}`),
    logs: (query = '', path = '/containerLogs/a/p/c', from = urlOf(node())) => get(`${from}${path}?${query}`),
  };
}

interface Answer {
  status: number;
  type: string | undefined;
  /** Resolves with the body up to and with `mark`, or with all of it. */
  upTo(mark?: string): Promise<string>;
}

function get(url: string, method = 'GET'): Promise<Answer> {
  return new Promise((done, fail) => {
    const asked = request(url, { method, rejectUnauthorized: false, agent: false }, (response) => {
      const pieces = response.setEncoding('utf8')[Symbol.asyncIterator]();
      let body = '';
      done({
        status: response.statusCode!,
        type: response.headers['content-type'],
        async upTo(mark) {
          for (;;) {
            if (mark !== undefined && body.includes(mark)) return body;
            const next = await pieces.next();
            if (next.done) return body;
            body += next.value;
          }
        },
      });
    });
    asked.on('error', fail).end();
  });
}

const begun = (ip: string) => `listening on ${ip}:8080 (http)\nstarted\n`;

test('a container’s log tells of its start and of each request, and may be cut in every way', async () => {
  const w = await world();
  const { podIP } = (await w.run()).status!;
  await w.visit('/one');
  await w.clock.advance(10_000);
  await w.visit('/status/503');
  const first = `${begun(podIP!)}GET /one 200\n`;
  const body = async (query: string) => (await w.logs(query)).upTo();
  expect(await w.logs()).toMatchObject({ status: 200, type: 'text/plain' });
  expect(await body('')).toBe(`${first}GET /status/503 503\n`);
  expect(await body('tailLines=2')).toBe('GET /one 200\nGET /status/503 503\n');
  expect(await body('tailLines=0')).toBe('');
  expect(await body('sinceSeconds=5')).toBe('GET /status/503 503\n');
  expect(await body('sinceTime=2026-01-01T00:00:10Z')).toBe('GET /status/503 503\n');
  expect(await body('limitBytes=9')).toBe('listening');
  expect(await body('tailLines=1&timestamps=true')).toBe('2026-01-01T00:00:10.000000000Z GET /status/503 503\n');
});

test('a log that is followed goes on until the container ends; what it wrote is the previous log then', async () => {
  const w = await world();
  const { podIP } = (await w.run()).status!;
  const followed = await w.logs('follow=true&tailLines=1');
  expect(await followed.upTo('started\n')).toBe('started\n');
  await w.visit('/two');
  expect(await followed.upTo('200\n')).toBe('started\nGET /two 200\n');
  const refused = await w.logs('previous=true');
  expect([refused.status, await refused.upTo()]).toEqual([
    400,
    'previous terminated container "c" in pod "p" not found\n',
  ]);
  w.cluster.crash('a/p', 3);
  expect(await followed.upTo()).toBe('started\nGET /two 200\nexited with 3\n');
  await w.clock.advance(0);
  await w.api.until(() => w.pod()?.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(w.pod()!));
  expect(await (await w.logs('previous=true')).upTo()).toBe(`${begun(podIP!)}GET /two 200\nexited with 3\n`);
  expect(await (await w.logs()).upTo()).toBe(begun(podIP!));
});

test('while a container waits to be started again, the log of its last life is shown', async () => {
  const w = await world();
  const { podIP } = (await w.run()).status!;
  const restarted = () => w.pod()?.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(w.pod()!);
  w.cluster.crash('a/p');
  await w.clock.advance(0);
  await w.api.until(restarted);
  w.cluster.crash('a/p', 2);
  const last = `${begun(podIP!)}exited with 2\n`;
  expect([await (await w.logs()).upTo(), await (await w.logs('previous=true')).upTo()]).toEqual([last, last]);
});

test('a container that has not started says what it waits for, and an init container has a log too', async () => {
  const w = await world();
  const initContainers = [{ name: 'first', command: ['sleep', '60'] }];
  void w.run({ initContainers });
  await w.api.until(() => w.pod()?.status?.initContainerStatuses?.[0]?.state.running);
  const waiting = await w.logs();
  expect([waiting.status, await waiting.upTo()]).toEqual([
    400,
    'container "c" in pod "p" is waiting to start: ContainerCreating\n',
  ]);
  expect(await (await w.logs('', '/containerLogs/a/p/first')).upTo()).toBe('started\n');
});

test('a container that cannot have its port has no log, and says so', async () => {
  const w = await world();
  const taken = createServer();
  await once(taken.listen(8080, `127.91.${block}.16`), 'listening');
  void w.run();
  await w.api.until(() => w.pod()?.status?.containerStatuses?.[0]?.state.waiting?.reason === 'CannotListen');
  const refused = await w.logs();
  expect([refused.status, await refused.upTo()]).toEqual([
    400,
    'container "c" in pod "p" is waiting to start: CannotListen\n',
  ]);
  await once(taken.close(), 'close');
});

test('a limit of bytes ends a log that is followed', async () => {
  const w = await world();
  await w.run();
  const followed = await w.logs('follow=true&tailLines=1&limitBytes=12');
  await followed.upTo('started\n');
  await w.visit('/');
  expect(await followed.upTo()).toBe('started\nGET ');
});

test.each([
  ['/containerLogs/a/q/c', '', 404, 'pod "q" does not exist'],
  ['/containerLogs/a/p/d', '', 404, 'container "d" not found in pod "p"'],
  ['/containerLogs/a/p', '', 404, '404 page not found'],
  ['//', '', 404, '404 page not found'],
  ['/containerLogs/a/p/c', 'tailLines=x', 400, '{"message": "Unable to decode query."}'],
  ['/containerLogs/a/p/c', 'tailLines=-1', 422, '{"message": "Invalid request."}'],
])('%s?%s is refused with %i', async (path, query, status, says) => {
  const w = await world();
  await w.run();
  const refused = await w.logs(query, path);
  expect([refused.status, await refused.upTo()]).toEqual([status, `${says}\n`]);
});

test('only the pod’s own node knows its log, and only GET reads it', async () => {
  const w = await world();
  await w.run();
  const other = w.api.list<Node>('nodes').find((one) => one.metadata.name !== w.pod()!.spec.nodeName)!;
  expect((await w.logs('', '/containerLogs/a/p/c', w.urlOf(other))).status).toBe(404);
  expect((await get(`${w.urlOf(w.node())}/containerLogs/a/p/c`, 'POST')).status).toBe(405);
});

test('a lost node answers nobody, and cuts off who follows', async () => {
  const w = await world();
  const { nodeName } = (await w.run()).spec;
  const followed = await w.logs('follow=true');
  await followed.upTo('started\n');
  await w.cluster.loseNode(nodeName!);
  await expect(followed.upTo()).rejects.toThrow();
  await expect(w.logs()).rejects.toThrow();
  w.cluster.restoreNode(nodeName!);
  expect((await w.logs('', '/containerLogs/a/q/c')).status).toBe(404);
});

test('a node is reached where it really listens, and without listening it has no endpoint', async () => {
  const w = await world({ podCidr: '10.91.150.0/24', listenCidr: '127.91.150.0/24' });
  expect(w.node().status?.addresses).toEqual([{ type: 'InternalIP', address: '127.91.150.1' }]);
  expect((await w.logs()).status).toBe(404);
  const none = await world({ listen: false });
  expect(none.node().status?.daemonEndpoints ?? undefined).toBeUndefined();
});

test('a node that cannot listen is Ready all the same, and the log says why it can show no logs', async () => {
  const w = await world({ podCidr: '198.51.100.0/24' });
  expect(w.node().status?.daemonEndpoints ?? undefined).toBeUndefined();
  expect(w.lines[0]).toMatch(/node logs-node-1 can show no logs: listen 198\.51\.100\.1:10250: this machine does not/);
});
