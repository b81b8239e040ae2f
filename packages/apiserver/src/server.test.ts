// Reading, watching, custom kinds, ownership and access, over the server as a function.
import { expect, test } from 'vitest';
import { configMap, definition, deployment, testServer, ticket } from './test-server.ts';
import { listOf, treeOf } from './object.ts';
import { memory } from './storage/memory.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const tickets = '/apis/example.io/v1/namespaces/default/tickets';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const names = (items: unknown) => listOf(items).map((item) => treeOf(treeOf(item).metadata).name);

test('a list in pages shows the state of the first page, whatever is written meanwhile', async () => {
  const server = await testServer();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await server.send('POST', maps, configMap(name));
  const first = await server.send('GET', `${maps}?limit=2`);
  expect([names(first.body.items), treeOf(first.body.metadata).remainingItemCount]).toEqual([['a', 'b'], 3]);
  await server.send('DELETE', `${maps}/d`);
  await server.send('POST', maps, configMap('cc'));
  const next = await server.send('GET', `${maps}?limit=9&continue=${String(treeOf(first.body.metadata).continue)}`);
  expect(names(next.body.items)).toEqual(['c', 'd', 'e']);
  expect(next.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  await server.close();
});

test('selectors narrow lists, and one the server does not support is refused', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a', {}, { labels: { app: 'x', tier: 'one' } }));
  await server.send('POST', maps, configMap('b', {}, { labels: { app: 'y' } }));
  const select = async (query: string) => names((await server.send('GET', `${maps}?${query}`)).body.items);
  expect(await select('labelSelector=app%3Dx')).toEqual(['a']);
  expect(await select('labelSelector=app%20in%20(x,y),!tier')).toEqual(['b']);
  expect(await select('fieldSelector=metadata.name!%3Da')).toEqual(['b']);
  expect((await server.send('GET', `${maps}?fieldSelector=data.k%3D1`)).body.message).toBe(
    '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  await server.close();
});

test('a watch tells of what is there, then of each change, with selectors turning changes into arrivals and departures', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a', {}, { labels: { on: 'yes' } }));
  const watch = await server.watch(`${maps}?watch=1&labelSelector=on%3Dyes`);
  await server.send('POST', maps, configMap('b'));
  await server.send('PATCH', `${maps}/b`, { metadata: { labels: { on: 'yes' } } });
  await server.send('PATCH', `${maps}/a`, { metadata: { labels: null } });
  await server.send('DELETE', `${maps}/b`);
  const events = await watch.next(4);
  expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
    ['ADDED', 'a'],
    ['ADDED', 'b'],
    ['DELETED', 'a'],
    ['DELETED', 'b'],
  ]);
  watch.stop();
  await server.close();
});

test('a watch from a version gets what came after it; from one too old, an error of 410', async () => {
  const server = await testServer({ history: 3 });
  const made = await server.send('POST', maps, configMap('a'));
  const from = String(made.body.metadata.resourceVersion);
  await server.send('PATCH', `${maps}/a`, { data: { k: '0' } });
  const watch = await server.watch(`${maps}?watch=1&resourceVersion=${from}`);
  expect((await watch.next(1))[0]).toMatchObject({ type: 'MODIFIED', object: { data: { k: '0' } } });
  watch.stop();
  for (let i = 1; i < 10; i++) await server.send('PATCH', `${maps}/a`, { data: { k: String(i) } });
  const late = await server.watch(`${maps}?watch=1&resourceVersion=${from}`);
  expect(await late.next(1)).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  const early = await server.send('GET', `${maps}?resourceVersion=99999`);
  expect([early.code, early.causes]).toEqual([504, ['undefined: Too large resource version']]);
  await server.close();
});

