// Evictions under disruption budgets, and logs by way of the kubelet.
import { expect, test } from 'vitest';
import type { Tree } from '../object.ts';
import { testServer, type TestServer } from '../test-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

async function runningPod(server: TestServer, name: string, containers = ['a']): Promise<void> {
  await server.send('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'x' } },
    spec: { nodeName: 'n', containers: containers.map((one) => ({ name: one, image: 'a' })) },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await server.send('PATCH', `${pods}/${name}/status`, { status });
}

const evict = (server: TestServer, name: string, more: Tree = {}) =>
  server.send('POST', `${pods}/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...more,
  });

async function budget(server: TestServer, name: string, status: Tree): Promise<void> {
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'x' } } };
  await server.send('POST', budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec,
  });
  await server.send('PATCH', `${budgets}/${name}/status`, { status });
}

const allows = { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1, expectedPods: 2 };

test('a budget lets as many pods go as it allows, and no more', async () => {
  const server = await testServer();
  for (const name of ['p', 'q']) await runningPod(server, name);
  await budget(server, 'b', allows);
  expect((await evict(server, 'p', { deleteOptions: { gracePeriodSeconds: 0 } })).code).toBe(201);
  expect((await server.send('GET', `${pods}/p`)).code).toBe(404);
  const refused = await evict(server, 'q');
  expect([refused.code, refused.body.reason, refused.causes]).toEqual([
    429,
    'TooManyRequests',
    ['undefined: The disruption budget b does not allow evicting pods currently'],
  ]);
  expect((await server.send('GET', `${budgets}/b`)).body.status).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { p: '2026-01-02T03:04:05Z' },
  });
  await server.close();
});

test.each([
  [
    'whose status is of before its last change',
    { ...allows, observedGeneration: 0 },
    'The disruption budget b is still being processed by the server.',
    '10',
  ],
  [
    'that needs every pod there is',
    { ...allows, currentHealthy: 1, disruptionsAllowed: 0 },
    'The disruption budget b needs 1 healthy pods and has 1 currently',
    null,
  ],
])('a budget %s refuses', async (_, status, says, wait) => {
  const server = await testServer();
  await runningPod(server, 'p');
  await budget(server, 'b', status);
  const refused = await evict(server, 'p');
  expect([refused.code, refused.causes, refused.headers.get('retry-after')]).toEqual([
    429,
    [`undefined: ${says}`],
    wait,
  ]);
  await server.close();
});

test('two budgets for one pod are more than an eviction can serve; none is no hindrance', async () => {
  const server = await testServer();
  await runningPod(server, 'p');
  for (const name of ['b', 'c']) await budget(server, name, allows);
  expect((await evict(server, 'p')).body.message).toContain('This pod has more than one PodDisruptionBudget');
  for (const name of ['b', 'c']) await server.send('DELETE', `${budgets}/${name}`);
  expect((await evict(server, 'p')).code).toBe(201);
  await server.close();
});

test('a log is asked of the kubelet of the node, with the options it knows', async () => {
  const urls: string[] = [];
  const server = await testServer({
    send: async ({ url }) => {
      urls.push(url.href);
      return new Response('hello\n');
    },
  });
  await server.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.2' }],
    daemonEndpoints: { kubeletEndpoint: { Port: 4194 } },
  };
  await server.send('PATCH', '/api/v1/nodes/n/status', { status });
  await runningPod(server, 'p');
  const log = await server.send('GET', `${pods}/p/log?tailLines=5&pretty=1`);
  expect([log.code, log.body.text]).toEqual([200, 'hello\n']);
  expect(urls).toEqual(['https://127.0.0.2:4194/containerLogs/default/p/a?tailLines=5']);
  await server.close();
});

test.each([
  ['no container of several', '', 'a container name must be specified for pod p, choose one of: [a b]', 400],
  ['a container it has not', '?container=c', 'container c is not valid for pod p', 400],
  [
    'a negative number of lines',
    '?container=a&tailLines=-1',
    'tailLines: Invalid value: -1: must be greater than or equal to 0',
    422,
  ],
])('a log of %s is refused', async (_, query, says, code) => {
  const server = await testServer();
  await runningPod(server, 'p', ['a', 'b']);
  const reply = await server.send('GET', `${pods}/p/log${query}`);
  expect([reply.code, reply.body.message]).toEqual([code, expect.stringContaining(says)]);
  await server.close();
});
