// Creating, changing and deleting objects: what is kept, what is refused, and in which words.
import { expect, test } from 'vitest';
import { configMap, deployment, testServer } from './test-server.ts';
import { listOf, treeOf } from './object.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

test('a created object gets a uid, a version and a creation time, and reads back equal', async () => {
  const server = await testServer();
  const made = await server.send('POST', maps, configMap('a', { k: 'v' }));
  expect(made.code).toBe(201);
  expect(made.body.metadata).toMatchObject({
    name: 'a',
    namespace: 'default',
    creationTimestamp: '2026-01-02T03:04:05Z',
  });
  expect(made.body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  const read = await server.send('GET', `${maps}/a`);
  expect(read.body).toEqual(made.body);
  await server.close();
});

const services = '/api/v1/namespaces/default/services';
const noContainers = { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [] } } };
const elsewhere = 'the namespace of the provided object does not match the namespace sent on the request';

test.each([
  {
    rule: 'a name that is no DNS subdomain',
    path: maps,
    body: configMap('A_b'),
    code: 422,
    says: 'ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain',
  },
  {
    rule: 'a namespace that is not there',
    path: '/api/v1/namespaces/none/configmaps',
    body: configMap('a'),
    code: 404,
    says: 'namespaces "none" not found',
  },
  {
    rule: 'another namespace than the URL',
    path: maps,
    body: configMap('a', {}, { namespace: 'x' }),
    code: 400,
    says: elsewhere,
  },
  {
    rule: 'another version than the URL',
    path: maps,
    body: { ...configMap('a'), apiVersion: 'v2' },
    code: 400,
    says: 'no kind "ConfigMap" is registered for version "v2"',
  },
  {
    rule: 'a version on a new object',
    path: maps,
    body: configMap('a', {}, { resourceVersion: '5' }),
    code: 500,
    says: 'resourceVersion should not be set on objects to be created',
  },
  {
    rule: 'a body that is no JSON',
    path: maps,
    body: '{"a":',
    code: 400,
    says: 'json parse error: unexpected end of JSON input ({"a":)',
  },
  {
    rule: 'a key with a slash in a config map',
    path: maps,
    body: configMap('a', { 'x/y': '1' }),
    code: 422,
    says: 'data[x/y]: Invalid value: "x/y": a valid config key',
  },
  {
    rule: 'text where a number belongs',
    path: deployments,
    body: deployment('a', { replicas: 'two' }),
    code: 400,
    says: 'json: cannot unmarshal string into Go struct field Deployment.spec.replicas of type int32',
  },
  {
    rule: 'a selector that misses the template',
    path: deployments,
    body: deployment('a', { selector: { matchLabels: { app: 'b' } } }),
    code: 422,
    says: '`selector` does not match template `labels`',
  },
  {
    rule: 'a deployment without containers',
    path: deployments,
    body: deployment('a', noContainers),
    code: 422,
    says: 'spec.template.spec.containers: Required value',
  },
  {
    rule: 'a service port of 0',
    path: services,
    body: { metadata: { name: 'a' }, spec: { ports: [{ port: 0 }] } },
    code: 422,
    says: 'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  },
  {
    rule: 'an unknown resource',
    path: '/api/v1/namespaces/default/things',
    body: {},
    code: 404,
    says: 'the server could not find the requested resource',
  },
])('refused with $code: $rule', async ({ path, body, code, says }) => {
  const server = await testServer();
  const reply = await server.send('POST', path, body);
  expect(reply.code).toBe(code);
  expect(reply.body.message).toContain(says);
  await server.close();
});

test('unknown and repeated fields are refused, warned of, or dropped in silence', async () => {
  const server = await testServer();
  const body = '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"foo":1}';
  const strict = await server.send('POST', `${maps}?fieldValidation=Strict`, body);
  expect(strict.code).toBe(400);
  expect(strict.body.message).toBe(
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.k", unknown field "foo"',
  );
  const warned = await server.send('POST', `${maps}?fieldValidation=Warn`, body);
  expect(warned.headers.get('warning')).toBe('299 - "duplicate field \\"data.k\\"", 299 - "unknown field \\"foo\\""');
  expect(warned.body).not.toHaveProperty('foo');
  const ignored = await server.send('POST', `${maps}?fieldValidation=Ignore`, body.replace('"a"', '"b"'));
  expect([ignored.code, ignored.headers.get('warning')]).toEqual([201, null]);
  await server.close();
});

test('a write from an old version is a conflict, and changes nothing', async () => {
  const server = await testServer();
  const made = await server.send('POST', maps, configMap('a'));
  await server.send('PATCH', `${maps}/a`, { data: { k: '1' } });
  const late = await server.send('PUT', `${maps}/a`, made.body);
  expect(late.code).toBe(409);
  expect(late.body).toMatchObject({ reason: 'Conflict', details: { name: 'a', kind: 'configmaps' } });
  expect(late.body.message).toBe(
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  await server.close();
});

test('a write that changes nothing keeps the version', async () => {
  const server = await testServer();
  const made = await server.send('POST', maps, configMap('a', { k: '1' }));
  const again = await server.send('PATCH', `${maps}/a`, { data: { k: '1' } });
  expect(again.body.metadata.resourceVersion).toBe(made.body.metadata.resourceVersion);
  await server.close();
});

test('generation counts changes of the spec, and status is written through its subresource alone', async () => {
  const server = await testServer();
  await server.send('POST', deployments, deployment('a'));
  const labelled = await server.send('PATCH', `${deployments}/a`, {
    metadata: { labels: { x: 'y' } },
    status: { replicas: 5 },
  });
  expect([labelled.body.metadata.generation, labelled.body.status]).toEqual([1, {}]);
  const scaled = await server.send('PATCH', `${deployments}/a`, { spec: { replicas: 3 } });
  expect(scaled.body.metadata.generation).toBe(2);
  const status = await server.send('PATCH', `${deployments}/a/status`, {
    spec: { replicas: 9 },
    status: { replicas: 3 },
  });
  expect([status.body.metadata.generation, treeOf(status.body.spec).replicas, status.body.status]).toEqual([
    2,
    3,
    { replicas: 3 },
  ]);
  await server.close();
});

test('scale reads and writes replicas as a Scale', async () => {
  const server = await testServer();
  await server.send('POST', deployments, deployment('a'));
  const scale = await server.send('GET', `${deployments}/a/scale`);
  expect(scale.body).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 1 },
    status: { replicas: 0, selector: 'app=a' },
  });
  const wanted = await server.send('PATCH', `${deployments}/a/scale`, { spec: { replicas: 4 } });
  expect(wanted.body.spec).toEqual({ replicas: 4 });
  const refused = await server.send('PATCH', `${deployments}/a/scale`, { spec: { replicas: -1 } });
  expect([refused.code, refused.causes]).toEqual([
    422,
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ]);
  await server.close();
});