test('sendInitialEvents ends the initial state with a marked bookmark', async () => {
  const server = await testServer();
  await server.send('POST', maps, configMap('a'));
  const watch = await server.watch(
    `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  const [first, mark] = await watch.next(2);
  expect([first?.type, mark?.type, mark?.object.metadata.annotations]).toEqual([
    'ADDED',
    'BOOKMARK',
    { 'k8s.io/initial-events-end': 'true' },
  ]);
  watch.stop();
  await server.close();
});

test('after a restart everything is there, versions go on, and old watches have to list again', async () => {
  const storage = memory();
  const first = await testServer({ storage });
  await first.send('POST', crds, definition({ type: 'object', properties: { a: { type: 'string' } } }));
  const made = await first.send('POST', tickets, ticket('t', { a: 'x' }));
  await first.close();
  const second = await testServer({ storage });
  const read = await second.send('GET', `${tickets}/t`);
  expect(read.body).toEqual(made.body);
  const next = await second.send('PATCH', `${tickets}/t`, { spec: { a: 'y' } });
  expect(Number(next.body.metadata.resourceVersion)).toBeGreaterThan(Number(made.body.metadata.resourceVersion));
  const late = await second.watch(
    `${tickets}?watch=1&resourceVersion=${Number(made.body.metadata.resourceVersion) - 1}`,
  );
  expect(await late.next(1)).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  await second.close();
});

const spec = {
  type: 'object',
  required: ['name'],
  'x-kubernetes-validations': [
    { rule: '!has(oldSelf.name) || self.name == oldSelf.name', message: 'name is immutable', fieldPath: '.name' },
  ],
  properties: {
    name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
    size: { type: 'integer', minimum: 1, default: 3 },
    mode: { type: 'string', enum: ['on', 'off'] },
    port: { 'x-kubernetes-int-or-string': true },
    ip: {
      type: 'string',
      'x-kubernetes-validations': [
        {
          rule: "isIP(self) && cidr('10.0.0.0/8').containsIP(self)",
          messageExpression: "'%s is outside'.format([self])",
        },
      ],
    },
    list: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'integer' } } },
    },
  },
};

/** Rules wait until types, lengths, enums and required fields are right. */
const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

const wrong: [rule: string, spec: object, causes: string[]][] = [
  ['a required field', {}, ['spec.name: Required value', unchecked]],
  [
    'a minimum',
    { name: 'a', size: 0 },
    ['spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
  ],
  [
    'a type',
    { name: 'a', size: 'x' },
    ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"', unchecked],
  ],
  [
    'an enum',
    { name: 'a', mode: 'x' },
    ['spec.mode: Unsupported value: "x": supported values: "on", "off"', unchecked],
  ],
  [
    'a pattern and a length',
    { name: 'ABCDEF' },
    [
      'spec.name: Too long: may not be more than 5 bytes',
      'spec.name: Invalid value: "ABCDEF": spec.name in body should match \'^[a-z]+$\'',
      unchecked,
    ],
  ],
  [
    'int or string',
    { name: 'a', port: 1.5 },
    ['spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"', unchecked],
  ],
  ['keys of a map list', { name: 'a', list: [{ k: 'x' }, { k: 'x' }] }, ['spec.list[1]: Duplicate value: {"k":"x"}']],
  [
    'a CEL rule with a message expression',
    { name: 'a', ip: '11.0.0.1' },
    ['spec.ip: Invalid value: "string": 11.0.0.1 is outside'],
  ],
];

test.each(wrong)('a custom object is refused by %s', async (_, value, causes) => {
  const server = await testServer();
  await server.send('POST', crds, definition(spec));
  const reply = await server.send('POST', tickets, ticket('t', value as Record<string, unknown>));
  expect([reply.code, reply.causes]).toEqual([422, causes]);
  await server.close();
});

test('a custom object gets defaults, loses unknown fields, and rules see what it was', async () => {
  const server = await testServer();
  const made = await server.send('POST', crds, definition(spec));
  expect(made.code).toBe(201);
  const established = await server.send('GET', `${crds}/tickets.example.io`);
  expect(
    listOf(treeOf(established.body.status).conditions).map((one) => [treeOf(one).type, treeOf(one).status]),
  ).toEqual([
    ['NamesAccepted', 'True'],
    ['Established', 'True'],
  ]);
  const object = await server.send('POST', tickets, ticket('t', { name: 'a', foo: 1 }));
  expect(object.body.spec).toEqual({ name: 'a', size: 3 });
  const changed = await server.send('PATCH', `${tickets}/t`, { spec: { name: 'b' } });
  expect(changed.causes).toEqual(['spec.name: Invalid value: "object": name is immutable']);
  await server.close();
});

test('a definition that is not structural, or whose rule does not compile, is refused with the place', async () => {
  const server = await testServer();
  const ruled = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self ==' }] };
  const reply = await server.send('POST', crds, definition({ type: 'object', properties: { a: {}, b: ruled } }));
  const at = 'spec.validation.openAPIV3Schema.properties[spec]';
  expect(reply.causes[0]).toBe(
    `${at}.properties[a].type: Required value: must not be empty for specified object fields`,
  );
  // Rules are looked at once the schema tells what they are about.
  const next = await server.send('POST', crds, definition({ type: 'object', properties: { b: ruled } }));
  expect(next.causes[0]).toMatch(
    /properties\[b\].x-kubernetes-validations\[0\].rule: Invalid value: .*compilation failed/,
  );
  await server.close();
});

test('deleting a definition deletes its objects first, then the kind is unknown', async () => {
  const server = await testServer();
  await server.send('POST', crds, definition(spec));
  await server.send('POST', tickets, ticket('t', { name: 'a' }, { finalizers: ['example.io/hold'] }));
  await server.send('DELETE', `${crds}/tickets.example.io`);
  expect((await server.send('GET', `${tickets}/t`)).body.metadata.deletionTimestamp).toBeDefined();
  await server.send('PATCH', `${tickets}/t`, { metadata: { finalizers: null } });
  expect((await server.send('GET', `${crds}/tickets.example.io`)).code).toBe(404);
  expect((await server.send('GET', tickets)).code).toBe(404);
  await server.close();
});

const owned = (name: string, owner: { metadata: { name?: string; uid?: string } }, extra = {}) =>
  configMap(
    name,
    {},
    {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid, ...extra },
      ],
    },
  );

test.each([
  ['Background', 404],
  ['Orphan', 200],
  ['Foreground', 404],
] as const)('deleting an owner with %s leaves its dependent at %i', async (policy, code) => {
  const server = await testServer();
  const owner = await server.send('POST', maps, configMap('owner'));
  await server.send('POST', maps, owned('dependent', owner.body, { blockOwnerDeletion: true }));
  await server.send('DELETE', `${maps}/owner`, { propagationPolicy: policy });
  const left = await server.send('GET', `${maps}/dependent`);
  expect([left.code, (await server.send('GET', `${maps}/owner`)).code]).toEqual([code, 404]);
  if (code === 200) expect(left.body.metadata.ownerReferences).toBeUndefined();
  expect(server.reports).toEqual([]);
  await server.close();
});

test('an object whose owner never was is collected', async () => {
  const server = await testServer();
  await server.send('POST', maps, owned('a', { metadata: { name: 'x', uid: 'nobody' } }));
  expect((await server.send('GET', `${maps}/a`)).code).toBe(404);
  await server.close();
});

test('a deleted namespace refuses new objects, is emptied, and goes', async () => {
  const server = await testServer();
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
  const inside = '/api/v1/namespaces/n/configmaps';
  await server.send('POST', inside, configMap('held', {}, { finalizers: ['example.io/hold'] }));
  await server.send('POST', inside, configMap('free'));
  const deleted = await server.send('DELETE', '/api/v1/namespaces/n');
  expect(treeOf(deleted.body.status).phase).toBe('Terminating');
  expect((await server.send('GET', `${inside}/free`)).code).toBe(404);
  const refused = await server.send('POST', inside, configMap('late'));
  expect([refused.code, refused.body.message]).toEqual([
    403,
    'configmaps "late" is forbidden: unable to create new content in namespace n because it is being terminated',
  ]);
  await server.send('PATCH', `${inside}/held`, { metadata: { finalizers: null } });
  expect((await server.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  expect(server.reports).toEqual([]);
  await server.close();
});

test('nobody comes in without a token, and RBAC decides for those who are no masters', async () => {
  const server = await testServer();
  expect((await server.send('GET', maps, undefined, { token: 'wrong' })).code).toBe(401);
  const as = { token: 'joe' };
  const denied = await server.send('GET', maps, undefined, as);
  expect(denied.body.message).toBe(
    'configmaps is forbidden: User "joe" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  await server.send('POST', `${rbac}/roles`, {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  });
  await server.send('POST', `${rbac}/rolebindings`, {
    metadata: { name: 'b' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [{ kind: 'Group', name: 'people' }],
  });
  expect((await server.send('GET', maps, undefined, as)).code).toBe(200);
  expect((await server.send('GET', '/api/v1/configmaps', undefined, as)).code).toBe(403);
  await server.close();
});

test('a table has the columns of the kind and a row for each object', async () => {
  const server = await testServer();
  await server.send('POST', '/apis/apps/v1/namespaces/default/deployments', deployment('web', { replicas: 2 }));
  const table = await server.send('GET', '/apis/apps/v1/deployments', undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  expect(listOf(table.body.columnDefinitions).map((column) => treeOf(column).name)).toEqual([
    'Name',
    'Ready',
    'Up-to-date',
    'Available',
    'Age',
    'Containers',
    'Images',
    'Selector',
  ]);
  expect(treeOf(listOf(table.body.rows)[0]).cells).toEqual(['web', '0/2', 0, 0, '0s', 'a', 'nginx:1', 'app=web']);
  await server.close();
});
