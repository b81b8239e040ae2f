// The first layer: an LTM address that leads to the VE address, on a second device with a login of its own, and its withdrawal.
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lbtickets } from '@fairlead/api';
import { namespaces } from '@fairlead/kube';
import type { Bigip } from '@fairlead/sim-bigip';
import { applyText, eventually, region01, webServer, withEnvironment } from '../testing/environment.ts';
import { ltmLoadbalancer, newToken, ports, putToken } from '../testing/ltm.ts';
import { plan } from '../plan.ts';
import { printed } from '../testing/printed.ts';
import { deviceAddresses, managementName, type Environment } from './environment.ts';
import { boundAt } from './requests.ts';

let environment: Environment;

const dir = withEnvironment(async (started) => {
  environment = started;
  await applyText(environment.management, ltmLoadbalancer);
  await applyText(target(), webServer('web', '{name: a, port: 8080}, {name: b, port: 8081, targetPort: 8080}'));
});

const target = () => region01(environment);

const ticket = (...ports: number[]) => `apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: test, namespace: default}
spec:
  loadbalancer: demo
  namespace: default
  listners:
${ports.map((port, i) => `  - {name: "l${port}", port: ${port}, protocal: http, session: none, services: [{service: web, port: ${8080 + i}, weight: 1}]}`).join('\n')}
`;

const stored = () => environment.stores.lbtickets.get({ name: 'test', namespace: 'default' });

const condition = (type: string): string => {
  const one = stored()?.status?.conditions?.find((each) => each.type === type);
  return one ? `${one.status} ${one.reason}: ${one.message}` : '';
};

const becomes = (type: string, words: string) =>
  eventually(
    () => condition(type),
    (text) => text.includes(words),
  );

/** The status of a request to the LTM address. */
function ask(port: number): Promise<number | string> {
  const at = boundAt(environment.devices.ltm.sim, stored()?.status?.ltmip ?? '', port);
  if (!at) return Promise.resolve('no virtual server');
  return new Promise((resolve) => {
    const sent = request({ ...at, path: '/', headers: { host: 'x' }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

test('without its token the LTM is left alone, and the ticket says what is missing', async () => {
  expect((await environment.management.get(namespaces, { name: 'fairlead-system' })).ok).toBe(true);
  await applyText(environment.management, ticket(80, 81));
  expect(await becomes('Programmed', 'token')).toContain('False missing: LTM: its token is not there');
  expect(ports(environment.devices.ltm.sim)).toEqual([]);
}, 60_000);

test('with it, each port of the LTM address leads to the VE address, and through it to the pods', async () => {
  await putToken(environment, await newToken(environment));
  await becomes('Ready', 'True');
  expect(ports(environment.devices.ltm.sim)).toEqual([80, 81]);
  const { ltmip } = stored()?.status ?? {};
  expect(environment.devices.ltm.sim.virtuals().map(({ address }) => address)).toEqual([ltmip, ltmip]);
  expect(Object.keys(environment.devices.ltm.sim.tenants)).toEqual(['blue_ltm']);
  expect(Object.keys(environment.devices.ve.sim.tenants)).toEqual(['blue']);
  for (const port of [80, 81])
    await eventually(
      () => ask(port),
      (status) => status === 200,
    );
}, 60_000);

test('a listner that goes leaves the LTM first', async () => {
  await applyText(environment.management, ticket(80));
  await eventually(
    () => ports(environment.devices.ve.sim),
    (left) => left.length === 1,
  );
  expect(ports(environment.devices.ltm.sim)).toEqual([80]);
  await becomes('Ready', 'True');
  await eventually(
    () => ask(80),
    (status) => status === 200,
  );
}, 60_000);

test('plan compares both layers, and shows what a file would change on each', async () => {
  onTestFinished(() => void vi.restoreAllMocks());
  const { ve, ltm } = environment.devices;
  const planned = (...filename: string[]) =>
    printed(() =>
      plan({
        kubeconfig: dir.file('kubeconfig'),
        management: managementName,
        cluster: [],
        namespace: 'fairlead-system',
        filename,
        offline: false,
        owner: 'fairlead',
        output: 'diff',
        map: [`${deviceAddresses.ve}=${ve.url}`, `http://${deviceAddresses.ltm}=${ltm.url}`],
      }),
    );
  const now = await planned();
  expect([now.code, now.err]).toEqual([0, '']);
  expect(now.out).toMatch(/^tenant blue on .*: 0 to create, 0 to update; nothing to do$/m);
  expect(now.out).toMatch(/^tenant blue_ltm on .*: 0 to create, 0 to update; nothing to do$/m);
  const file = dir.file('edit.yaml');
  writeFileSync(file, ticket(80, 82));
  const then = await planned(file);
  expect(then.out).toMatch(/^tenant blue_ltm on .*: 0 to create, 1 to update$/m);
  expect(then.out).toMatch(/^\+.*"ve_82_pool"/m);
}, 60_000);

test('while the LTM does not take its withdrawal, the VE keeps what it has and the addresses stay', async () => {
  await putToken(environment, 'wrong');
  const at = { name: 'test', namespace: 'default' };
  const body = { metadata: { annotations: { 'fairlead.io/force': 'true' } }, spec: { state: 'disabled' } };
  expect(await environment.management.patch(lbtickets, at, { type: 'merge', body })).toMatchObject({ ok: true });
  await eventually(
    () => stored()?.status?.process,
    (process) => process === 'disabled',
  );
  await becomes('Programmed', 'LTM');
  const deleted = { type: 'merge' as const, body: { spec: { state: 'deleted' } } };
  expect(await environment.management.patch(lbtickets, at, deleted)).toMatchObject({ ok: true });
  const { declarations } = environment.devices.ve.sim.counters;
  await eventually(
    () => environment.devices.ltm.sim.calls.filter(({ status }) => status === 401).length,
    (refusals) => refusals > 2,
  );
  expect(ports(environment.devices.ve.sim)).toEqual([80]);
  expect(environment.devices.ve.sim.counters.declarations).toBe(declarations);
  expect(stored()?.status?.process).toBe('disabled');
}, 60_000);

test('once it does, the LTM goes first, then the VE, then the addresses', async () => {
  await putToken(environment, await newToken(environment));
  await eventually(
    () => stored()?.status?.process,
    (process) => process === 'deleted',
  );
  const { ltm, ve } = environment.devices;
  expect([ports(ltm.sim), ports(ve.sim)]).toEqual([[], []]);
  const last = (sim: Bigip) =>
    sim.calls.findLast(({ method, path, status }) => method === 'POST' && path.includes('/declare/') && status === 200)
      ?.at ?? 0;
  expect(last(ltm.sim)).toBeLessThanOrEqual(last(ve.sim));
  await eventually(
    () => environment.stores.loadbalancers.get({ name: 'demo' })?.status?.ips ?? [],
    (ips) => ips.length === 0,
  );
}, 60_000);
