// Our webhooks as a real API server meets them: over HTTPS, with the certificate that it was told of.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterRoles, crds, lbtickets, loadbalancers, type Loadbalancer } from '@fairlead/api';
import { apiServer, memory, type ApiServer } from '@fairlead/apiserver';
import { fetchSend, kube, secrets, type Kube, type Secret } from '@fairlead/kube';
import { answered } from '../approve.ts';
import { systemClock } from '../clock.ts';
import { applyManifests } from '../manifests.ts';
import { controllersUser, grantControllers } from '../up/access.ts';
import { servedCertificate } from './certificate.ts';
import { ownSecrets } from './owners.ts';
import { seal } from './seal.ts';
import { startWebhooks } from './webhooks.ts';

const namespace = 'fairlead-system';
const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  bug: () => undefined,
};
const stop = new AbortController();
let server: ApiServer;
let management: Kube;
let running: Promise<void> | undefined;

const clientOf = (token: string): Kube =>
  kube({
    server: 'http://management.invalid',
    send: fetchSend((request) => server.answer(request)),
    auth: {
      headers: async () => ({ ok: true, value: { authorization: `Bearer ${token}` } }) as const,
      refused: () => false,
    },
    clock: systemClock,
    random: () => 0.5,
    report: () => undefined,
  });

beforeAll(async () => {
  server = await apiServer({
    storage: memory(),
    clock: systemClock,
    random: (bytes) => randomBytes(bytes),
    name: 'management',
    tokens: [
      { token: 'root', user: 'root', groups: ['system:masters'] },
      { token: 'own', user: controllersUser, groups: [] },
      { token: 'carla', user: 'carla', groups: ['system:masters'] },
      { token: 'otto', user: 'otto', groups: [] },
      { token: 'own-run', user: 'somebody-runs-it', groups: [] },
    ],
    report: (line) => void process.stderr.write(`${line}\n`),
  });
  management = clientOf('root');
  const own = clientOf('own');
  const objects = [
    ...crds().map((object) => ({ at: 'definitions', object })),
    { at: 'namespace', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } },
  ];
  expect(await applyManifests(management, objects, 'test')).toMatchObject({ ok: true });
  await grantControllers(management, 'management');
  // With the roles that we ship, and no more.
  const started = await startWebhooks({
    host: '127.0.0.1',
    port: 0,
    reach: (port) => ({ url: `https://127.0.0.1:${port}` }),
    management: own,
    clusters: new Map(),
    open: () => expect.fail('there is no Secret with clusters'),
    namespace,
    clock: systemClock,
    random: () => 0.5,
    log: silent,
  });
  if (!started.ok) throw new Error(started.problem.message);
  running = started.value.run(stop.signal);
}, 60_000);

afterAll(async () => {
  stop.abort();
  await running;
  await server?.close();
});

const loadbalancer = (name: string, over: Record<string, unknown> = {}): Loadbalancer =>
  ({
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name },
    spec: {
      ltm: { url: `http://${name}.example.com`, token: 'foo-token', cidr: '10.0.0.0/24' },
      ve: { addr: `${name}.example.com`, user: 'admin', passwd: 'very-secret', cidr: '20.0.0.0/24', ...over },
      cluster: 'one',
      nsselector: { a: name },
    },
  }) as unknown as Loadbalancer;

const read = (data: Record<string, string> | undefined, key: string) =>
  Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');

const secretOf = async (name: string): Promise<Secret | undefined> => {
  const got = await management.get(secrets, { name, namespace });
  return got.ok ? got.value : undefined;
};

test('credentials in the clear are in a Secret, and nowhere in the object', async () => {
  const made = await management.create(loadbalancers, loadbalancer('a'));
  if (!made.ok) throw new Error(made.problem.message);
  expect(JSON.stringify(made.value)).not.toMatch(/very-secret|foo-token/);
  expect(made.value.spec).toMatchObject({
    ve: { user: 'admin', credentialsSecretRef: { name: 'a-ve' } },
    ltm: { tokenSecretRef: { name: 'a-ltm' } },
  });
  const kept = await secretOf('a-ve');
  expect([read(kept?.data, 'username'), read(kept?.data, 'password')]).toEqual(['admin', 'very-secret']);
  expect(read((await secretOf('a-ltm'))?.data, 'token')).toBe('foo-token');
});

