// examples/f5-ingress in one process: real requests by host and path through the simulated device, and what becomes of
// Ingresses that are bad, in conflict, or gone.
import { expect, test } from 'vitest';
import { lbtickets } from '@fairlead/api';
import { deployments, events, ingresses, services, type Ingress } from '@fairlead/kube';
import { request } from 'node:http';
import { eventually, region01, silent, withEnvironment } from '../testing/environment.ts';
import type { Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';
import { boundAt } from './requests.ts';

const vip = '20.1.0.20';
let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  await applyExample('f5-ingress', environment, silent);
});

const target = () => region01(environment);

/** Who answers, as which path; or the status, and where it sends us. */
function ask(host: string, path: string, from = '127.100.0.1'): Promise<string> {
  const bound = boundAt(environment.devices.ve.sim, vip, 80);
  if (!bound) return Promise.resolve('nothing there');
  return new Promise((resolve) => {
    const sent = request({ ...bound, path, headers: { host }, localAddress: from, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        const { statusCode, headers } = response;
        if (statusCode !== 200) return resolve([statusCode, headers.location].filter(Boolean).join(' '));
        resolve(`${headers['x-service'] as string} ${(JSON.parse(text) as { path: string }).path}`);
      });
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

const answers = (host: string, path: string, wanted: string | RegExp) =>
  eventually(
    () => ask(host, path),
    (got) => (typeof wanted === 'string' ? got === wanted : wanted.test(got)),
  );

const read = async (name: string) => {
  const got = await target().get(ingresses, { name, namespace: 'default' });
  return got.ok ? got.value : undefined;
};

const patch = async (name: string, body: object) => {
  const got = await target().patch(ingresses, { name, namespace: 'default' }, { type: 'merge', body });
  if (!got.ok) throw new Error(got.problem.message);
};

const told = async (name: string) => {
  const got = await target().list(events, { namespace: 'default' });
  const items = got.ok ? got.value.items : [];
  return items.filter((one) => one.involvedObject.name === name).map(({ reason, message }) => `${reason}: ${message}`);
};

const ingress = (name: string, rules: object[], annotations = {}): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace: 'default', annotations: { 'fairlead.io/ticket': 'default/web', ...annotations } },
  spec: { ingressClassName: 'f5', rules: rules as never },
});

const rule = (host: string, path: string, service: string, port: object = { number: 80 }) => ({
  host,
  http: { paths: [{ path, pathType: 'Prefix', backend: { service: { name: service, port } } }] },
});

const create = async (one: Ingress) => {
  const got = await target().create(ingresses, one);
  if (!got.ok) throw new Error(got.problem.message);
};

