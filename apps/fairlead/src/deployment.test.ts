// deploy/controller.yaml: an API server takes it, its account has the roles, and the program knows the options.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crds, loadbalancers } from '@fairlead/api';
import { fetchSend, kube, secrets, type Kube } from '@fairlead/kube';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from './clock.ts';
import { applyManifests, readManifests, type Manifest } from './manifests.ts';
import { bareServer } from './testing/api-server.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const namespace = 'fairlead-system';

function manifests(path: string): Manifest[] {
  const read = readManifests([at(`../../../deploy/${path}`)]);
  if (!read.ok) throw new Error(read.problem.message);
  return read.value;
}

const controller = manifests('controller.yaml');

interface Deployment {
  spec: { template: { spec: { containers: { args: string[]; ports: { name: string; containerPort: number }[] }[] } } };
}
const deployment = controller.find(({ object }) => object.kind === 'Deployment')?.object as unknown as Deployment;
const [container] = deployment.spec.template.spec.containers;

test('an API server takes it, and its account may do what the roles say and no more', async () => {
  const server = await bareServer();
  onTestFinished(() => server.close());
  const client = (token: string): Kube =>
    kube({
      server: 'http://management.invalid',
      send: fetchSend((request) => server.answer(request)),
      auth: {
        headers: async () => ({ ok: true, value: { authorization: `Bearer ${token}` } }),
        refused: () => false,
      },
      clock: systemClock,
      random: () => 0.5,
      report: () => undefined,
    });
  const root = client('root');
  const before = [
    ...crds().map((object) => ({ at: 'definitions', object })),
    { at: 'namespace', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } },
    ...manifests('rbac'),
  ];
  expect(await applyManifests(root, [...before, ...controller], 'kubectl')).toMatchObject({ ok: true });

  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const got = await root.raw('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/fairlead/token`, wanted);
  if (!got.ok) throw new Error(got.problem.message);
  const own = client((got.value as { status: { token: string } }).status.token);
  expect(await own.list(loadbalancers)).toMatchObject({ ok: true });
  expect(await own.list(secrets, { namespace })).toMatchObject({ ok: true });
  expect(await own.list(secrets, { namespace: 'default' })).toMatchObject({ problem: { status: 403 } });
});

test('the webhooks are reached where the program listens', () => {
  const service = controller.find(({ object }) => object.kind === 'Service')?.object;
  const { name } = service?.metadata ?? {};
  expect(service).toMatchObject({ spec: { ports: [{ port: 443, targetPort: 'webhook' }] } });
  expect(container?.args).toContain(`--webhook-url=service/${namespace}/${name}:443`);
  for (const [option, port] of [
    ['--webhook=', 'webhook'],
    ['--metrics=0.0.0.0:', 'metrics'],
  ] as const)
    expect(container?.args).toContain(`${option}${container?.ports.find((one) => one.name === port)?.containerPort}`);
});

test('the program takes these options, and goes by the pod it is in', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-pod-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: '1',
  };
  const args = ['--import', import.meta.resolve('tsx'), at('main.ts'), ...(container?.args ?? [])];
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: home, env }, (_, __, stderr) => resolve(stderr)),
  );
  // It is in none: without files, or, where tests run in a pod of their own, with nobody behind that port.
  expect(said).toMatch(/fairlead run: .*(no service account files|127\.0\.0\.1:1\b)/);
}, 60_000);
