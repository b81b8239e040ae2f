// The controllers have no more than the roles that we ship, and nothing they ask for is refused to them.
import { expect, test } from 'vitest';
import { lbtickets, programRoles } from '@fairlead/api';
import { configMaps, namespaces, services } from '@fairlead/kube';
import { needs } from '../clusters/needs.ts';
import {
  applyText,
  eventually,
  exampleKeyPairs,
  region01,
  silent,
  webServer,
  withEnvironment,
} from '../testing/environment.ts';
import type { Exchange } from './clusters.ts';
import type { Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';
import { untilCarried } from './wait.ts';

const asked: Exchange[] = [];
let environment: Environment;
let tellDenied: (error: Error) => void = () => undefined;
/** Rejects at the first, for what is refused is tried again and again. */
const firstDenied = new Promise<never>((_, reject) => (tellDenied = reject));
firstDenied.catch(() => undefined);

const isDenied = ({ status }: Exchange) => status === 401 || status === 403;
const denied = () => asked.filter(isDenied);

const answered = (exchange: Exchange): void => {
  if (!exchange.byControllers) return;
  asked.push(exchange);
  if (isDenied(exchange)) tellDenied(new Error(`refused to the controllers: ${JSON.stringify(exchange)}`));
};

withEnvironment(async (started) => void (environment = started), { answered });

const goingAway = `apiVersion: v1
kind: Namespace
metadata: {name: leaving}
---
apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: bye, namespace: leaving}
spec:
  loadbalancer: demo
  namespace: default
  listners:
  - {name: web, port: 8090, protocal: http, services: [{service: bye, port: 8080, weight: 1}]}
---
apiVersion: ebcpaas.lb/v1
kind: Lbrule
metadata: {name: bye, namespace: leaving}
spec:
  lbticket: bye
  listner: web
  rules: [{type: url, values: [{operator: startwith, value: /old}]}]
  services: [{service: bye, port: 8080, weight: 1}]
`;

const did = (cluster: string, method: string, path: RegExp) =>
  asked.some((one) => one.cluster === cluster && one.method === method && path.test(one.path) && one.status < 300);

test.each(['quickstart', 'https', 'f5-ingress', 'canary-cookie'])(
  '%s is carried, with nothing refused',
  async (example) => {
    if (example === 'https') await exampleKeyPairs(environment);
    const applied = await applyExample(example, environment, silent);
    expect(await Promise.race([untilCarried({ environment, applied }, silent), firstDenied])).toEqual([]);
    expect(denied()).toEqual([]);
  },
  60_000,
);

test('a ticket that goes is cleaned up, with nothing refused', async () => {
  const at = { name: 'mail', namespace: 'default' };
  const annotations = { 'fairlead.io/force': 'true' };
  const off = { type: 'merge', body: { metadata: { annotations }, spec: { state: 'disabled' } } } as const;
  expect(await environment.management.patch(lbtickets, at, off)).toMatchObject({ ok: true });
  const stored = () => environment.stores.lbtickets.get(at);
  await eventually(stored, (one) => one?.status?.process === 'disabled');
  expect(await environment.management.remove(lbtickets, at)).toMatchObject({ ok: true });
  await eventually(stored, (one) => one === undefined);
  expect(denied()).toEqual([]);
}, 60_000);

test('a namespace that is deleted takes its enabled tickets and rules along, and all that they had', async () => {
  const { management, stores } = environment;
  const [namespace, name] = ['leaving', 'bye'];
  await applyText(region01(environment), webServer('bye'));
  await applyText(management, goingAway);
  const stored = () => stores.lbtickets.get({ name, namespace });
  await eventually(stored, (one) => one?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True');
  const { veip } = stored()?.status ?? {};
  const held = () => stores.loadbalancers.get({ name: 'demo' })?.status?.ips?.some((one) => one.veip === veip);
  expect(held()).toBe(true);

  expect(await management.remove(namespaces, { name: namespace })).toMatchObject({ ok: true });
  await eventually(stored, (one) => one === undefined);
  await eventually(
    () => management.get(namespaces, { name: namespace }),
    (got) => !got.ok && got.problem.status === 404,
  );
  await eventually(held, (is) => is === false);
  const configMap = await region01(environment).get(configMaps, { name: 'fairlead-demo', namespace: 'default' });
  expect(configMap.ok && configMap.value.data?.['template']).not.toContain('bye_8090');
  const service = await region01(environment).get(services, { name, namespace: 'default' });
  expect(service.ok && service.value.metadata.labels).toBeFalsy();
  // Nothing new is let into such a namespace, be it an Event.
  expect(denied().filter(({ path }) => path !== `/api/v1/namespaces/${namespace}/events`)).toEqual([]);
}, 60_000);

test('all of it was asked by the controllers themselves, over the wire', () => {
  const target = 'acp-region01';
  expect(did('management', 'PATCH', /\/lbtickets\/test$/)).toBe(true);
  expect(did('management', 'PATCH', /\/lbtickets\/test\/status$/)).toBe(true);
  expect(did('management', 'PATCH', /\/loadbalancers\/demo\/status$/)).toBe(true);
  expect(did('management', 'GET', /\/fairlead-system\/secrets$/)).toBe(true);
  expect(did('management', 'POST', /\/events$/)).toBe(true);
  expect(did(target, 'PATCH', /\/configmaps\/fairlead-demo$/)).toBe(true);
  expect(did(target, 'PATCH', /\/services\/svc01$/)).toBe(true);
  expect(did(target, 'PATCH', /\/namespaces\/default$/)).toBe(true);
  expect(did(target, 'PATCH', /\/ingresses\/shop$/)).toBe(true);
  expect(did(target, 'PATCH', /\/ingresses\/shop\/status$/)).toBe(true);
  expect(did(target, 'GET', /\/namespaces\/default\/secrets$/)).toBe(true);
});

test('`fairlead cluster check` asks for what the role of target clusters grants', () => {
  const granted = programRoles().find(({ metadata }) => metadata.name === 'fairlead-target')?.rules ?? [];
  const isGranted = (group: string, resource: string, verb: string) =>
    granted.some((one) =>
      [one.apiGroups.includes(group), one.resources.includes(resource), one.verbs.includes(verb)].every(Boolean),
    );
  const asks = needs.flatMap(({ group, resource, verbs }) => verbs.map((verb) => [group, resource, verb] as const));
  expect(asks.filter((ask) => !isGranted(...ask))).toEqual([]);
});

test('what they were not given is refused to them', async () => {
  const { management, targets } = environment.asControllers;
  const target = targets.get('acp-region01');
  if (!target) throw new Error('bug: no client');
  const found = await Promise.all([
    management.list(namespaces),
    management.remove(lbtickets, { name: 'test', namespace: 'default' }),
    target.remove(services, { name: 'svc01', namespace: 'default' }),
    target.remove(namespaces, { name: 'default' }),
  ]);
  expect(found.map((one) => (one.ok ? 'allowed' : one.problem.status))).toEqual([403, 403, 403, 403]);
});
