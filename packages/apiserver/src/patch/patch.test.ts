// Patches: merge, JSON, strategic merge, and server-side apply with its owners and conflicts.
import { expect, test } from 'vitest';
import { configMap, definition, deployment, testServer, ticket, type TestServer } from '../test-server.ts';
import { known } from '../kinds/fields.ts';
import { listOf, treeOf } from '../object.ts';
import { mergePatch } from './merge-patch.ts';
import { strategicMerge } from './strategic.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const applyType = { type: 'application/apply-patch+yaml' };

// The cases of RFC 7386, appendix A.
test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('merge patch %#: %j with %j is %j', (target, patch, want) => {
  expect(mergePatch(target, patch)).toEqual(want);
});

const podSpec = known('io.k8s.api.core.v1.PodSpec');
const two = {
  containers: [
    { name: 'a', image: '1' },
    { name: 'b', image: '1' },
  ],
};

test.each([
  [
    'merges list elements by their key',
    { containers: [{ name: 'b', image: '2' }] },
    {
      containers: [
        { name: 'a', image: '1' },
        { name: 'b', image: '2' },
      ],
    },
  ],
  [
    'adds an element with a new key',
    { containers: [{ name: 'c' }] },
    { containers: [{ name: 'c' }, ...two.containers] },
  ],
  ['deletes an element', { containers: [{ $patch: 'delete', name: 'a' }] }, { containers: [two.containers[1]] }],
  ['replaces a list', { containers: [{ $patch: 'replace' }, { name: 'x' }] }, { containers: [{ name: 'x' }] }],
  [
    'orders a list',
    { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }], containers: [{ name: 'b', image: '2' }] },
    {
      containers: [
        { name: 'b', image: '2' },
        { name: 'a', image: '1' },
      ],
    },
  ],
  ['removes a field with null', { containers: null }, {}],
  ['keeps only the retained keys', { $retainKeys: ['hostname'], hostname: 'h' }, { hostname: 'h' }],
])('a strategic merge patch %s', (_, patch, want) => {
  expect(strategicMerge(structuredClone(two), patch, podSpec)).toEqual(want);
});

test('a JSON patch tests, adds and refuses what does not apply', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a', { k: '1' }));
  const type = { type: 'application/json-patch+json' };
  const done = await server.send(
    'PATCH',
    `${maps}/a`,
    [
      { op: 'test', path: '/data/k', value: '1' },
      { op: 'add', path: '/data/j', value: '2' },
    ],
    type,
  );
  expect(done.body.data).toEqual({ k: '1', j: '2' });
  const failed = await server.send('PATCH', `${maps}/a`, [{ op: 'test', path: '/data/k', value: '9' }], type);
  expect([failed.code, failed.body.reason]).toEqual([422, 'Invalid']);
  expect((await server.send('PATCH', `${maps}/a`, { a: 1 }, type)).code).toBe(400);
  await server.close();
});

test('a custom kind takes no strategic merge patch', async () => {
  const server = await testServer();
  await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition({ type: 'object' }));
  await server.send('POST', '/apis/example.io/v1/namespaces/default/tickets', ticket('t', {}));
  const reply = await server.send(
    'PATCH',
    '/apis/example.io/v1/namespaces/default/tickets/t',
    {},
    { type: 'application/strategic-merge-patch+json' },
  );
  expect(reply.code).toBe(415);
  await server.close();
});

const apply = (server: TestServer, data: object, query: string) =>
  server.send('PATCH', `${maps}/a?${query}`, { ...configMap('a'), data }, applyType);
const owners = (body: { metadata: { managedFields?: { manager: string; fieldsV1: object }[] } }) =>
  (body.metadata.managedFields ?? []).map((entry) => [entry.manager, entry.fieldsV1]);

test('apply creates, owns what it says, and removes what it no longer says', async () => {
  const server = await testServer();
  const made = await apply(server, { x: '1', y: '1' }, 'fieldManager=one');
  expect([made.code, made.body.data]).toEqual([201, { x: '1', y: '1' }]);
  expect(owners(made.body)).toEqual([['one', { 'f:data': { 'f:x': {}, 'f:y': {} } }]]);
  const less = await apply(server, { x: '1' }, 'fieldManager=one');
  expect([less.code, less.body.data]).toEqual([200, { x: '1' }]);
  await server.close();
});

