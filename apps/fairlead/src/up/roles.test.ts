// The controllers have no more than the roles that we ship, and nothing they ask for is refused to them.
import { expect, test } from 'vitest';
import { lbtickets, programRoles } from '@fairlead/api';
import { namespaces, services } from '@fairlead/kube';
import { needs } from '../clusters/needs.ts';
import { eventually, exampleKeyPairs, silent, withEnvironment } from '../testing/environment.ts';
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