test('a dry run answers as a write would, and keeps nothing', async () => {
  const server = await testServer();
  const reply = await server.send('POST', `${maps}?dryRun=All`, configMap('a'));
  expect(reply.code).toBe(201);
  expect((await server.send('GET', `${maps}/a`)).code).toBe(404);
  expect((await server.send('POST', `${maps}?dryRun=Some`, configMap('a'))).code).toBe(422);
  await server.close();
});

test('an object with a finalizer stays, marked, until the finalizer is off', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a', {}, { finalizers: ['example.io/hold'] }));
  const deleted = await server.send('DELETE', `${maps}/a`);
  expect(deleted.body.metadata).toMatchObject({
    deletionTimestamp: '2026-01-02T03:04:05Z',
    deletionGracePeriodSeconds: 0,
  });
  const added = await server.send('PATCH', `${maps}/a`, {
    metadata: { finalizers: ['example.io/hold', 'example.io/more'] },
  });
  // Found once of every kind and once more of a ConfigMap.
  const forbidden =
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.io/more"}';
  expect(added.causes).toEqual([forbidden, forbidden]);
  await server.send('PATCH', `${maps}/a`, { metadata: { finalizers: null } });
  expect((await server.send('GET', `${maps}/a`)).code).toBe(404);
  await server.close();
});

test('a running pod is deleted in two steps: marked with its grace, then removed with grace 0', async () => {
  const server = await testServer();
  const pods = '/api/v1/namespaces/default/pods';
  await server.send('POST', pods, {
    metadata: { name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'a', image: 'x' }] },
  });
  const first = await server.send('DELETE', `${pods}/p`);
  expect(first.body.metadata).toMatchObject({
    deletionTimestamp: '2026-01-02T03:04:35Z',
    deletionGracePeriodSeconds: 30,
  });
  expect((await server.send('GET', `${pods}/p`)).code).toBe(200);
  await server.send('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 });
  expect((await server.send('GET', `${pods}/p`)).code).toBe(404);
  await server.close();
});

test('preconditions of a delete name the object meant', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a'));
  const wrong = await server.send('DELETE', `${maps}/a`, { preconditions: { uid: 'x' } });
  expect([wrong.code, wrong.body.reason]).toEqual([409, 'Conflict']);
  await server.close();
});

test('services get an address each, keep it over a full replace, and give it back', async () => {
  const server = await testServer({ serviceCidr: '10.9.0.0/29' });
  const made = await server.send('POST', services, {
    metadata: { name: 'a' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  });
  const spec = treeOf(made.body.spec);
  expect(String(spec.clusterIP)).toMatch(/^10\.9\.0\.[2-6]$/);
  expect(treeOf(listOf(spec.ports)[0])).toMatchObject({ targetPort: 80, protocol: 'TCP' });
  const replaced = await server.send('PUT', `${services}/a`, {
    metadata: { name: 'a' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  });
  expect(replaced.body.spec).toEqual(made.body.spec);
  const taken = await server.send('POST', services, {
    metadata: { name: 'b' },
    spec: { clusterIP: spec.clusterIP, ports: [{ port: 80 }] },
  });
  expect(taken.causes[0]).toContain('provided IP is already allocated');
  await server.send('DELETE', `${services}/a`);
  expect(
    (
      await server.send('POST', services, {
        metadata: { name: 'b' },
        spec: { clusterIP: spec.clusterIP, ports: [{ port: 80 }] },
      })
    ).code,
  ).toBe(201);
  await server.close();
});

test('admission may change a write, warn, or refuse it', async () => {
  const server = await testServer({
    admit: [
      async ({ object, name }) => {
        if (name === 'bad')
          return { allowed: false, status: { code: 422, reason: 'Invalid', message: 'not that one' } };
        return {
          allowed: true,
          warnings: ['seen'],
          ...(object ? { object: { ...object, data: { added: 'yes' } } } : {}),
        };
      },
    ],
  });
  const made = await server.send('POST', maps, configMap('a'));
  expect([made.body.data, made.headers.get('warning')]).toEqual([{ added: 'yes' }, '299 - "seen"']);
  const refused = await server.send('POST', maps, configMap('bad'));
  expect([refused.code, refused.body.message]).toEqual([422, 'not that one']);
  await server.close();
});
