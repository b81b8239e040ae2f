// The client over real sockets, files and programs.
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeClock } from '@fairlead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { configMaps } from './kinds.ts';
import { connect, connectText, type ConnectOptions } from './node.ts';
import { configMap } from './scripted.ts';
import { store } from './store.ts';

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function written(server: string, user: string, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'kube-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const text = `
current-context: one
contexts: [{name: one, context: {cluster: c, user: u, namespace: shop}}]
clusters: [{name: c, cluster: {server: "${server}"}}]
users: [{name: u, user: {${user}}}]
`;
  for (const [name, body] of Object.entries({ config: text, ...files }))
    writeFileSync(join(folder, name), body, { mode: 0o755 });
  return join(folder, 'config');
}

async function connected(options: Partial<ConnectOptions> & { kubeconfig: string }) {
  const got = await connect({ clock: fakeClock(), random: () => 0, env: { PATH: '/usr/bin:/bin' }, ...options });
  if (!got.ok) throw new Error(got.problem.message);
  onTestFinished(got.value.close);
  return got.value;
}

test('a call carries the token of a file beside the kubeconfig, and its body', async () => {
  const seen: string[] = [];
  const server = await listening((request, response) => {
    const parts: string[] = [];
    request.on('data', (part: Buffer) => parts.push(part.toString()));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.setHeader('content-type', 'application/json').end(parts.join(''));
    });
  });
  const { kube, namespace, context } = await connected({
    kubeconfig: written(server, 'tokenFile: token', { token: 'abc\n' }),
  });
  const object = configMap('a', '1', { data: { word: 'ü😀' } });
  expect(await kube.create(configMaps, object)).toEqual({ ok: true, value: object });
  expect([seen, namespace, context]).toEqual([['POST /api/v1/namespaces/shop/configmaps Bearer abc'], 'shop', 'one']);
});

test('an exec plugin beside the kubeconfig is run with the environment given', async () => {
  const script = `#!/bin/sh
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'"$WHO-$1-$MORE"'"}}'
`;
  const server = await listening((request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ saw: request.headers.authorization })),
  );
  const exec =
    'exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [x], env: [{name: MORE, value: y}]}';
  const { kube } = await connected({
    kubeconfig: written(server, exec, { login: script }),
    env: { PATH: '/usr/bin:/bin', WHO: 'me' },
  });
  expect(await kube.raw('GET', '/version')).toEqual({ ok: true, value: { saw: 'Bearer me-x-y' } });
});

test('a plugin that is not there, or fails, is told in words', async () => {
  const exec = (command: string) => `exec: {apiVersion: client.authentication.k8s.io/v1, command: ${command}}`;
  const away = await connected({ kubeconfig: written('http://127.0.0.1:1', exec('./away')) });
  expect(await away.kube.raw('GET', '/')).toMatchObject({
    problem: { code: 'denied', message: expect.stringContaining('ENOENT') },
  });
  const failing = await connected({
    kubeconfig: written('http://127.0.0.1:1', exec('./fail'), { fail: '#!/bin/sh\necho no >&2; exit 3\n' }),
  });
  expect(await failing.kube.raw('GET', '/')).toMatchObject({
    problem: { code: 'denied', message: expect.stringContaining('ended with 3: no') },
  });
});

test('nobody listening is a problem that names the address', async () => {
  const { kube } = await connected({ kubeconfig: written('http://127.0.0.1:1', 'token: t') });
  const got = await kube.create(configMaps, configMap('a', '1'));
  expect(got).toMatchObject({
    problem: { code: 'unreachable', message: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') },
  });
});

test('a watch streams over a socket, and the abort closes it', async () => {
  let closed = () => {};
  const ended = new Promise<void>((resolve) => (closed = resolve));
  const server = await listening((_request, response) => {
    const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
    response.write(line('ADDED', configMap('a', '1')));
    response.write(
      line('BOOKMARK', { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } }),
    );
    response.on('close', closed);
  });
  const { kube } = await connected({ kubeconfig: written(server, 'token: t') });
  const copy = store(kube, configMaps);
  const stop = new AbortController();
  const running = copy.run(stop.signal);
  await copy.ready();
  expect([...copy.all()]).toEqual([configMap('a', '1')]);
  stop.abort();
  await Promise.all([running, ended]);
});

test('watches take no connection from calls', async () => {
  const server = await listening((request, response) => {
    if (request.url?.includes('watch=true')) response.write('\n');
    else response.setHeader('content-type', 'application/json').end('{}');
  });
  const { kube } = await connected({ kubeconfig: written(server, 'token: t') });
  const stop = new AbortController();
  setMaxListeners(100, stop.signal);
  const watches = Array.from({ length: 40 }, () => store(kube, configMaps).run(stop.signal));
  expect(await Promise.all(Array.from({ length: 40 }, () => kube.raw('GET', '/version')))).toEqual(
    Array.from({ length: 40 }, () => ({ ok: true, value: {} })),
  );
  stop.abort();
  await Promise.all(watches);
});

test.each<[string, Partial<ConnectOptions>, string]>([
  ['a kubeconfig that is not there', { kubeconfig: '/away/config' }, 'cannot read the kubeconfig: ENOENT'],
  ['no kubeconfig out of a pod', {}, 'not in a pod'],
])('%s is a problem', async (_, options, says) => {
  const got = await connect({ clock: fakeClock(), random: () => 0, env: {}, ...options });
  expect(got).toMatchObject({ ok: false, problem: { message: expect.stringContaining(says) } });
});

const text = (user: string, cluster = '') => `
current-context: one
contexts: [{name: one, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://10.0.0.1:6443"${cluster}}}]
users: [{name: u, user: {${user}}}]
`;
const foreign = (kubeconfig: string) =>
  connectText({ text: kubeconfig, from: 'Secret s, key a', clock: fakeClock(), random: () => 0 });

test('a kubeconfig that others wrote connects by what stands in it', async () => {
  const got = await foreign(text('token: t'));
  expect(got.ok && got.value.kube.server).toBe('https://10.0.0.1:6443');
  if (got.ok) await got.value.close();
});

test.each([
  ['runs no program', text('exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}'), 'run the program sh'],
  ['reads no token file', text('tokenFile: /etc/passwd'), 'tokenFile would read files here'],
  ['reads no certificates', text('client-certificate: a, client-key: b'), 'client-certificate, client-key'],
  ['reads no authority', text('token: t', ', certificate-authority: /etc/ca'), 'give certificate-authority-data'],
  ['needs a context of its own', text('token: t').replace('current-context: one', ''), 'no current-context'],
])('a kubeconfig that others wrote %s', async (_, kubeconfig, words) => {
  const got = await foreign(kubeconfig);
  expect(got.ok ? '' : got.problem.message).toContain(words);
});
