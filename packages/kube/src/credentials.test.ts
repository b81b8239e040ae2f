// Certificates and credentials: from where, how long, and what happens when they are refused.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { authOf, tlsOf } from './credentials.ts';
import type { Command } from './exec-plugin.ts';
import type { Cluster, KubeContext, User } from './kubeconfig.ts';

const contextOf = (user: User, cluster: Cluster = {}): KubeContext => ({
  name: 'one',
  namespace: 'default',
  cluster: { server: 'https://x', ...cluster },
  user,
});

/** Files by path, and a program that answers with the texts in turn. */
function world(files: Record<string, string> = {}, outputs: (string | Error)[] = []) {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const reads: string[] = [];
  const commands: Command[] = [];
  const read = (path: string) => {
    reads.push(path);
    const text = files[path];
    return text === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(text);
  };
  const run = (command: Command) => {
    commands.push(command);
    const output = outputs.shift() ?? new Error('no more output');
    if (output instanceof Error) return Promise.reject(output);
    return Promise.resolve({
      code: output.startsWith('{') || output === 'odd' ? 0 : 1,
      stdout: output,
      stderr: output,
    });
  };
  return { clock, read, run, reads, commands, files };
}

const apiVersion = 'client.authentication.k8s.io/v1';
const credential = (status: Record<string, string>) => JSON.stringify({ kind: 'ExecCredential', apiVersion, status });
const plugin: User = {
  exec: { apiVersion, command: 'login', args: ['x'], env: [{ name: 'A', value: 'b' }], installHint: 'install login' },
};

test('inline certificates win over files, and files are read', async () => {
  const { read, reads } = world({ 'ca.pem': 'CA', 'c.pem': 'CERT' });
  const context = contextOf(
    { 'client-certificate': 'c.pem', 'client-key-data': btoa('KEY'), 'client-key': 'never' },
    { 'certificate-authority': 'ca.pem', 'tls-server-name': 'api', 'insecure-skip-tls-verify': false },
  );
  expect(await tlsOf(context, read)).toEqual({
    ok: true,
    value: { ca: 'CA', cert: 'CERT', key: 'KEY', serverName: 'api', insecure: false },
  });
  expect(reads).toEqual(['ca.pem', 'c.pem']);
});

test.each<[string, User, string]>([
  [
    'a file that is not there',
    { 'client-certificate': 'away', 'client-key-data': btoa('K') },
    'cannot read away: ENOENT',
  ],
  ['text that is not base64', { 'client-certificate-data': '!', 'client-key-data': btoa('K') }, 'not base64'],
  ['a certificate without a key', { 'client-certificate-data': btoa('C') }, 'needs its key'],
])('%s is refused in words', async (_, user, says) => {
  expect(await tlsOf(contextOf(user), world().read)).toMatchObject({
    problem: { code: 'invalid', message: expect.stringContaining(says) },
  });
});

test.each<[string, User, Record<string, string>]>([
  ['a token', { token: 't' }, { authorization: 'Bearer t' }],
  ['a name and password', { username: 'ü', password: 'p:w' }, { authorization: 'Basic w7w6cDp3' }],
  ['nothing', {}, {}],
  [
    'someone else to act as',
    { token: 't', as: 'ann', 'as-uid': '7', 'as-groups': ['ops'] },
    { authorization: 'Bearer t', 'impersonate-user': 'ann', 'impersonate-uid': '7', 'impersonate-group': 'ops' },
  ],
])('%s becomes headers, and a refusal changes nothing', async (_, user, headers) => {
  const auth = authOf(contextOf(user), world());
  expect(await auth.headers()).toEqual({ ok: true, value: headers });
  expect(auth.refused(headers)).toBe(false);
});

