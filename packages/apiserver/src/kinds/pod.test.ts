// Rules of pods and workloads that the recorded answers of the real server do not reach.
import { expect, test } from 'vitest';
import { treeOf, type Tree } from '../object.ts';
import { testServer } from '../test-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const pod = (spec: Tree, container: Tree = {}): Tree => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'web', image: 'nginx:1', ...container }], ...spec },
});

test.each<[string, Tree, Tree, string[]]>([
  [
    'a port name that ends in a hyphen',
    {},
    { ports: [{ containerPort: 80, name: 'a-' }] },
    ['spec.containers[0].ports[0].name: Invalid value: "a-": must not begin or end with a hyphen'],
  ],
  [
    'a volume without a secret name',
    { volumes: [{ name: 'v', secret: {} }] },
    {},
    ['spec.volumes[0].secret.secretName: Required value'],
  ],
  [
    'more of a device than its limit',
    {},
    { resources: { requests: { 'a.io/b': '2' }, limits: { 'a.io/b': '3' } } },
    ['spec.containers[0].resources.requests: Invalid value: "2": must be equal to a.io/b limit of 3'],
  ],
  [
    'a toleration of no key that is not Exists',
    { tolerations: [{ operator: 'Equal', value: 'a' }] },
    {},
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'an ephemeral container from the start',
    { ephemeralContainers: [{ name: 'e', image: 'e:1' }] },
    {},
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
  [
    'a command of nothing in a hook',
    {},
    { lifecycle: { postStart: { exec: {} } } },
    ['spec.containers[0].lifecycle.postStart.exec.command: Required value'],
  ],
])('a pod with %s is refused', async (_, spec, container, causes) => {
  const server = await testServer();
  const reply = await server.send('POST', pods, pod(spec, container));
  expect([reply.code, reply.causes]).toEqual([422, causes]);
  await server.close();
});

test('a quantity that is none is a bad request', async () => {
  const server = await testServer();
  const reply = await server.send('POST', pods, pod({}, { resources: { requests: { cpu: '1x' } } }));
  expect(reply.code).toBe(400);
  expect(reply.body.message).toContain('quantities must match the regular expression');
  await server.close();
});

test('a pod may not say another priority than its class gives it', async () => {
  const server = await testServer();
  const reply = await server.send('POST', pods, pod({ priority: 5 }));
  expect(reply.code).toBe(403);
  expect(reply.body.message).toContain('priority admission controller computed 0');
  await server.close();
});

test('an ephemeral container is added by its subresource alone, and stays as it is', async () => {
  const server = await testServer();
  await server.send('POST', pods, pod({}));
  const added = (image: string): Tree => ({ spec: { ephemeralContainers: [{ name: 'debug', image }] } });
  expect((await server.send('PATCH', `${pods}/a`, added('debug:1'))).code).toBe(422);
  const grown = await server.send('PATCH', `${pods}/a/ephemeralcontainers`, {
    metadata: { labels: { not: 'here' } },
    ...added('debug:1'),
  });
  expect([grown.code, grown.body.metadata.labels]).toEqual([200, undefined]);
  expect((await server.send('PATCH', `${pods}/a/ephemeralcontainers`, added('debug:2'))).code).toBe(422);
  await server.close();
});

test("a daemon set's templates are counted for old clients, its other changes are not", async () => {
  const server = await testServer();
  const path = '/apis/apps/v1/namespaces/default/daemonsets';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
  const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'a' } };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  const counts: unknown[] = [(await server.send('POST', path, { ...set, spec })).body];
  counts.push((await server.send('PUT', `${path}/a`, { ...set, spec: { ...spec, minReadySeconds: 5 } })).body);
  counts.push((await server.send('PATCH', `${path}/a`, { spec: { template: { spec: { hostNetwork: true } } } })).body);
  const annotations = counts.map((body) => treeOf(treeOf(body).metadata).annotations);
  expect(annotations).toEqual(['1', '1', '2'].map((count) => ({ 'deprecated.daemonset.template.generation': count })));
  await server.close();
});
