// The first layer of F5 Ingresses: the LTM address leads to the ports that they are served on, and goes before they do.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { lbtickets } from '@fairlead/api';
import { ingresses } from '@fairlead/kube';
import { applyText, eventually, region01, webServer, withEnvironment } from '../testing/environment.ts';
import { ltmLoadbalancer, newToken, ports, putToken } from '../testing/ltm.ts';
import type { Environment } from './environment.ts';
import { boundAt } from './requests.ts';

let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  await putToken(environment, await newToken(environment));
  await applyText(environment.management, first);
  await applyText(region01(environment), webServer('web'));
});

const first = `${ltmLoadbalancer}---
apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: web, namespace: default}
spec: {loadbalancer: demo, namespace: default, lbtype: ingress}
`;

const ingress = (name: string, port: number, of = 'default/web') => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
  namespace: default
  annotations: {fairlead.io/ticket: ${of}, virtual-server.f5.com/http-port: "${port}"}
spec:
  ingressClassName: f5
  rules: [{host: ${name}.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 8080}}}}]}}]
`;

const stored = () => environment.stores.lbtickets.get({ name: 'web', namespace: 'default' });

const becomes = (type: string, words: string) =>
  eventually(
    () => {
      const one = stored()?.status?.conditions?.find((each) => each.type === type);
      return one ? `${one.status} ${one.reason}: ${one.message}` : '';
    },
    (text) => text.includes(words),
  );

const both = () => [ports(environment.devices.ltm.sim), ports(environment.devices.ve.sim)];

const bothBecome = (...wanted: number[]) =>
  eventually(both, (now) => now.every((there) => JSON.stringify(there) === JSON.stringify(wanted)));

/** When each device took its last declaration. */
const lastWrites = () =>
  [environment.devices.ltm.sim, environment.devices.ve.sim].map(
    ({ calls }) =>
      calls.findLast(({ method, path, status }) => method === 'POST' && path.includes('/declare/') && status === 200)
        ?.at ?? 0,
  );

/** The status of a request to the LTM address. */
function ask(host: string, port: number): Promise<number | string> {
  const at = boundAt(environment.devices.ltm.sim, stored()?.status?.ltmip ?? '', port);
  if (!at) return Promise.resolve('no virtual server');
  return new Promise((resolve) => {
    const sent = request({ ...at, path: '/', headers: { host }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

const isServed = (host: string, port: number) =>
  eventually(
    () => ask(host, port),
    (status) => status === 200,
  );

test('a ticket without Ingresses has nothing on the LTM; each port of theirs leads to the VE address', async () => {
  await becomes('Ready', 'True');
  expect(both()).toEqual([[], []]);
  await applyText(region01(environment), ingress('a', 80));
  await applyText(region01(environment), ingress('b', 8080));
  await bothBecome(80, 8080);
  await becomes('Programmed', 'True Programmed');
  expect(Object.keys(environment.devices.ltm.sim.tenants)).toEqual(['blue_ltm']);
  await isServed('a.example.com', 80);
  await isServed('b.example.com', 8080);
  const told = await region01(environment).get(ingresses, { name: 'a', namespace: 'default' });
  expect(told.ok && told.value.metadata.annotations?.['fairlead.io/status']).toContain('"ports":[80,8080]');
}, 60_000);

test('an Ingress that goes leaves the LTM first', async () => {
  const gone = await region01(environment).remove(ingresses, { name: 'b', namespace: 'default' });
  expect(gone.ok).toBe(true);
  await bothBecome(80);
  const [ltm = 0, ve = 0] = lastWrites();
  expect(ltm).toBeLessThanOrEqual(ve);
  await isServed('a.example.com', 80);
}, 60_000);

test('a port that is exchanged for another is on neither any more', async () => {
  await applyText(region01(environment), ingress('a', 8081));
  await bothBecome(8081);
  const [ltm = 0, ve = 0] = lastWrites();
  expect(ltm).toBeLessThanOrEqual(ve);
  await isServed('a.example.com', 8081);
}, 60_000);

test('while the LTM does not take its withdrawal, the VE serves on, and the ticket says why', async () => {
  await putToken(environment, 'wrong');
  const refusals = () => environment.devices.ltm.sim.calls.filter(({ status }) => status === 401).length;
  const before = refusals();
  const body = { metadata: { annotations: { 'fairlead.io/force': 'true' } }, spec: { state: 'disabled' } };
  const at = { name: 'web', namespace: 'default' };
  expect(await environment.management.patch(lbtickets, at, { type: 'merge', body })).toMatchObject({ ok: true });
  await becomes('Programmed', 'LTM');
  await eventually(refusals, (now) => now > before + 2);
  expect(both()).toEqual([[8081], [8081]]);
  const shown = await region01(environment).get(ingresses, { name: 'a', namespace: 'default' });
  expect(shown.ok && shown.value.metadata.finalizers).toEqual(['fairlead.io/ingress']);
}, 60_000);

test('once it does, the LTM goes first, then the VE', async () => {
  await putToken(environment, await newToken(environment));
  await bothBecome();
  const [ltm = 0, ve = 0] = lastWrites();
  expect(ltm).toBeLessThanOrEqual(ve);
}, 60_000);

const external = `apiVersion: ebcpaas.lb/v1
kind: Loadbalancer
metadata: {name: other}
spec:
  ltm: {url: "http://100.1.1.1", mode: as3, tokenSecretRef: {name: ltm-token}, cidr: 10.0.10.0/24}
  ve: {addr: 200.1.1.1, user: admin, passwd: admin, cidr: 20.1.10.0/24, partition: ingress}
  cluster: acp-region01
  nsselector: {foo: baz}
  cis: {mode: external}
---
apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: other, namespace: default}
spec: {loadbalancer: other, namespace: default, lbtype: ingress}
`;

test('a CIS of somebody else reads the address before the LTM leads there, and until it does so no longer', async () => {
  await applyText(environment.management, external);
  await applyText(region01(environment), ingress('c', 80, 'default/other'));
  const { sim } = environment.devices.ltm;
  await eventually(
    () => ports(sim),
    (there) => there.join() === '80',
  );
  const at = { name: 'c', namespace: 'default' };
  const body = { metadata: { annotations: { 'fairlead.io/ticket': null } } };
  expect(await region01(environment).patch(ingresses, at, { type: 'merge', body })).toMatchObject({ ok: true });
  await eventually(
    async () => {
      const shown = await region01(environment).get(ingresses, at);
      return shown.ok ? shown.value.metadata.annotations?.['virtual-server.f5.com/ip'] : 'unknown';
    },
    (ip) => ip === undefined,
  );
  expect(ports(sim)).toEqual([]);
}, 60_000);
