// `fairlead plan` and `explain` over a running environment: F5 Ingresses are read in their target cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ingresses } from '@fairlead/kube';
import { explain, type ExplainOptions } from '../explain.ts';
import { plan, type PlanOptions } from '../plan.ts';
import { eventually, region01, silent, withEnvironment } from '../testing/environment.ts';
import { printed } from '../testing/printed.ts';
import { deviceAddresses, managementName, type Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';

let environment: Environment;
const dir = withEnvironment(async (started) => {
  environment = started;
  await applyExample('f5-ingress', environment, silent);
  const isServed = async (name: string) => {
    const got = await region01(environment).get(ingresses, { name, namespace: 'default' });
    return got.ok && (got.value.metadata.annotations?.['fairlead.io/status'] ?? '').includes('"ok":true');
  };
  for (const name of ['shop', 'cart'])
    await eventually(
      () => isServed(name),
      (served) => served,
    );
});

afterEach(() => vi.restoreAllMocks());

const at = () => ({
  kubeconfig: dir.file('kubeconfig'),
  management: managementName,
  cluster: [],
  namespace: 'fairlead-system',
  filename: [] as string[],
});

const planned = (more: Partial<PlanOptions> = {}) =>
  printed(() =>
    plan({
      ...at(),
      offline: false,
      owner: 'fairlead',
      output: 'diff',
      map: [`${deviceAddresses.ve}=${environment.devices.ve.url}`],
      ...more,
    }),
  );

const explained = (more: Partial<ExplainOptions>) =>
  printed(() =>
    explain('web', { ...at(), client: '192.0.2.1', path: '/', header: [], cookie: [], output: 'text', ...more }),
  );

/** A file with that text, until the test is over. */
function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'in.yaml'), text);
  return join(folder, 'in.yaml');
}

const ingress = (name: string, path: string) => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ${name}, annotations: {fairlead.io/ticket: default/web}}
spec:
  ingressClassName: f5
  rules: [{host: shop.example.com, http: {paths: [{path: "${path}", pathType: Prefix, backend: {service: {name: static, port: {number: 80}}}}]}}]
`;

test('what the controllers have put on the device is what plan wants there', async () => {
  const { code, out, err } = await planned();
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/tenant acp-region01 on .*: 0 to create, 0 to update; nothing to do/);
  const { out: json } = await planned({ output: 'json' });
  expect(json).toContain('"default_web_ingress_app"');
});

test('an Ingress in a file is planned beside those of the cluster; one that cannot be read, or loses a path, is told', async () => {
  const more = await planned({ filename: [file(ingress('more', '/sale'))] });
  expect(more.out).toMatch(/0 to create, 1 to update/);
  expect(more.out).toMatch(/^\+.*p:shop\.example\.com\/sale/m);
  const late = await planned({ filename: [file(ingress('late', '/cart'))] });
  expect(late.code).toBe(0);
  expect(late.err).toContain(
    'Ingress default/late: prefix path "shop.example.com/cart" of port 80 goes to Ingress cart',
  );
  const bad = await planned({ filename: [file(ingress('bad', '/{'))] });
  expect(bad.code).toBe(1);
  expect(bad.err).toContain('Ingress default/bad: spec.rules[0].http.paths[0].path: ');
});

test('explain names the Ingress, its field and the pool', async () => {
  const { code, out } = await explained({ host: 'shop.example.com', path: '/basket/1' });
  expect(code).toBe(0);
  expect(out).toContain(
    'rule    Ingress cart, spec.rules[0].http.paths[1]\npool    cart_80_pool (Service cart port 80',
  );
});

test('a cluster that is not known says how to make it so', async () => {
  const { code, err } = await explained({ cluster: ['other=acp-region01'] });
  expect(code).toBe(1);
  expect(err).toContain('cluster "acp-region01" is not known here');
  expect(err).toContain('--cluster acp-region01=CONTEXT');
});