test('a token file is read once a minute, and at once after a refusal', async () => {
  const one = world({ t: 'first\n' });
  const auth = authOf(contextOf({ tokenFile: 't', token: 'static' }), one);
  const token = async () => {
    const got = await auth.headers();
    return got.ok ? got.value['authorization'] : got.problem.message;
  };
  expect(await token()).toBe('Bearer first');
  one.files['t'] = 'second';
  await one.clock.advance(59_999);
  expect([await token(), one.reads.length]).toEqual(['Bearer first', 1]);
  await one.clock.advance(1);
  expect([await token(), one.reads.length]).toEqual(['Bearer second', 2]);
  one.files['t'] = 'third';
  const sent = await auth.headers();
  if (sent.ok) expect(auth.refused(sent.value)).toBe(true);
  expect(await token()).toBe('Bearer third');
  one.files['t'] = ' ';
  await one.clock.advance(60_000);
  expect(await token()).toContain('holds no token');
});

test('a plugin runs once for all who ask together, and again when its token ends', async () => {
  const one = world({}, [
    credential({ token: 'a', expirationTimestamp: '2026-01-01T00:10:00Z' }),
    credential({ token: 'b' }),
  ]);
  const auth = authOf(contextOf(plugin), one);
  const [first, second] = await Promise.all([auth.headers(), auth.headers()]);
  expect([first, second]).toEqual([first, { ok: true, value: { authorization: 'Bearer a' } }]);
  await one.clock.advance(589_999);
  await auth.headers();
  expect(one.commands.length).toBe(1);
  await one.clock.advance(1);
  expect(await auth.headers()).toEqual({ ok: true, value: { authorization: 'Bearer b' } });
  await one.clock.advance(3_600_000_000);
  await auth.headers();
  expect(one.commands.length).toBe(2);
});

test('a plugin is told what it may need, and the cluster only when it asks', async () => {
  const one = world({}, [credential({ token: 'a' }), credential({ token: 'a' })]);
  await authOf(contextOf(plugin), one).headers();
  const asking: User = { exec: { ...plugin.exec, provideClusterInfo: true } };
  await authOf(contextOf(asking, { 'certificate-authority-data': 'Q0E=' }), one).headers();
  expect(one.commands[0]).toEqual({
    command: 'login',
    args: ['x'],
    env: {
      A: 'b',
      KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } }),
    },
  });
  expect(JSON.parse(one.commands[1]?.env['KUBERNETES_EXEC_INFO'] ?? '')).toMatchObject({
    spec: { cluster: { server: 'https://x', 'certificate-authority-data': 'Q0E=' } },
  });
});

test('many refusals of one token run the plugin once', async () => {
  const one = world({}, [credential({ token: 'a' }), credential({ token: 'b' }), credential({ token: 'c' })]);
  const auth = authOf(contextOf(plugin), one);
  const sent = await auth.headers();
  if (!sent.ok) throw new Error('bug: no token');
  auth.refused(sent.value);
  await auth.headers();
  auth.refused(sent.value);
  expect(await auth.headers()).toEqual({ ok: true, value: { authorization: 'Bearer b' } });
});

test.each<[string, User, string | Error, string]>([
  ['cannot be run', plugin, new Error('spawn login ENOENT'), 'ENOENT; install login'],
  ['fails', plugin, 'please log in', 'ended with 1: please log in'],
  ['prints no JSON', plugin, 'odd', 'not JSON'],
  ['prints something else', plugin, '{"kind":"Status"}', 'no ExecCredential'],
  ['gives no token', plugin, credential({}), 'no token'],
  ['gives a certificate', plugin, credential({ clientCertificateData: 'x' }), 'only tokens are supported'],
  ['gives an odd end', plugin, credential({ token: 't', expirationTimestamp: 'soon' }), '"soon"'],
  ['speaks an unknown version', { exec: { command: 'login', apiVersion: 'v9' } }, '{}', '"v9"'],
  ['has no command', { exec: { apiVersion } }, '{}', 'names no command'],
])('a plugin that %s is a problem, not a throw, and is run again next time', async (_, user, output, says) => {
  const one = world({}, [output, credential({ token: 'late' })]);
  const auth = authOf(contextOf(user), one);
  expect(await auth.headers()).toMatchObject({
    ok: false,
    problem: { code: 'denied', message: expect.stringContaining(says) },
  });
  if (user === plugin) expect(await auth.headers()).toMatchObject({ ok: true });
});