test('a value another manager owns is a conflict, unless forced', async () => {
  const server = await testServer();
  await apply(server, { x: '1' }, 'fieldManager=one');
  const conflict = await apply(server, { x: '2' }, 'fieldManager=two');
  expect([conflict.code, conflict.body.reason, conflict.body.message]).toEqual([
    409,
    'Conflict',
    'Apply failed with 1 conflict: conflict with "one": .data.x',
  ]);
  expect(conflict.causes).toEqual(['.data.x: conflict with "one"']);
  const forced = await apply(server, { x: '2' }, 'fieldManager=two&force=true');
  expect(owners(forced.body)).toEqual([['two', { 'f:data': { 'f:x': {} } }]]);
  await server.close();
});

test('a field two managers apply alike stays until both let it go', async () => {
  const server = await testServer();
  await apply(server, { x: '1', y: '1' }, 'fieldManager=one');
  await apply(server, { x: '1' }, 'fieldManager=two');
  expect((await apply(server, { y: '1' }, 'fieldManager=one')).body.data).toEqual({ x: '1', y: '1' });
  expect((await apply(server, { z: '1' }, 'fieldManager=two')).body.data).toEqual({ y: '1', z: '1' });
  await server.close();
});

test('an update takes over what it changes, and the applier then conflicts with it', async () => {
  const server = await testServer();
  await apply(server, { x: '1' }, 'fieldManager=one');
  await server.send('PATCH', `${maps}/a?fieldManager=hand`, { data: { x: '5' } });
  const conflict = await apply(server, { x: '1' }, 'fieldManager=one');
  expect(conflict.causes[0]).toBe('.data.x: conflict with "hand" using v1');
  await server.close();
});

test('a wiped record stays empty until somebody applies', async () => {
  const server = await testServer();
  await apply(server, { x: '1' }, 'fieldManager=one');
  const wiped = await server.send('PATCH', `${maps}/a`, { metadata: { managedFields: [{}] } });
  expect(owners(wiped.body)).toEqual([]);
  const changed = await server.send('PATCH', `${maps}/a`, { data: { y: '1' } });
  expect(owners(changed.body)).toEqual([]);
  const applied = await apply(server, { x: '1' }, 'fieldManager=two');
  expect(owners(applied.body)).toEqual([
    ['two', { 'f:data': { 'f:x': {} } }],
    ['before-first-apply', { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } }],
  ]);
  await server.close();
});

test('who changes what he owns is recorded anew, who changes nothing has no moment', async () => {
  let now = Date.parse('2026-01-02T03:04:05Z');
  const server = await testServer({ clock: { now: () => now, sleep: () => new Promise(() => undefined) } });
  const times = (body: { metadata: { managedFields?: { time?: string }[] } }) =>
    (body.metadata.managedFields ?? []).map(({ time }) => time);
  await server.send('POST', `${maps}?fieldManager=hand`, { ...configMap('a'), data: { x: '1' } });
  now += 60_000;
  const alike = await apply(server, { x: '1' }, 'fieldManager=one');
  expect(times(alike.body)).toEqual([undefined, '2026-01-02T03:04:05Z']);
  const changed = await server.send('PATCH', `${maps}/a?fieldManager=hand`, { data: { x: '2' } });
  expect(times(changed.body)).toEqual(['2026-01-02T03:05:05Z']);
  await server.close();
});

test('list elements are owned by their keys, with defaults for keys left out', async () => {
  const server = await testServer();
  const container = (ports: object[]) => ({
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'x', ports }] } },
  });
  const put = (manager: string, ports: object[]) =>
    server.send(
      'PATCH',
      `${deployments}/a?fieldManager=${manager}&force=true`,
      deployment('a', container(ports)),
      applyType,
    );
  await put('one', [{ containerPort: 80 }]);
  const both = await put('two', [{ containerPort: 443 }]);
  const portsOf = (body: object) =>
    listOf(treeOf(listOf(treeOf(treeOf(treeOf(treeOf(body).spec).template).spec).containers)[0]).ports).map(
      (port) => treeOf(port).containerPort,
    );
  expect(portsOf(both.body)).toEqual([80, 443]);
  const left = await put('one', []);
  expect(portsOf(left.body)).toEqual([443]);
  await server.close();
});

