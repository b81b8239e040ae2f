// Policies beside the rest of admission: when they judge, by what, and who is heard first. Their rules one by one are in
// the conformance suite.
import { expect, test } from 'vitest';
import { treeOf, type Tree } from '../object.ts';
import { configMap, testServer, type TestServer } from '../test-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const registrations = '/apis/admissionregistration.k8s.io/v1';
const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
/** The server makes its own ConfigMaps, which no policy here is about. */
const objectSelector = { matchLabels: { judged: 'yes' } };

interface Made {
  spec?: Tree;
  binding?: Tree;
  policyName?: string;
}

async function make(server: TestServer, name: string, { spec = {}, binding = {}, policyName = name }: Made = {}) {
  const head = (kind: string) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name } });
  const replies = [
    await server.send('POST', `${registrations}/validatingadmissionpolicies`, {
      ...head('ValidatingAdmissionPolicy'),
      spec: {
        matchConstraints: { resourceRules: [rule], objectSelector },
        validations: [{ expression: "has(object.data) && object.data.a == '1'" }],
        ...spec,
      },
    }),
    await server.send('POST', `${registrations}/validatingadmissionpolicybindings`, {
      ...head('ValidatingAdmissionPolicyBinding'),
      spec: { policyName, validationActions: ['Deny'], ...binding },
    }),
  ];
  for (const { code, body } of replies) if (code !== 201) throw new Error(String(body.message));
}

const judged = (data: Tree): Tree => ({
  ...configMap('a'),
  metadata: { name: 'a', labels: objectSelector.matchLabels },
  data,
});

test('a policy judges what mutating webhooks leave, before validating ones are asked', async () => {
  const asked: string[] = [];
  const server = await testServer({
    async send({ url, body }) {
      asked.push(url.pathname);
      const { uid } = treeOf(treeOf(JSON.parse(body ?? '{}')).request);
      const patch = btoa(JSON.stringify([{ op: 'replace', path: '/data/a', value: '2' }]));
      const change = url.pathname === '/mutating' ? { patchType: 'JSONPatch', patch } : {};
      const response = { uid, allowed: true, ...change };
      return new Response(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }));
    },
  });
  for (const sort of ['Mutating', 'Validating'])
    await server.send('POST', `${registrations}/${sort.toLowerCase()}webhookconfigurations`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${sort}WebhookConfiguration`,
      metadata: { name: 'hook' },
      webhooks: [
        {
          name: 'a.example.io',
          clientConfig: { url: `https://hook.example.io/${sort.toLowerCase()}` },
          rules: [rule],
          objectSelector,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
  await make(server, 'p');
  const refused = await server.send('POST', maps, judged({ a: '1' }));
  expect(refused.body.message).toContain("ValidatingAdmissionPolicy 'p' with binding 'p' denied request");
  expect(asked).toEqual(['/mutating']);
});

test('a policy counts from the moment it is bound until it is gone', async () => {
  const server = await testServer();
  const write = async () => (await server.send('POST', `${maps}?dryRun=All`, judged({ a: '2' }))).code;
  expect(await write()).toBe(201);
  await make(server, 'p');
  expect(await write()).toBe(422);
  const path = `${registrations}/validatingadmissionpolicies/p`;
  await server.send('PATCH', path, { spec: { validations: [{ expression: "object.data.a == '2'" }] } });
  expect(await write()).toBe(201);
  await server.send('PATCH', path, { spec: { validations: [{ expression: 'false' }] } });
  expect(await write()).toBe(422);
  await server.send('DELETE', path);
  expect(await write()).toBe(201);
});

test('of several policies that deny the first by its binding is told, and warnings of all', async () => {
  const server = await testServer();
  const saying = (message: string) => ({ validations: [{ expression: 'false', message }] });
  await make(server, 'b', { spec: saying('from b') });
  await make(server, 'a', { spec: saying('from a') });
  await make(server, 'c', { spec: saying('from c'), binding: { validationActions: ['Warn'] } });
  const { body, headers } = await server.send('POST', maps, judged({}));
  expect(body.message).toMatch(/denied request: from a$/);
  expect(headers.get('warning')).toContain('from c');
});

test('parameters may be of a custom kind, and are seen in the version that the policy names', async () => {
  const server = await testServer();
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: { type: 'object', properties: { most: { type: 'integer', default: storage ? 1 : 2 } } },
    },
  });
  await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'limits.example.io' },
    spec: {
      group: 'example.io',
      scope: 'Cluster',
      names: { plural: 'limits', singular: 'limit', kind: 'Limit', listKind: 'LimitList' },
      versions: [version('v1', true), version('v2', false)],
    },
  });
  const limit = { apiVersion: 'example.io/v1', kind: 'Limit', metadata: { name: 'l' } };
  expect((await server.send('POST', '/apis/example.io/v1/limits', limit)).code).toBe(201);
  await make(server, 'p', {
    spec: {
      paramKind: { apiVersion: 'example.io/v2', kind: 'Limit' },
      variables: [{ name: 'count', expression: 'size(object.data)' }],
      validations: [
        {
          expression: 'variables.count <= params.most',
          messageExpression: "'more than ' + string(params.most) + ' by ' + params.apiVersion",
        },
      ],
    },
    binding: { paramRef: { name: 'l', parameterNotFoundAction: 'Deny' } },
  });
  expect((await server.send('POST', `${maps}?dryRun=All`, judged({ a: '', b: '' }))).body.message).toMatch(
    /more than 1 by example.io\/v2$/,
  );
  await server.send('PATCH', '/apis/example.io/v1/limits/l', { most: 2 });
  expect((await server.send('POST', maps, judged({ a: '', b: '' }))).code).toBe(201);
});

test('a delete of many is judged one by one, and stops at the first that a policy keeps', async () => {
  const server = await testServer();
  await make(server, 'p', {
    spec: { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }], objectSelector } },
  });
  await server.send('POST', maps, judged({ a: '2' }));
  const refused = await server.send('DELETE', `${maps}?labelSelector=judged`);
  expect([refused.code, refused.body.reason]).toEqual([422, 'Invalid']);
  expect((await server.send('GET', `${maps}/a`)).code).toBe(200);
});

test('a policy that refuses everything may itself be changed and removed', async () => {
  const server = await testServer();
  const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
  await make(server, 'p', {
    spec: { matchConstraints: { resourceRules: [everything] }, validations: [{ expression: 'false' }] },
  });
  expect((await server.send('POST', maps, configMap('b'))).code).toBe(422);
  expect((await server.send('DELETE', `${registrations}/validatingadmissionpolicybindings/p`)).code).toBe(200);
  expect((await server.send('POST', maps, configMap('b'))).code).toBe(201);
});
