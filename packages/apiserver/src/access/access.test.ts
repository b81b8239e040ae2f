// Who comes in, whose name they may take, and what they may give to others.
import { expect, test } from 'vitest';
import { authority, issue, type Issue } from '../certificates.ts';
import { treeOf, type Tree } from '../object.ts';
import { testServer, type TestServer } from '../test-server.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const reviews = '/apis/authentication.k8s.io/v1';
const self = `${reviews}/selfsubjectreviews`;
const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

const der = (pem: string): Uint8Array => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');

/** The user a request is taken for; the status code when it is not let in. */
async function userBy(server: TestServer, certificate: Uint8Array, token?: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const request = new Request(`http://test${self}`, { method: 'POST', body: JSON.stringify(whoAmI), headers });
  const response = await server.answer(request, { certificate });
  const body = (await response.json()) as Tree;
  return response.status === 201 ? treeOf(treeOf(treeOf(body.status).userInfo)).username : response.status;
}

test('a client certificate of the authority names its user and groups; any other proves nothing', async () => {
  const [ca, other] = [await authority('ours', now), await authority('ours', now)];
  const server = await testServer({ clientAuthority: ca.cert });
  const wanted: Issue = { commonName: 'ann', organizations: ['system:masters'], usage: 'client' };
  const [good, forged] = [await issue(ca, wanted, now), await issue(other, wanted, now)];
  const old = await issue(ca, wanted, now - 400 * 24 * 3_600_000);
  const serving = await issue(ca, { ...wanted, usage: 'server' }, now);
  expect(await userBy(server, der(good.cert))).toBe('ann');
  for (const bad of [forged, old, serving]) expect(await userBy(server, der(bad.cert))).toBe(401);
  expect(await userBy(server, Uint8Array.of(1, 2, 3))).toBe(401);
  expect(await userBy(server, der(forged.cert), 'joe')).toBe('joe');
  await server.close();
});

test('without a token one is anonymous and sees the version; with a wrong one, nothing', async () => {
  const server = await testServer();
  const get = (path: string, headers: Record<string, string>) =>
    server.answer(new Request(`http://test${path}`, { headers })).then((response) => response.status);
  expect(await get('/version', {})).toBe(200);
  expect(await get('/api/v1/namespaces', {})).toBe(403);
  expect(await get('/version', { authorization: 'Bearer nobody' })).toBe(401);
  await server.close();
});

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const tokenOf = async (server: TestServer, spec: Tree = {}) => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  return server.send('POST', `${accounts}/default/token`, body);
};
const reviewed = async (server: TestServer, token: unknown, audiences?: string[]) => {
  const spec = { token, ...(audiences ? { audiences } : {}) };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
  return treeOf((await server.send('POST', `${reviews}/tokenreviews`, body)).body.status);
};

test('a service account token is good until its account is another, and only for its audiences', async () => {
  const server = await testServer();
  const token = treeOf((await tokenOf(server)).body.status).token;
  expect(await reviewed(server, token)).toMatchObject({
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:default',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    },
  });
  expect(String((await reviewed(server, token, ['vault'])).error)).toContain('is invalid for the target audiences');
  const asked = await server.send('GET', '/api/v1/namespaces/default/pods', undefined, { token: String(token) });
  expect(asked.body.message).toContain('User "system:serviceaccount:default:default" cannot list resource "pods"');
  await server.send('DELETE', `${accounts}/default`);
  expect(await reviewed(server, token)).toEqual({
    user: {},
    error: '[invalid bearer token, service account default/default has been deleted]',
  });
  await server.close();
});

test('a token bound to a pod ends with the pod', async () => {
  const server = await testServer();
  const pods = '/api/v1/namespaces/default/pods';
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  };
  const spec = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } };
  expect((await tokenOf(server, spec)).code).toBe(404);
  await server.send('POST', pods, pod);
  const token = treeOf((await tokenOf(server, spec)).body.status).token;
  expect((await reviewed(server, token)).authenticated).toBe(true);
  await server.send('DELETE', `${pods}/p`);
  expect((await reviewed(server, token)).error).toContain('invalidated');
  await server.close();
});

test.each([
  ['a life of less than ten minutes', { expirationSeconds: 7 }, 422, 'may not specify a duration less than 10 minutes'],
  [
    'another kind to be bound to',
    { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' } },
    400,
    'cannot bind token to object of type /v1, Kind=ConfigMap',
  ],
])('a token request with %s is refused', async (_, spec, code, says) => {
  const server = await testServer();
  const reply = await tokenOf(server, spec);
  expect([reply.code, reply.body.message]).toEqual([code, expect.stringContaining(says)]);
  await server.close();
});

const role = (name: string, rules: Tree[], more: Tree = {}) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules,
  ...more,
});
const binding = (name: string, of: string, user: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: of },
  subjects: [{ kind: 'User', name: user }],
});
const roleWriter = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update'] }];

test('nobody grants more than they have, by a role or by a binding, unless they may escalate or bind', async () => {
  const server = await testServer();
  await server.send('POST', `${rbac}/clusterroles`, role('writer', roleWriter));
  await server.send('POST', `${rbac}/clusterrolebindings`, binding('joe', 'writer', 'joe'));
  const asJoe = (path: string, body: Tree) => server.send('POST', `${rbac}/${path}`, body, { token: 'joe' });
  const refused = await asJoe(
    'clusterroles',
    role('more', [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]),
  );
  expect(refused.body.message).toBe(
    'clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "joe" (groups=["people" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
  );
  expect((await asJoe('clusterroles', role('same', roleWriter))).code).toBe(201);
  expect((await asJoe('clusterrolebindings', binding('up', 'cluster-admin', 'joe'))).code).toBe(403);
  const bind = [
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view'] },
  ];
  await server.send('POST', `${rbac}/clusterroles`, role('binder', bind));
  await server.send('POST', `${rbac}/clusterrolebindings`, binding('binder', 'binder', 'joe'));
  expect((await asJoe('clusterrolebindings', binding('view', 'view', 'ann'))).code).toBe(201);
  await server.close();
});

test('an aggregated role has the rules of whatever carries its label, through other sums too', async () => {
  const server = await testServer();
  const rule = { apiGroups: ['example.io'], resources: ['tickets'], verbs: ['get'] };
  const labelled = role('tickets', [rule]);
  await server.send('POST', `${rbac}/clusterroles`, {
    ...labelled,
    metadata: { name: 'tickets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  });
  for (const name of ['view', 'edit', 'admin'])
    expect((await server.send('GET', `${rbac}/clusterroles/${name}`)).body.rules).toContainEqual(rule);
  await server.close();
});

test.each([
  ['another user', { 'impersonate-user': 'ann' }, 'ann'],
  [
    'a service account, with its groups',
    { 'impersonate-user': 'system:serviceaccount:a:b' },
    'system:serviceaccount:a:b',
  ],
])('an administrator may ask as %s', async (_, headers, name) => {
  const server = await testServer();
  const request = new Request(`http://test${self}`, {
    method: 'POST',
    body: JSON.stringify(whoAmI),
    headers: { authorization: 'Bearer admin', 'content-type': 'application/json', ...headers },
  });
  const body = (await (await server.answer(request)).json()) as Tree;
  expect(treeOf(treeOf(body.status).userInfo).username).toBe(name);
  await server.close();
});

test('kube-root-ca.crt is in every namespace of a server that knows its authority', async () => {
  const server = await testServer({ authority: 'PEM' });
  const found = await server.send('GET', '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt');
  expect(found.body.data).toEqual({ 'ca.crt': 'PEM' });
  await server.close();
});