test('a file that is applied again with another password changes the Secret', async () => {
  const body = { spec: { ve: { passwd: 'changed' } } };
  const patched = await management.patch(loadbalancers, { name: 'a' }, { type: 'merge', body });
  expect(patched).toMatchObject({ ok: true });
  expect(JSON.stringify(patched)).not.toContain('changed"');
  expect(read((await secretOf('a-ve'))?.data, 'password')).toBe('changed');
});

test('a dry run writes no Secret', async () => {
  const made = await management.create(loadbalancers, loadbalancer('dry'), { dryRun: true });
  expect(made).toMatchObject({ ok: true });
  expect(JSON.stringify(made)).not.toContain('very-secret');
  expect(await secretOf('dry-ve')).toBeUndefined();
});

test('a Secret of somebody else is not written over, and the refusal says what to do', async () => {
  const other: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b-ve', namespace }, data: {} };
  await management.create(secrets, other);
  const made = await management.create(loadbalancers, loadbalancer('b'));
  const why =
    "Loadbalancer b: spec.ve.passwd: would be kept in Secret fairlead-system/b-ve, which is somebody else's: refer to it by spec.ve.credentialsSecretRef, or remove that Secret";
  expect(made).toMatchObject({ ok: false, problem: { status: 403, message: expect.stringContaining(why) } });
  expect((await secretOf('b-ve'))?.data).toEqual({});
});

test('credentials of one whose name the server makes after admission cannot be kept', async () => {
  const { metadata: _, ...rest } = loadbalancer('c');
  const resource = { group: loadbalancers.group, version: loadbalancers.version, resource: loadbalancers.plural };
  const asked = { operation: 'CREATE', resource, object: { ...rest, metadata: { generateName: 'c-' } } } as const;
  const why = 'Loadbalancer c-: metadata.name: the Secrets that keep credentials are named after it';
  expect(await seal(asked, { allowed: true }, { management, namespace })).toMatchObject({
    allowed: false,
    status: { code: 422, message: expect.stringContaining(why) },
  });
});

test('what is wrong is refused over the wire, with the field', async () => {
  const ticket = { apiVersion: 'ebcpaas.io/v1', kind: 'Lbticket', metadata: { name: 't', namespace: 'default' } };
  const spec = { loadbalancer: 'a', namespace: 'default', state: 'deleted', listners: [] };
  const made = await management.create(lbtickets, { ...ticket, spec } as never);
  expect(made).toMatchObject({ ok: false, problem: { message: expect.stringContaining('cannot be deleted already') } });
});

test('who answers an application is remembered by the API server, and other writes of status are not asked about', async () => {
  const ticket = { apiVersion: 'ebcpaas.io/v1', kind: 'Lbticket', metadata: { name: 'asks', namespace: 'default' } };
  const spec = { loadbalancer: 'a', namespace: 'default', lbtype: 'listner', listners: [] };
  expect(await management.create(lbtickets, { ...ticket, spec } as never)).toMatchObject({ ok: true });
  const write = async (kube: Kube, status: Record<string, unknown>) => {
    const patch = { type: 'merge' as const, body: { status } };
    const got = await kube.patch(lbtickets, { name: 'asks', namespace: 'default' }, patch, { subresource: 'status' });
    if (!got.ok) throw new Error(got.problem.message);
    return got.value.status;
  };
  const said = { type: 'NetworkPolicyOpen', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const pending = { ...said, status: 'False', reason: 'pending' };
  const open = { ...said, status: 'True', reason: 'Approved' };
  expect(await write(clientOf('own'), { process: 'apply', conditions: [pending] })).not.toHaveProperty('answeredBy');
  expect(await write(clientOf('carla'), { conditions: [open], answeredBy: 'ceo' })).toMatchObject({
    process: 'apply',
    conditions: [{ status: 'True' }],
    answeredBy: 'carla',
  });
  // As it goes on: without the name, and asked by nobody.
  expect(await write(clientOf('own'), { process: 'deleted', answeredBy: null })).not.toHaveProperty('answeredBy');
  const gone = await management.remove(lbtickets, { name: 'asks', namespace: 'default' });
  if (!gone.ok) throw new Error(gone.problem.message);
});

const bind = (user: string, role: string) => ({
  at: 'binding',
  object: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${user}-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  },
});

