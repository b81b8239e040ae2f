// The whole path in one process: the quickstart on the embedded clusters and simulated devices, over real sockets.
import { expect, test } from 'vitest';
import { lbrules, lbtickets } from '@fairlead/api';
import { configMaps, deployments } from '@fairlead/kube';
import { applyManifests, kindOf, parseManifests } from '../manifests.ts';
import { eventually, silent, withEnvironment } from '../testing/environment.ts';
import { memberAddresses } from './device-view.ts';
import type { Environment } from './environment.ts';
import { applyQuickstart } from './quickstart.ts';
import { boundAt, measureQuickstart } from './requests.ts';
import { get } from './traffic.ts';
import { untilCarried } from './wait.ts';

let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  const applied = await applyQuickstart(environment, silent);
  expect(await untilCarried({ environment, applied }, silent)).toEqual([]);
});

const ticketNamed = (name: string) => environment.stores.lbtickets.get({ name, namespace: 'default' });

const apply = async (yaml: string) => {
  const manifests = parseManifests(yaml, 'test.yaml');
  if (!manifests.ok) return manifests.problem.message;
  const applied = await applyManifests(environment.management, manifests.value, 'kubectl');
  return applied.ok ? undefined : applied.problem.message;
};

/** As `kubectl create` does it. */
const create = async (yaml: string) => {
  const manifests = parseManifests(yaml, 'test.yaml');
  const object = manifests.ok ? manifests.value[0]?.object : undefined;
  if (!object) throw new Error('no object in the test');
  const kind = await kindOf(environment.management, object);
  if (!kind.ok) return kind.problem.message;
  const placed = kind.value.namespaced ? { ...object, metadata: { namespace: 'default', ...object.metadata } } : object;
  const created = await environment.management.create(kind.value, placed, { fieldValidation: 'Strict' });
  return created.ok ? undefined : created.problem.message;
};

const ticket = (name: string, { listners = '', namespace = 'default', loadbalancer = 'demo', veip = '' }) =>
  `apiVersion: ebcpaas.io/v1\nkind: Lbticket\nmetadata: {name: ${name}}\nspec: {loadbalancer: ${loadbalancer}, namespace: ${namespace}, veip: "${veip}", listners: [${listners}]}\n`;

const listner = ({ name = 'web', port = 81, weight = 1, service = 'other', more = '' } = {}) =>
  `{name: ${name}, port: ${port}, protocal: http, session: none${more}, services: [{service: ${service}, port: 80, weight: ${weight}}]}`;

const rule = (name: string, entry: string) =>
  `apiVersion: ebcpaas.lb/v1\nkind: Lbrule\nmetadata: {name: ${name}}\nspec: {lbticket: test, listner: lsnr1, services: [{service: svc03, port: 8080, weight: 1}], rules: [${entry}]}\n`;

test('requests are split by the weights outside and inside the rule, and TCP answers', async () => {
  const measured = await measureQuickstart(environment, 2000);
  expect(measured.failures).toEqual([]);
  expect(measured.tcp).toBe(true);
}, 60_000);

const refused: [what: string, yaml: string, words: string[]][] = [
  [
    'an unknown field',
    ticket('b', { listners: listner({ more: ', bogus: 1' }) }),
    ['spec.listners[0].bogus', 'unknown'],
  ],
  [
    'a weight of 101',
    ticket('b', { listners: listner({ weight: 101 }) }),
    ['spec.listners[0].services[0].weight', '100'],
  ],
  ['a port 0', ticket('b', { listners: listner({ port: 0 }) }), ['spec.listners[0].port', '1']],
  [
    'a listner name used twice',
    ticket('b', { listners: `${listner()}, ${listner({ port: 82 })}` }),
    ['spec.listners[1]', 'Duplicate'],
  ],
  [
    'a regexp that does not compile',
    rule('b', '{type: url, key: , values: [{operator: regexp, value: "/a(b"}]}'),
    ['spec.rules[0].values[0].value'],
  ],
  [
    'a CIDR 10.0.0.0/33',
    'apiVersion: ebcpaas.lb/v1\nkind: Loadbalancer\nmetadata: {name: b}\nspec: {ltm: {url: "http://100.1.1.1/api", cidr: 10.0.0.0/33}, ve: {addr: 200.1.1.9, user: u, passwd: p, cidr: 20.9.0.0/16}, cluster: acp-region01, nsselector: {a: b}}\n',
    ['spec.ltm.cidr', '10.0.0.0/33'],
  ],
];

test.each(refused)('%s is refused with object, field and reason', async (_, yaml, words) => {
  const message = await create(yaml);
  for (const word of ['b', ...words]) expect(message).toContain(word);
});

