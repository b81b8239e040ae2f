// Which cluster a command talks to when it is told of none, and a controller in a pod that goes by its service account.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authority, issue, type Issue } from '@fairlead/apiserver';
import type { Kube } from '@fairlead/kube';
import { connect } from '@fairlead/kube/node';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from './clock.ts';
import { connectManagement } from './connect.ts';
import { usualKubeconfig } from './kubeconfig-option.ts';
import { serve } from './serve.ts';
import { bareServer } from './testing/api-server.ts';

const own = '.fairlead/kubeconfig';
const users = '/home/ann/.kube/config';
const pod = { HOME: '/home/ann', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
test.each<[string, Record<string, string>, string[], string | undefined]>([
  ['an environment of ours comes first', pod, [own, users], own],
  ['then the kubeconfig that kubectl uses', pod, [users], users],
  ['then, in a pod, its service account', pod, [], undefined],
  ['out of a pod the first is missing', { HOME: '/home/ann' }, [], own],
  ['who has no home looks in none', { KUBERNETES_SERVICE_HOST: '10.96.0.1' }, [users, '.kube/config'], undefined],
])('told of no kubeconfig: %s', (_, env, files, found) => {
  expect(usualKubeconfig(env, (path) => files.includes(path))).toBe(found);
});

test('a context without a kubeconfig is refused, since a pod knows one cluster', async () => {
  expect(await connectManagement({ kubeconfig: undefined, management: 'east' })).toMatchObject({
    problem: { message: expect.stringContaining('no context east') },
  });
});

/** An API server behind TLS, as a pod is told of it: its environment, and a client of an administrator's. */
async function served(ca: string, pair: { cert: string; key: string }) {
  const server = await bareServer();
  const { url, close } = await serve((request, peer) => server.answer(request, peer), {
    host: '127.0.0.1',
    port: 0,
    tls: pair,
  });
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-pod-'));
  onTestFinished(async () => {
    rmSync(folder, { recursive: true });
    await close();
    await server.close();
  });
  const put = (files: Record<string, string>) =>
    Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));
  const connected = async () => {
    const { hostname, port } = new URL(url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const got = await connect({ env, serviceAccount: folder, clock: systemClock, random: () => 0 });
    if (!got.ok) throw new Error(got.problem.message);
    onTestFinished(got.value.close);
    return got.value;
  };
  put({ token: 'root', 'ca.crt': ca, namespace: 'default' });
  return { put, connected, root: (await connected()).kube };
}

const accounts = '/api/v1/namespaces/default/serviceaccounts';

/** An account of the name, made anew: tokens of one that was there before are worth nothing. */
async function tokenOf(root: Kube, name: string): Promise<string> {
  await root.raw('DELETE', `${accounts}/${name}`);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  expect(await root.raw('POST', accounts, account)).toMatchObject({ ok: true });
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const got = await root.raw('POST', `${accounts}/${name}/token`, wanted);
  if (!got.ok) throw new Error(got.problem.message);
  return (got.value as { status: { token: string } }).status.token;
}

const whoAmI = async (kube: Kube): Promise<unknown> => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const got = await kube.raw('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
  return got.ok
    ? (got.value as { status: { userInfo: { username: string } } }).status.userInfo.username
    : got.problem.code;
};

test('in a pod: the server by the environment, its authority and our token by files, and the token that replaces it', async () => {
  const ca = await authority('Authority of the cluster', systemClock.now());
  const wanted: Issue = { commonName: 'kubernetes', addresses: ['127.0.0.1'], usage: 'server' };
  const pair = await issue(ca, wanted, systemClock.now());
  const { put, connected, root } = await served(ca.cert, pair);
  put({ token: await tokenOf(root, 'fairlead'), namespace: 'fairlead-system\n' });
  const { kube, namespace } = await connected();
  expect([namespace, await whoAmI(kube)]).toEqual(['fairlead-system', 'system:serviceaccount:default:fairlead']);

  const next = await tokenOf(root, 'fairlead');
  expect(await whoAmI(kube)).toBe('denied');
  put({ token: `${next}\n` });
  expect(await whoAmI(kube)).toBe('system:serviceaccount:default:fairlead');

  // A server with another authority is not the one that the pod was told of.
  put({ 'ca.crt': (await authority('Another', systemClock.now())).cert });
  expect(await whoAmI((await connected()).kube)).toBe('unreachable');
});
