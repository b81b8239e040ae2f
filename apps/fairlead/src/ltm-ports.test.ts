// Ports of F5 Ingresses on LTM and VE, over a restart, and while the cluster or the LTM is away.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { ingresses, secrets, type Ingress } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { kubeconfigOf, loadbalancerOf, made, ownNamespace, ticketOf, world, type World } from './testing/world.ts';

const deviceUrls = { ltm: 'http://100.1.1.1/api', ve: 'https://200.1.1.1' };
const away = { code: 'unreachable' as const, message: 'no answer' };

const ingress = (path: string, port: number): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {
    name: 'web',
    namespace: 'shop',
    annotations: { 'fairlead.io/ticket': 'project/one', 'virtual-server.f5.com/http-port': String(port) },
  },
  spec: {
    ingressClassName: 'f5',
    rules: [
      { http: { paths: [{ path, pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }] } },
    ],
  },
});

const east = (here: World) => {
  const server = here.servers.get('east');
  if (!server) throw new Error('bug: there is no server east');
  return server;
};

const deviceOf = (here: World, layer: 'ltm' | 've') => {
  const device = here.devices.get(deviceUrls[layer]);
  if (!device) throw new Error(`bug: the ${layer} was never opened`);
  return device;
};

/** `port path,path` of each virtual server that stands there. */
async function standing(here: World, layer: 'ltm' | 've'): Promise<string[]> {
  const scope = layer === 'ltm' ? 'east_ltm' : 'east';
  const items = await made(deviceOf(here, layer).provider.read(scope, new AbortController().signal));
  return items.flatMap(({ form }) =>
    form.listeners.map(({ port, hosts = [] }) => [port, ...hosts.map(({ path }) => path)].join(' ')),
  );
}

const both = async (here: World) => [await standing(here, 'ltm'), await standing(here, 've')];

/** One Ingress on port 80 that is on both layers; and the way to end the controllers. */
async function served() {
  const here = await world(['east']);
  await here.secret('clusters', { east: kubeconfigOf('east') });
  const metadata = { name: 'ltm', namespace: ownNamespace };
  const token = { apiVersion: 'v1', kind: 'Secret', metadata, data: { token: btoa('t') } };
  await made(here.management.kube.create(secrets, token));
  const lb = loadbalancerOf('lb', 'east', 1);
  const ltm = { ...lb.spec.ltm, mode: 'as3' as const, tokenSecretRef: { name: 'ltm' } };
  await made(here.management.kube.create(loadbalancers, { ...lb, spec: { ...lb.spec, ltm } }));
  const { listners: _, ...spec } = ticketOf('one', 'lb').spec;
  const ticket = { ...ticketOf('one', 'lb'), spec: { ...spec, lbtype: 'ingress' as const } };
  await made(here.management.kube.create(lbtickets, ticket));
  await made(east(here).kube.create(ingresses, ingress('/a', 80)));
  const end = here.begin();
  await here.clock.advance(20_000);
  expect(await both(here)).toEqual([['80'], ['80 /a']]);
  return { here, end };
}

async function edit(here: World, path: string, port: number): Promise<void> {
  const { metadata, spec } = ingress(path, port);
  const body = { metadata: { annotations: metadata.annotations }, spec };
  await made(east(here).kube.patch(ingresses, { name: 'web', namespace: 'shop' }, { type: 'merge', body }));
}

test('while the cluster cannot be read, both layers stay as they are, over a restart too', async () => {
  const { here, end } = await served();
  east(here).way = 'cut';
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['80'], ['80 /a']]);
  await end();
  here.begin();
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['80'], ['80 /a']]);
  east(here).way = 'open';
  await edit(here, '/a', 81);
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['81'], ['81 /a']]);
});

test('a ticket that is disabled leaves the LTM though its cluster is away', async () => {
  const { here } = await served();
  east(here).way = 'cut';
  const annotations = { 'fairlead.io/force': 'true' };
  const body = { metadata: { annotations }, spec: { state: 'disabled' } };
  await made(here.management.kube.patch(lbtickets, { name: 'one', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(60_000);
  expect((await both(here))[0]).toEqual([]);
});

test('a LTM that is away holds up a port that goes, over a restart too, and a new path not', async () => {
  const { here, end } = await served();
  deviceOf(here, 'ltm').problem = away;
  await end();
  await edit(here, '/b', 80);
  here.begin();
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['80'], ['80 /b']]);
  await edit(here, '/c', 81);
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['80'], ['80 /b']]);
});

test('a port that was exchanged while nobody worked goes from the VE when the LTM has left it', async () => {
  const { here, end } = await served();
  deviceOf(here, 'ltm').problem = away;
  await end();
  await edit(here, '/b', 81);
  here.begin();
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['80'], ['80 /a']]);
  deviceOf(here, 'ltm').problem = undefined;
  await here.clock.advance(60_000);
  expect(await both(here)).toEqual([['81'], ['81 /b']]);
});