test('requests go by host and path, wildcards, default backend and rewrites as the example says', async () => {
  await answers('shop.example.com', '/', /^shop \//);
  await answers('shop.example.com', '/basket/1?x=y', /^cart \/cart\/1/);
  await answers('other.example.com', '/x', /^static \/x/);
  expect(await ask('shop.example.com', '/cart')).toBe('cart /cart');
  expect(await ask('shop.example.com', '/cartoon')).toBe('shop /cartoon');
  expect(await ask('SHOP.example.com:80', '/cart/2')).toBe('cart /cart/2');
  expect(await ask('one.shop.example.com', '/cart')).toBe('cart /cart');
  expect(await ask('one.shop.example.com', '/cart/2')).toBe('static /cart/2');
  expect(await ask('one.two.shop.example.com', '/cart')).toBe('static /cart');
}, 60_000);

test('the Ingress shows its address, and the ticket is ready', async () => {
  const shown = await eventually(
    () => read('shop'),
    (one) => (one?.status?.loadBalancer?.ingress ?? []).length > 0,
  );
  expect(shown?.status?.loadBalancer?.ingress).toEqual([{ ip: vip }]);
  expect(shown?.metadata.annotations).toMatchObject({
    'virtual-server.f5.com/ip': vip,
    'virtual-server.f5.com/partition': 'acp-region01',
    'status.virtual-server.f5.com/ip': vip,
  });
  const ticket = await eventually(
    () => environment.stores.lbtickets.get({ name: 'web', namespace: 'default' }),
    (one) => one?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  );
  expect(ticket?.status?.conditions?.find(({ type }) => type === 'Programmed')?.reason).toBe('Programmed');
});

test('of two Ingresses that want one path the older has it, and the other gets an Event and serves the rest', async () => {
  await create(ingress('late', [rule('shop.example.com', '/cart', 'static'), rule('late.example.com', '/', 'cart')]));
  await answers('late.example.com', '/', /^cart/);
  expect(await ask('shop.example.com', '/cart')).toBe('cart /cart');
  const words = await eventually(
    () => told('late'),
    (all) => all.some((one) => one.startsWith('Conflict')),
  );
  expect(words.join('\n')).toMatch(/Conflict: .*shop\.example\.com\/cart.*Ingress cart, which is older/);
  expect((await read('late'))?.metadata.annotations?.['fairlead.io/status']).toMatch(/"ok":true,"notes":\[/);
}, 60_000);

test('an unknown Service, and a port that it has not, are told; the rest is served', async () => {
  await create(
    ingress('lost', [
      rule('lost.example.com', '/', 'nobody'),
      rule('port.example.com', '/', 'shop', { name: 'admin' }),
    ]),
  );
  await answers('lost.example.com', '/', '503');
  expect(await ask('port.example.com', '/')).toBe('503');
  const notes = await eventually(
    async () => (await read('lost'))?.metadata.annotations?.['fairlead.io/status'] ?? '',
    (text) => text.includes('nobody') && text.includes('admin'),
  );
  expect(notes).toMatch(/Service default\/nobody is not there/);
  expect(notes).toMatch(/Service default\/shop has no port named admin/);
  expect(await ask('shop.example.com', '/cart')).toBe('cart /cart');
}, 60_000);

test('a bad edit keeps what was there, and hostile text goes nowhere near the device', async () => {
  await patch('late', { spec: { rules: [rule('late.example.com', '/"];exec{', 'shop')] } });
  const words = await eventually(
    () => told('late'),
    (all) => all.some((one) => one.includes('is no path of a URL')),
  );
  expect(words.join(' ')).toContain('spec.rules[0].http.paths[0].path');
  expect(await ask('late.example.com', '/')).toBe('cart /');
  expect(JSON.stringify(environment.devices.ve.sim.tenants)).not.toContain('exec');
}, 60_000);

test('clients outside of allow-source-range are kept out', async () => {
  await create(
    ingress('office', [rule('office.example.com', '/', 'shop')], {
      'virtual-server.f5.com/allow-source-range': '127.100.0.0/16',
    }),
  );
  await answers('office.example.com', '/', /^shop/);
  expect(await ask('office.example.com', '/', '127.101.0.1')).toBe('403');
}, 60_000);

test('scaling a Service changes members and declares nothing', async () => {
  const { sim } = environment.devices.ve;
  const before = sim.counters.declarations;
  const pool = () => sim.virtuals().length > 0 && sim.counters.memberWrites;
  const writes = pool();
  await target().patch(
    deployments,
    { name: 'shop', namespace: 'default' },
    { type: 'merge', body: { spec: { replicas: 4 } } },
  );
  await eventually(pool, (now) => now !== writes);
  expect(sim.counters.declarations).toBe(before);
});

test('three hundred rules are one listener still, and all of them are found', async () => {
  const rules = Array.from({ length: 300 }, (_, i) =>
    rule(`h${i}.example.com`, `/p${i}`, i % 2 === 0 ? 'shop' : 'cart'),
  );
  await create(ingress('many', rules));
  await answers('h299.example.com', '/p299/x', 'cart /p299/x');
  expect(await ask('h0.example.com', '/p0')).toBe('shop /p0');
  expect(await ask('h0.example.com', '/p1')).toBe('static /p1');
}, 60_000);

test('a deleted Ingress takes its rules along, and only then goes; the ticket and its neighbours stay', async () => {
  await target().remove(ingresses, { name: 'cart', namespace: 'default' });
  await eventually(
    () => read('cart'),
    (one) => one === undefined,
  );
  expect(await ask('shop.example.com', '/basket')).toBe('shop /basket');
  expect(environment.stores.lbtickets.get({ name: 'web', namespace: 'default' })?.status).toMatchObject({
    process: 'enabled',
    veip: vip,
  });
}, 60_000);

test('a Service that goes leaves its rules, which answer 503 until it is back', async () => {
  await target().remove(services, { name: 'static', namespace: 'default' });
  await answers('other.example.com', '/', '503');
  await applyExample('f5-ingress', environment, silent);
  await answers('other.example.com', '/', /^static/);
  await answers('shop.example.com', '/basket', /^cart/);
}, 60_000);

test('a ticket that is disabled by force takes all of it from the device before its address goes; enabled, all is back', async () => {
  const at = { name: 'web', namespace: 'default' };
  const state = (state: string) => ({ metadata: { annotations: { 'fairlead.io/force': 'true' } }, spec: { state } });
  const { management, devices, stores } = environment;
  await management.patch(lbtickets, at, { type: 'merge', body: state('disabled') });
  await eventually(
    () => devices.ve.sim.virtuals(),
    (virtuals) => virtuals.length === 0,
  );
  const waiting = await eventually(
    () => read('shop'),
    (one) => one?.metadata.finalizers === undefined,
  );
  expect(waiting?.status?.loadBalancer?.ingress ?? []).toEqual([]);
  expect(waiting?.metadata.annotations).not.toHaveProperty('virtual-server.f5.com/ip');
  await management.patch(lbtickets, at, { type: 'merge', body: state('enabled') });
  await answers('shop.example.com', '/', /^shop/);
  await management.patch(lbtickets, at, { type: 'merge', body: state('disabled') });
  await eventually(
    () => stores.lbtickets.get(at)?.status?.process,
    (process) => process === 'disabled',
  );
  await management.patch(lbtickets, at, { type: 'merge', body: state('deleted') });
  await eventually(
    () => stores.lbtickets.get(at)?.status?.process,
    (process) => process === 'deleted',
  );
  expect(devices.ve.sim.virtuals()).toEqual([]);
  await eventually(
    () => stores.loadbalancers.get({ name: 'demo' })?.status?.ips ?? [],
    (ips) => ips.every(({ veip }) => veip !== vip),
  );
}, 60_000);

test('a ticket that an Ingress uses is not disabled without force, and its Services are not given to listners', async () => {
  const { management } = environment;
  const ticket = (name: string, spec: object) => ({
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: 'default' },
    spec: { loadbalancer: 'demo', namespace: 'default', ...spec },
  });
  await management.create(lbtickets, ticket('second', { lbtype: 'ingress' }) as never);
  await patch('shop', { metadata: { annotations: { 'fairlead.io/ticket': 'default/second' } } });
  await eventually(
    async () => (await read('shop'))?.status?.loadBalancer?.ingress ?? [],
    (shown) => shown.length > 0,
  );
  const body = { spec: { state: 'disabled' } };
  const disabled = await management.patch(lbtickets, { name: 'second', namespace: 'default' }, { type: 'merge', body });
  expect(disabled).toMatchObject({
    ok: false,
    problem: { message: expect.stringContaining('Ingress default/shop') as string },
  });
  const listners = [
    { name: 'a', port: 80, protocal: 'http', session: 'none', services: [{ service: 'shop', port: 80, weight: 1 }] },
  ];
  expect(await management.create(lbtickets, ticket('third', { listners }) as never)).toMatchObject({
    ok: false,
    problem: { message: expect.stringContaining('Ingress default/shop') as string },
  });
}, 60_000);