const failing: [what: string, name: string, yaml: string, words: string][] = [
  [
    'a namespace that is not there',
    'b1',
    ticket('b1', { listners: listner({ service: 'other1' }), namespace: 'nowhere' }),
    'nowhere',
  ],
  [
    'an unknown load balancer',
    'b2',
    ticket('b2', { listners: listner({ service: 'other2' }), loadbalancer: 'nobody' }),
    'nobody',
  ],
  [
    'an address out of range',
    'b3',
    ticket('b3', { listners: listner({ service: 'other3' }), veip: '20.2.0.1' }),
    '20.1.0.0/16',
  ],
  [
    'an address that is taken',
    'b4',
    ticket('b4', { listners: listner({ service: 'other4' }), veip: '20.1.0.10' }),
    'default/test',
  ],
];

test.each(failing)('%s is refused, or fails the ticket with a condition that says so', async (_, name, yaml, words) => {
  const refusal = await apply(yaml);
  if (refusal !== undefined) return expect(refusal).toContain(words);
  const failed = await eventually(
    () => ticketNamed(name),
    (one) => one?.status?.process === 'failed',
  );
  expect(failed?.status?.conditions?.map((one) => one.message).join(' ')).toContain(words);
});

test('text of a user is data, whatever it looks like', async () => {
  const hostile = '"]; exec rm -rf /; [';
  expect(
    await apply(rule('hostile', `{type: header, key: X-Evil, values: [{operator: equal, value: '${hostile}'}]}`)),
  ).toBeUndefined();
  const target = boundAt(environment.devices.ve.sim, '20.1.0.10', 80);
  if (!target) throw new Error('the virtual server is gone');
  const to = () => get(target, { host: 'x', 'x-evil': hostile }, '127.100.0.1');
  expect(await eventually(to, (got) => 'service' in got && got.service === 'svc03')).toMatchObject({
    service: 'svc03',
  });
  expect(await get(target, { host: 'x', 'x-evil': 'other' }, '127.100.0.1')).toMatchObject({
    service: expect.stringMatching(/svc0[12]/),
  });
});

test('after all that was refused, the last good configuration is on the device', async () => {
  await eventually(
    () => ticketNamed('test')?.status?.conditions?.find((one) => one.type === 'Ready')?.status,
    (ready) => ready === 'True',
  );
  expect((await measureQuickstart(environment, 400)).failures).toEqual([]);
}, 60_000);

test('scaling changes members and declares nothing', async () => {
  const kube = environment.clusters.get('acp-region01');
  const { sim } = environment.devices.ve;
  const before = { declarations: sim.counters.declarations, members: (await memberAddresses(sim)).size };
  await kube?.patch(
    deployments,
    { name: 'svc01', namespace: 'default' },
    { type: 'merge', body: { spec: { replicas: 4 } } },
  );
  await eventually(
    () => memberAddresses(sim),
    (members) => members.size === before.members + 2,
  );
  expect(sim.counters.declarations).toBe(before.declarations);
});

test('what the agent did is told on the ConfigMap, and the ticket repeats it', async () => {
  const kube = environment.clusters.get('acp-region01');
  const got = await kube?.get(configMaps, { name: 'fairlead-demo', namespace: 'default' });
  const annotations = got?.ok ? got.value.metadata.annotations : undefined;
  expect(JSON.parse(annotations?.['fairlead.io/status'] ?? '{}')).toMatchObject({
    revision: annotations?.['fairlead.io/revision'],
    applications: { default_http_app: { ok: true }, default_tcp_app: { ok: true } },
  });
});

test('a ticket that is disabled and deleted leaves nothing on the device, and who waited for its address gets it', async () => {
  const at = { name: 'test', namespace: 'default' };
  const { management, devices } = environment;
  // A copy: removing changes what the store holds.
  const rules = [...environment.stores.lbrules.all()];
  for (const { metadata } of rules) await management.remove(lbrules, { name: metadata.name, namespace: 'default' });
  const forced = { metadata: { annotations: { 'fairlead.io/force': 'true' } }, spec: { state: 'disabled' } };
  expect(await management.patch(lbtickets, at, { type: 'merge', body: forced })).toMatchObject({ ok: true });
  await eventually(
    () => ticketNamed('test')?.status?.process,
    (process) => process === 'disabled',
  );
  await eventually(
    () => devices.ve.sim.virtuals(),
    (virtuals) => virtuals.length === 0,
  );
  expect(await management.patch(lbtickets, at, { type: 'merge', body: { spec: { state: 'deleted' } } })).toMatchObject({
    ok: true,
  });
  await eventually(
    () => environment.stores.loadbalancers.get({ name: 'demo' })?.status?.ips ?? [],
    (ips) => ips.some((ip) => ip.veip === '20.1.0.10' && ip.ticket === 'default/b4'),
  );
});
