// What a kubeconfig says, and what is refused rather than half understood.
import { expect, test } from 'vitest';
import { inCluster, serviceAccount as folder } from './in-cluster.ts';
import { kubeconfig } from './kubeconfig.ts';

const file = (cluster: string, user: string) => `
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: shop}}
- {name: two, context: {cluster: c}}
- {name: lost, context: {cluster: away, user: u}}
- {name: nobody, context: {cluster: c, user: away}}
clusters:
- {name: c, cluster: {${cluster}}}
users:
- {name: u, user: {${user}}}
`;
const plain = file('server: "https://10.0.0.1:6443"', 'token: t');

function pick(text: string, name?: string) {
  const parsed = kubeconfig(text, 'config');
  return parsed.ok ? parsed.value.pick(name) : parsed;
}

test('the current context is picked, with its cluster, user and namespace', () => {
  expect(pick(plain)).toEqual({
    ok: true,
    value: { name: 'one', cluster: { server: 'https://10.0.0.1:6443' }, user: { token: 't' }, namespace: 'shop' },
  });
});

test('a context by name may have no user and no namespace', () => {
  expect(pick(plain, 'two')).toMatchObject({ ok: true, value: { user: {}, namespace: 'default' } });
});

test('contexts are listed in the order of the file', () => {
  const parsed = kubeconfig(plain);
  expect(parsed.ok && [parsed.value.current, parsed.value.contexts]).toEqual(['one', ['one', 'two', 'lost', 'nobody']]);
});

const refused: { rule: string; text: string; name?: string; says: string }[] = [
  { rule: 'text that is not YAML', text: 'a: [', says: 'config: ' },
  { rule: 'a list instead of a kubeconfig', text: '[]', says: 'not a kubeconfig' },
  { rule: 'an empty file', text: '', says: 'not a kubeconfig' },
  { rule: 'contexts that are no list', text: 'contexts: {a: b}', says: 'contexts is not a list' },
  { rule: 'no current context', text: 'contexts: []', says: 'no current-context is set' },
  {
    rule: 'a context that is not there',
    text: plain,
    name: 'three',
    says: 'no context "three"; it has one, two, lost, nobody',
  },
  { rule: 'a cluster that is not there', text: plain, name: 'lost', says: '"away"' },
  { rule: 'a user that is not there', text: plain, name: 'nobody', says: '"away"' },
  { rule: 'a server that is no address', text: file('server: "10.0.0.1"', ''), says: 'has the server "10.0.0.1"' },
  { rule: 'a proxy', text: file('server: "https://x", proxy-url: "http://p"', ''), says: 'proxy-url is not supported' },
  {
    rule: 'trust in one authority and in everyone',
    text: file('server: "https://x", certificate-authority: ca, insecure-skip-tls-verify: true', ''),
    says: 'exclude each other',
  },
  {
    rule: 'an old auth-provider',
    text: file('server: "https://x"', 'auth-provider: {name: gcp}'),
    says: 'auth-provider "gcp"',
  },
  { rule: 'two groups to act in', text: file('server: "https://x"', 'as: a, as-groups: [a, b]'), says: 'as-groups' },
  {
    rule: 'a plugin that needs a terminal',
    text: file('server: "https://x"', 'exec: {command: c, interactiveMode: Always}'),
    says: 'wants a terminal',
  },
];

for (const { rule, text, name, says } of refused)
  test(`${rule} is refused in words`, () => {
    expect(pick(text, name)).toMatchObject({ ok: false, problem: { message: expect.stringContaining(says) } });
  });

const read = (path: string) =>
  path.endsWith('/namespace') ? Promise.resolve('fairlead\n') : Promise.reject(new Error(`ENOENT ${path}`));

test('a pod is told of its server by the environment and of itself by files', async () => {
  expect(await inCluster({ host: 'fd00::1', port: '443', folder, read })).toEqual({
    ok: true,
    value: {
      name: 'in-cluster',
      cluster: {
        server: 'https://[fd00::1]:443',
        'certificate-authority': '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      },
      user: { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' },
      namespace: 'fairlead',
    },
  });
});

test('out of a pod this is said', async () => {
  expect(await inCluster({ host: undefined, port: undefined, folder, read })).toMatchObject({
    problem: { message: expect.stringContaining('not in a pod') },
  });
  const missing = await inCluster({ host: 'h', port: '1', folder, read: () => Promise.reject(new Error('ENOENT')) });
  expect(missing).toMatchObject({ ok: false, problem: { message: expect.stringContaining('ENOENT') } });
});
