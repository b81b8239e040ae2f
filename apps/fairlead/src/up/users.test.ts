// Commands as their users type them: with the roles that we ship for them, bound in one namespace, and nothing else.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { clusterRoles } from '@fairlead/api';
import { canaryStatus } from '../canary.ts';
import { explain } from '../explain.ts';
import { applyManifests } from '../manifests.ts';
import { applyText, silent, withEnvironment } from '../testing/environment.ts';
import { printed } from '../testing/printed.ts';
import { managementName, type Environment } from './environment.ts';
import { kubeconfig as kubeconfigText } from './kubeconfig.ts';
import { applyExample } from './quickstart.ts';
import { untilCarried } from './wait.ts';

let environment: Environment;
const dir = withEnvironment(async (started) => {
  environment = started;
  for (const example of ['quickstart', 'f5-ingress']) {
    const applied = await applyExample(example, environment, silent);
    expect(await untilCarried({ environment, applied }, silent)).toEqual([]);
  }
});

const bound = (user: string, role: string, kind: 'RoleBinding' | 'ClusterRoleBinding' = 'RoleBinding') => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: `${user}-${role}`, ...(kind === 'RoleBinding' ? { namespace: 'default' } : {}) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `fairlead-${role}` },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
});

const canary = `apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: far, namespace: other}
spec: {loadbalancer: demo, namespace: default}
---
apiVersion: ebcpaas.lb/v1
kind: Lbcanary
metadata: {name: flow, namespace: default}
spec: {lbticket: test, listner: lsnr1, service: svc02, port: 8080, state: paused}
`;

beforeAll(async () => {
  const objects = [
    ...clusterRoles(),
    bound('bob', 'project-user'),
    bound('rita', 'release-manager'),
    bound('vera', 'project-user'),
    bound('vera', 'loadbalancer-viewer', 'ClusterRoleBinding'),
  ];
  const manifests = objects.map((object) => ({ at: 'roles', object }));
  expect(await applyManifests(environment.management, manifests, 'test')).toMatchObject({ ok: true });
  await applyText(environment.management, canary);
}, 60_000);

afterEach(() => vi.restoreAllMocks());

/** A kubeconfig of the management cluster in which one acts as `user`. */
function as(user: string): { kubeconfig: string; management: string } {
  const own = parse(readFileSync(environment.kubeconfig, 'utf8')) as {
    clusters: { name: string; cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { name: string; user: { token: string } }[];
  };
  const { server, 'certificate-authority-data': ca } = own.clusters.find(
    ({ name }) => name === managementName,
  )!.cluster;
  const { token } = own.users.find(({ name }) => name === managementName)!.user;
  const path = dir.file(`kubeconfig-${user}`);
  const access = { name: managementName, server, token, as: user, ca: Buffer.from(ca, 'base64').toString() };
  writeFileSync(path, kubeconfigText([access]));
  return { kubeconfig: path, management: managementName };
}

const asks = (user: string, output: 'text' | 'json' = 'text') => ({
  ...as(user),
  cluster: [],
  namespace: 'fairlead-system',
  client: '192.0.2.1',
  host: 'a.domain.com',
  path: '/',
  header: [],
  cookie: [],
  filename: [],
  output,
});

test.each(['bob', 'rita'])('%s, who may not read Loadbalancers, is told which pool a request gets', async (user) => {
  const [own, admins] = [
    await printed(() => explain('default/test', asks(user))),
    await printed(() => explain('default/test', { ...asks(user), kubeconfig: environment.kubeconfig })),
  ];
  expect([own.code, own.out]).toEqual([0, admins.out]);
  expect(own.out).toContain('pool    svc03_8080_pool (Service svc03 port 8080 in namespace default)');
  expect(own.err).toContain('Loadbalancer demo may not be read by you');
});

test('as JSON, nothing of the Loadbalancer that stands for the one that may not be read is to be seen', async () => {
  const { code, out } = await printed(() => explain('test', asks('bob', 'json')));
  expect([code, out.includes('unseen')]).toEqual([0, false]);
});

test('who may read Loadbalancers is told without a word about it', async () => {
  expect(await printed(() => explain('test', asks('vera')))).toMatchObject({ code: 0, err: '' });
});

test('for F5 Ingresses the Loadbalancer is needed, and the role is named', async () => {
  const { code, err } = await printed(() => explain('default/web', asks('bob')));
  expect([code, err]).toEqual([1, expect.stringContaining('ask for the role fairlead-loadbalancer-viewer')]);
});

test('a ticket that is not there, and one in a namespace of others', async () => {
  const missing = await printed(() => explain('default/none', asks('bob')));
  expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/no ticket default\/none; .*default\/test/) });
  const others = await printed(() => explain('other/far', asks('bob')));
  expect(others).toMatchObject({ code: 1, err: expect.stringContaining('cannot get resource "lbtickets"') });
});

test('canaries of a namespace are shown to those bound there; of all, to those who may', async () => {
  const shown = { watch: false, output: 'text' } as const;
  for (const user of ['bob', 'rita']) {
    const inOne = await printed(() => canaryStatus(undefined, { ...as(user), ...shown, namespace: 'default' }));
    expect(inOne).toMatchObject({ code: 0, out: expect.stringContaining('default/flow') });
    const inAll = await printed(() => canaryStatus(undefined, { ...as(user), ...shown }));
    expect(inAll).toMatchObject({ code: 1, err: expect.stringContaining('fairlead canary status -n NAMESPACE') });
  }
  const admin = { ...as('bob'), kubeconfig: environment.kubeconfig };
  expect(await printed(() => canaryStatus(undefined, { ...admin, ...shown }))).toMatchObject({ code: 0 });
  const elsewhere = await printed(() => canaryStatus(undefined, { ...admin, ...shown, namespace: 'other' }));
  expect(elsewhere.out.split('\n')).toHaveLength(2);
});

test('a canary is named with its namespace, or by -n, and not by two', async () => {
  const shown = { ...as('rita'), watch: false, output: 'text' } as const;
  const seen = await printed(() => canaryStatus('flow', { ...shown, namespace: 'default' }));
  expect(seen).toMatchObject({ code: 0, out: expect.stringContaining('default/flow') });
  const both = await printed(() => canaryStatus('default/flow', { ...shown, namespace: 'other' }));
  expect(both).toMatchObject({ code: 1, err: expect.stringContaining('leave one of them out') });
});