test('an element the applier lets go stays with what others own in it', async () => {
  const server = await testServer();
  const put = (manager: string, containers: object[]) =>
    server.send(
      'PATCH',
      `${deployments}/a?fieldManager=${manager}`,
      deployment('a', { template: { metadata: { labels: { app: 'a' } }, spec: { containers } } }),
      applyType,
    );
  await put('one', [
    { name: 'a', image: 'x' },
    { name: 'b', image: 'x', workingDir: '/w' },
  ]);
  await put('two', [
    { name: 'a', image: 'x' },
    { name: 'b', image: 'x' },
  ]);
  const left = await put('one', [{ name: 'a', image: 'x' }]);
  const containers = listOf(treeOf(treeOf(treeOf(left.body.spec).template).spec).containers).map(treeOf);
  expect(containers.map(({ name, image, workingDir }) => [name, image, workingDir])).toEqual([
    ['a', 'x', undefined],
    ['b', 'x', undefined],
  ]);
  await server.close();
});

test('an element let go keeps its key and the field another manager changed in it', async () => {
  const server = await testServer();
  const path = `${deployments}/a?fieldManager=`;
  const body = (containers: object[]) =>
    deployment('a', { template: { metadata: { labels: { app: 'a' } }, spec: { containers } } });
  await server.send(
    'PATCH',
    `${path}one`,
    body([
      { name: 'a', image: 'x' },
      { name: 'b', image: 'x', workingDir: '/w' },
    ]),
    applyType,
  );
  const strategic = { type: 'application/strategic-merge-patch+json' };
  await server.send(
    'PATCH',
    `${path}hand`,
    { spec: { template: { spec: { containers: [{ name: 'b', image: 'y' }] } } } },
    strategic,
  );
  const left = await server.send('PATCH', `${path}one`, body([{ name: 'a', image: 'x' }]), applyType);
  const containers = listOf(treeOf(treeOf(treeOf(left.body.spec).template).spec).containers).map(treeOf);
  expect(containers.map(({ name, image, workingDir }) => [name, image, workingDir])).toEqual([
    ['a', 'x', undefined],
    ['b', 'y', undefined],
  ]);
  await server.close();
});

test('apply without a manager is refused', async () => {
  const server = await testServer();
  const reply = await apply(server, {}, '');
  expect([reply.code, reply.causes]).toEqual([422, ['fieldManager: Required value: is required for apply patch']]);
  await server.close();
});

test.each([
  [
    'json',
    [
      { op: 'add', path: '/spec/x', value: { y: null } },
      { op: 'add', path: '/spec/replicas', value: 'many' },
    ],
  ],
  ['merge', { metadata: { labels: { a: 'b' } }, spec: { x: { y: 1 }, replicas: 'many' } }],
])('what a %s patch leaves unreadable is told as the patch left it, unknown fields and all', async (media, body) => {
  const server = await testServer();
  await server.send('POST', deployments, deployment('a'));
  const { causes } = await server.send('PATCH', `${deployments}/a`, body, { type: `application/${media}-patch+json` });
  expect(causes).toHaveLength(1);
  expect(causes[0]).toMatch(/^patch: Invalid value: "\{\\"apiVersion\\":\\"apps\/v1\\",\\"kind\\":\\"Deployment\\",/);
  expect(causes[0]).toContain(media === 'json' ? '\\"x\\":{\\"y\\":null}' : '\\"x\\":{\\"y\\":1}');
});

test('a strict patch that is refused says of itself what it said', async () => {
  const server = await testServer();
  await server.send('POST', deployments, deployment('a'));
  const strict = `${deployments}/a?fieldValidation=Strict`;
  const body = [{ op: 'add', path: '/spec/x', value: 1 }];
  const { causes } = await server.send('PATCH', strict, body, { type: 'application/json-patch+json' });
  expect(causes[0]).toContain('\\"x\\":1');
  expect(causes[0]).toContain('strict decoding error: unknown field "spec.x"');
});