test('a network approver answers applications, and writes nothing else of a status', async () => {
  const objects = [
    ...clusterRoles().map((object) => ({ at: 'roles', object })),
    bind('otto', 'fairlead-network-approver'),
    // As `fairlead run` with a kubeconfig of its own: another name, the same role.
    bind('somebody-runs-it', 'fairlead-controller'),
  ];
  expect(await applyManifests(management, objects, 'test')).toMatchObject({ ok: true });
  const at = { name: 'guarded', namespace: 'default' };
  const ticket = { apiVersion: 'ebcpaas.io/v1', kind: 'Lbticket', metadata: at };
  const spec = { loadbalancer: 'a', namespace: 'default', lbtype: 'listner', listners: [] };
  expect(await management.create(lbtickets, { ...ticket, spec } as never)).toMatchObject({ ok: true });
  const write = (token: string, status: object) =>
    clientOf(token).patch(lbtickets, at, { type: 'merge', body: { status } }, { subresource: 'status' });
  const pending = { type: 'NetworkPolicyOpen', status: 'False', reason: 'pending', message: '' };
  const conditions = [{ ...pending, lastTransitionTime: '2026-01-01T00:00:00Z' }];
  expect(await write('own-run', { process: 'apply', veip: '20.0.0.1', conditions })).toMatchObject({ ok: true });
  for (const status of [{ process: 'deleted' }, { veip: null }, { history: [] }, { answeredBy: 'ceo' }])
    expect(await write('otto', status)).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('only the condition NetworkPolicyOpen may be changed') },
    });
  expect(await answered(clientOf('otto'), 'default/guarded', { answer: 'approve' }, systemClock)).toMatchObject({
    ok: true,
  });
  const now = await management.get(lbtickets, at);
  expect(now.ok && now.value.status).toMatchObject({ process: 'apply', veip: '20.0.0.1', answeredBy: 'otto' });
  expect(await write('own-run', { process: 'enabled', answeredBy: null })).toMatchObject({ ok: true });
  expect(await write('otto', { conditions })).toMatchObject({
    ok: false,
    problem: { message: expect.stringContaining('this is enabled') },
  });
  expect(await write('own', { process: 'deleted' })).toMatchObject({ ok: true });
  expect(await management.remove(lbtickets, at)).toMatchObject({ ok: true });
});

test('the Secret belongs to its Loadbalancer, and goes with it', async () => {
  const names = ['a-ve', 'a-ltm'];
  const all = await management.list(loadbalancers);
  if (!all.ok) throw new Error(all.problem.message);
  const store = {
    all: () => all.value.items,
    get: () => undefined,
    listen: () => () => undefined,
    synced: true,
  };
  const once = new AbortController();
  const done = ownSecrets(
    { management: clientOf('own'), loadbalancers: store as never, namespace, clock: systemClock, log: silent },
    once.signal,
  );
  once.abort();
  await done;
  for (const name of names)
    expect((await secretOf(name))?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'Loadbalancer', uid: all.value.items[0]?.metadata.uid }),
    ]);
  expect(await management.remove(loadbalancers, { name: 'a' })).toMatchObject({ ok: true });
  // One of the same name is new: what the old one leaves behind may go at any moment, so it is written anew.
  expect(await management.create(loadbalancers, loadbalancer('a'))).toMatchObject({ ok: true });
  await server.idle();
  const again = await secretOf('a-ve');
  expect(again?.metadata.ownerReferences ?? []).toEqual([]);
  expect(read(again?.data, 'password')).toBe('very-secret');
});

test('two replicas end with one certificate, and one that soon ends is made anew', async () => {
  const at = { management, namespace, hosts: ['127.0.0.1'] };
  const [first, second] = await Promise.all([
    servedCertificate({ ...at, clock: systemClock }),
    servedCertificate({ ...at, clock: systemClock }),
  ]);
  expect(first).toEqual(second);
  const later = { ...systemClock, now: () => Date.now() + 350 * 24 * 3600 * 1000 };
  const renewed = await servedCertificate({ ...at, clock: later });
  expect(renewed.ok && first.ok && renewed.value.cert !== first.value.cert).toBe(true);
});
