// The shipped roles on the embedded API server, asked as `kubectl --as` asks it: by impersonation.
import { apiServer, memory } from '@fairlead/apiserver';
import { fakeClock } from '@fairlead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crds } from './crds.ts';
import { makeLoadbalancer, makeRule, makeTicket } from './make.ts';
import { adminRoles } from './program-roles.ts';
import { clusterRoles } from './roles.ts';

let server: Awaited<ReturnType<typeof apiServer>>;

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const tickets = (namespace: string) => `/apis/ebcpaas.io/v1/namespaces/${namespace}/lbtickets`;
const rules = '/apis/ebcpaas.lb/v1/namespaces/red/lbrules';
const loadbalancers = '/apis/ebcpaas.lb/v1/loadbalancers';
const ticket = (name: string) => ({ ...makeTicket(), metadata: { name } });

beforeAll(async () => {
  let seed = 0;
  server = await apiServer({
    storage: memory(),
    clock: fakeClock(Date.parse('2026-01-01T00:00:00Z')),
    name: 'test',
    random: (bytes) => Uint8Array.from({ length: bytes }, () => (seed = (seed * 31 + 7) % 251)),
    tokens: [{ token: 't', user: 'admin', groups: ['system:masters'] }],
    report: (message) => {
      throw new Error(message);
    },
  });
  for (const crd of crds()) await made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  for (const name of ['red', 'blue', 'fairlead-system']) await made('/api/v1/namespaces', { metadata: { name } });
  for (const role of clusterRoles()) await made(`${rbac}/clusterroles`, role);
  await made('/api/v1/namespaces/fairlead-system/secrets', { metadata: { name: 'demo-ve' } });
  await made(loadbalancers, makeLoadbalancer());
  await made(tickets('red'), ticket('first'));
  await made(tickets('blue'), ticket('first'));
  await made(rules, { ...makeRule(), metadata: { name: 'first' } });
  // By a role of Kubernetes that ours is a part of, and by ours.
  await bind('rolebindings', 'ann', 'edit');
  await bind('rolebindings', 'bob', 'fairlead-project-user');
  await bind('rolebindings', 'vera', 'view');
  await bind('clusterrolebindings', 'vera', 'fairlead-loadbalancer-viewer');
  await bind('clusterrolebindings', 'otto', 'fairlead-network-approver');
  await bind('clusterrolebindings', 'paul', 'fairlead-platform-admin');
  const own = `${rbac}/namespaces/fairlead-system`;
  for (const role of adminRoles()) await made(`${own}/roles`, role);
  await made(`${own}/rolebindings`, {
    metadata: { name: 'carl' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'fairlead-cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carl' }],
  });
});

afterAll(() => server.close());

function bind(plural: 'rolebindings' | 'clusterrolebindings', name: string, role: string): Promise<void> {
  const path = plural === 'rolebindings' ? `${rbac}/namespaces/red/rolebindings` : `${rbac}/clusterrolebindings`;
  return made(path, {
    metadata: { name: `${name}-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });
}

async function made(path: string, body: object): Promise<void> {
  const answer = await ask('admin', 'POST', path, body);
  expect([path, answer.status, await answer.text()]).toEqual([path, 201, expect.anything()]);
}

function ask(user: string, method: string, path: string, body?: object): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = {
    authorization: 'Bearer t',
    ...(user === 'admin' ? {} : { 'impersonate-user': user }),
    ...(body ? { 'content-type': type } : {}),
  };
  const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
  return server.answer(new Request(`http://kube.test${path}`, init));
}

const label = { metadata: { labels: { seen: 'yes' } } };
const status = { status: { process: 'enabled' } };
const spec = { spec: { claimer: 'me' } };

const asked: [user: string, method: string, path: string, body: object | undefined, may: boolean][] = [
  ['ann', 'GET', tickets('red'), undefined, true],
  ['bob', 'GET', tickets('red'), undefined, true],
  ['bob', 'PATCH', `${tickets('red')}/first`, spec, true],
  ['bob', 'PATCH', `${rules}/first`, label, true],
  ['bob', 'GET', tickets('blue'), undefined, false],
  ['bob', 'PATCH', `${tickets('blue')}/first`, spec, false],
  ['bob', 'GET', '/apis/ebcpaas.io/v1/lbtickets', undefined, false],
  ['bob', 'PATCH', `${tickets('red')}/first/status`, status, false],
  ['ann', 'PATCH', `${tickets('red')}/first/status`, status, false],
  ['bob', 'GET', `${loadbalancers}/demo`, undefined, false],
  ['bob', 'GET', '/api/v1/namespaces/fairlead-system/secrets/demo-ve', undefined, false],
  ['ann', 'GET', '/api/v1/namespaces/fairlead-system/secrets', undefined, false],
  ['vera', 'GET', tickets('red'), undefined, true],
  ['vera', 'GET', `${loadbalancers}/demo`, undefined, true],
  ['vera', 'PATCH', `${loadbalancers}/demo`, label, false],
  ['vera', 'PATCH', `${tickets('red')}/first`, spec, false],
  ['vera', 'DELETE', `${rules}/first`, undefined, false],
  ['otto', 'GET', '/apis/ebcpaas.io/v1/lbtickets', undefined, true],
  ['otto', 'PATCH', `${tickets('blue')}/first/status`, status, true],
  ['otto', 'PATCH', `${tickets('blue')}/first`, spec, false],
  ['otto', 'GET', '/api/v1/namespaces/fairlead-system/secrets', undefined, false],
  ['paul', 'PATCH', `${loadbalancers}/demo`, label, true],
  ['paul', 'PATCH', `${tickets('blue')}/first/status`, status, false],
  ['paul', 'GET', '/api/v1/namespaces/fairlead-system/secrets', undefined, false],
  // As `fairlead cluster add` and `list` do it, and credentials of a device.
  ['carl', 'GET', '/api/v1/namespaces/fairlead-system/secrets', undefined, true],
  ['carl', 'PATCH', '/api/v1/namespaces/fairlead-system/secrets/demo-ve', label, true],
  ['carl', 'GET', '/api/v1/namespaces/red/secrets', undefined, false],
  ['carl', 'PATCH', `${loadbalancers}/demo`, label, false],
  ['nobody', 'GET', tickets('red'), undefined, false],
];

test.each(asked)('%s %s %s %o: %s', async (user, method, path, body, may) => {
  const answer = await ask(user, method, path, body);
  expect([answer.status, await answer.text()]).toEqual([may ? 200 : 403, expect.anything()]);
});
