// Target clusters that come, go, fall silent and are taken for others, over embedded API servers.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { configMaps, namespaces, secrets } from '@fairlead/kube';
import { expect, test } from 'vitest';
import {
  kubeconfigOf,
  loadbalancerOf,
  made,
  ownNamespace,
  serve,
  ticketOf,
  world,
  type World,
} from '../testing/world.ts';

const conditionsOf = (object: { status?: { conditions?: { type: string; status: string; reason: string }[] } }) =>
  Object.fromEntries(
    (object.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );

const loadbalancerSays = async (here: World, name: string) => conditionsOf(await here.loadbalancer(name));
const ticketSays = async (here: World, name: string) => conditionsOf(await here.ticket(name));
const messageOf = async (here: World, name: string, type: string) =>
  (await here.loadbalancer(name)).status?.conditions?.find((one) => one.type === type)?.message ?? '';

/** Members on the device of Loadbalancer `number`, as `application/pool address`. */
async function members(here: World, number: number, tenant: string, service: string): Promise<string[] | undefined> {
  const device = here.devices.get(`https://200.1.1.${number}`);
  const pool = { scope: tenant, key: `${tenant}/shop_http_app`, pool: `${service}_80_pool` };
  const found = await device?.provider.members.read(pool, new AbortController().signal);
  return found?.ok ? found.value?.map(({ address }) => address).sort() : undefined;
}

const names = ['east', 'west'];
const both = { east: kubeconfigOf('east'), west: kubeconfigOf('west') };

const serverOf = (here: World, name: string) => {
  const found = here.servers.get(name);
  if (!found) throw new Error(`bug: no server ${name}`);
  return found;
};

/** Two clusters, each with a Loadbalancer, a Service and a ticket that is on its device. */
async function begun(texts: Record<string, string> = both): Promise<World> {
  const here = await world([...names, 'other']);
  await here.secret('clusters', texts);
  for (const [i, name] of names.entries()) {
    await serve(serverOf(here, name).kube, `svc-${name}`, [`10.1.${i + 1}.1`, `10.1.${i + 1}.2`]);
    await made(here.management.kube.create(loadbalancers, loadbalancerOf(`lb-${name}`, name, i + 1)));
    await made(here.management.kube.create(lbtickets, ticketOf(`t-${name}`, `lb-${name}`, `svc-${name}`)));
  }
  here.begin();
  await here.clock.advance(10_000);
  return here;
}

const eastPods = (here: World) => members(here, 1, 'east', 'svc-east');
const westPods = (here: World) => members(here, 2, 'west', 'svc-west');
const twoPods = ['10.1.1.1', '10.1.1.2'];

async function isServed(here: World, name: string): Promise<void> {
  expect(await ticketSays(here, `t-${name}`)).toMatchObject({ Programmed: 'True Programmed', Ready: 'True Ready' });
  expect(await loadbalancerSays(here, `lb-${name}`)).toEqual({
    ClusterReachable: 'True Connected',
    DeviceReachable: 'True Connected',
    AddressesAvailable: 'True Available',
    Ready: 'True Ready',
  });
}

test('clusters of a Secret are served, and conditions say so', async () => {
  const here = await begun();
  for (const name of names) await isServed(here, name);
  expect(await eastPods(here)).toEqual(twoPods);
  expect((await here.events('clusters')).sort()).toEqual([
    expect.stringMatching(/^ClusterConnected: east is connected: http:\/\/east, kube-system /),
    expect.stringMatching(/^ClusterConnected: west is connected/),
  ]);
});

test('a cluster that is added while we run is served; until then its Loadbalancer says what to do', async () => {
  const here = await begun({ west: both.west });
  await isServed(here, 'west');
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({
    ClusterReachable: 'False missing',
    Ready: 'False missing',
  });
  expect(await messageOf(here, 'lb-east', 'ClusterReachable')).toContain('fairlead cluster add east --kubeconfig FILE');
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({ DeviceReachable: 'True Connected' });
  await here.secret('more', { east: both.east });
  await here.clock.advance(10_000);
  await isServed(here, 'east');
});

test.each(['cut', 'hangs'] as const)(
  'a cluster whose way %s delays its own tickets alone, and no pool is emptied',
  async (way) => {
    const here = await begun();
    serverOf(here, 'east').way = way;
    await here.clock.advance(170_000);
    expect(await ticketSays(here, 't-east')).toMatchObject({
      Programmed: 'Unknown unreachable',
      Ready: 'Unknown unreachable',
    });
    const since = await messageOf(here, 'lb-east', 'ClusterReachable');
    expect(since).toMatch(
      /^cluster "east" cannot be worked with since 2026-01-01T00:0\d:\d\dZ: .*; what is on the device stays as it is$/,
    );
    expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({
      ClusterReachable: 'False unreachable',
      Ready: 'False unreachable',
    });
    expect(await eastPods(here)).toEqual(twoPods);
    // Work for both meanwhile: of the one that is away, more than there are turns at once.
    for (let i = 0; i < 20; i++) {
      await serve(serverOf(here, 'east').kube, `svc${i}`, ['10.1.1.1']);
      await made(here.management.kube.create(lbtickets, ticketOf(`late${i}`, 'lb-east', `svc${i}`)));
    }
    for (const name of ['svc-west', 'svc-new']) await serve(serverOf(here, 'west').kube, name, ['10.1.2.9']);
    await made(here.management.kube.create(lbtickets, ticketOf('new', 'lb-west', 'svc-new')));
    await here.clock.advance(5_000);
    await isServed(here, 'west');
    expect(await westPods(here)).toEqual(['10.1.2.9']);
    expect(await ticketSays(here, 'new')).toMatchObject({ Ready: 'True Ready' });
    expect(await ticketSays(here, 'late3')).toMatchObject({
      Allocated: expect.stringMatching(/^True/),
      Programmed: 'False unreachable',
    });
    await serve(serverOf(here, 'east').kube, 'svc-east', ['10.1.1.7']);
    serverOf(here, 'east').way = 'open';
    await here.clock.advance(60_000);
    await isServed(here, 'east');
    expect(await ticketSays(here, 'late3')).toMatchObject({ Ready: 'True Ready' });
    expect(await eastPods(here)).toEqual(['10.1.1.7']);
    expect(await here.events('lb-east')).toEqual([
      expect.stringContaining('ClusterUnreachable: cluster "east" cannot be worked with since'),
      'ClusterReachable: cluster answers again',
    ]);
  },
);

test('before a cluster that hangs is known to, its many ConfigMaps hold up no other cluster', async () => {
  const here = await begun();
  const { kube } = serverOf(here, 'east');
  for (let i = 0; i < 20; i++)
    await made(kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `n${i}` } }));
  await here.clock.advance(1_000);
  serverOf(here, 'east').way = 'hangs';
  for (let i = 0; i < 20; i++) {
    const one = ticketOf(`hung${i}`, 'lb-east', `svc${i}`);
    await made(here.management.kube.create(lbtickets, { ...one, spec: { ...one.spec, namespace: `n${i}` } }));
  }
  await here.clock.advance(500);
  await serve(serverOf(here, 'west').kube, 'svc-new', ['10.1.2.9']);
  await made(here.management.kube.create(lbtickets, ticketOf('new', 'lb-west', 'svc-new')));
  await here.clock.advance(2_000);
  expect(await ticketSays(here, 'hung19')).toMatchObject({ Programmed: 'False pending' });
  expect(await ticketSays(here, 'new')).toMatchObject({ Ready: 'True Ready' });
});

test('a short silence is no news, and changes no status', async () => {
  const here = await begun();
  const before = await here.ticket('t-east');
  serverOf(here, 'east').way = 'cut';
  await here.clock.advance(4_000);
  serverOf(here, 'east').way = 'open';
  await here.clock.advance(60_000);
  expect(await here.ticket('t-east')).toEqual(before);
});

test('another, empty cluster that answers at the same address takes nothing away', async () => {
  const here = await begun();
  const east = serverOf(here, 'east');
  here.servers.set('east', serverOf(here, 'other'));
  // All watches break, as they do when servers change behind an address.
  east.way = 'cut';
  await here.clock.advance(700_000);
  expect(await eastPods(here)).toEqual(twoPods);
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({ ClusterReachable: 'False invalid' });
  expect(await messageOf(here, 'lb-east', 'ClusterReachable')).toContain('http://east is another cluster than before');
  east.way = 'open';
  here.servers.set('east', east);
  await here.clock.advance(60_000);
  await isServed(here, 'east');
});

test('a cluster whose Secret vanished keeps what it has on the device; added again, it goes on', async () => {
  const here = await begun();
  await made(here.management.kube.remove(secrets, { name: 'clusters', namespace: ownNamespace }));
  await here.secret('west', { west: both.west });
  await here.clock.advance(600_000);
  expect(await eastPods(here)).toEqual(twoPods);
  expect(await ticketSays(here, 't-east')).toMatchObject({ Programmed: 'Unknown missing', Ready: 'Unknown missing' });
  expect((await here.ticket('t-east')).status?.conditions?.find(({ type }) => type === 'Programmed')?.message).toMatch(
    /^cluster "east" cannot be worked with since 2026-.*: it is not registered: fairlead cluster add east .*; what is on the device stays as it is$/,
  );
  await isServed(here, 'west');
  await serve(serverOf(here, 'east').kube, 'svc-east', ['10.1.1.8']);
  await here.secret('again', { east: both.east });
  await here.clock.advance(30_000);
  await isServed(here, 'east');
  expect(await eastPods(here)).toEqual(['10.1.1.8']);
});

test('the same API server twice is found by its identity, and refused with an Event and a condition', async () => {
  const here = await begun({ ...both, twin: kubeconfigOf('east.by-another-name') });
  await made(here.management.kube.create(loadbalancers, loadbalancerOf('lb-twin', 'twin', 3)));
  await here.clock.advance(30_000);
  await isServed(here, 'east');
  expect(await loadbalancerSays(here, 'lb-twin')).toMatchObject({
    ClusterReachable: 'False taken',
    Ready: 'False taken',
  });
  const words = 'it is the same API server as cluster "east" (Secret fairlead-system/clusters, key east; kube-system';
  expect(await messageOf(here, 'lb-twin', 'ClusterReachable')).toContain(words);
  expect(await here.events('clusters')).toContainEqual(expect.stringContaining(`ClusterRefused: twin: ${words}`));
  // With the first one gone, it is nobody's twin any longer.
  await here.secret('clusters', { west: both.west, twin: kubeconfigOf('east.by-another-name') });
  await here.clock.advance(30_000);
  expect(await loadbalancerSays(here, 'lb-twin')).toMatchObject({ ClusterReachable: 'True Connected' });
});

test('credentials are rotated without a restart, and without a list that takes anything away', async () => {
  const here = await begun();
  const east = serverOf(here, 'east');
  await here.secret('clusters', { ...both, east: kubeconfigOf('east', 'two') });
  east.token = 'two';
  await here.clock.advance(30_000);
  await isServed(here, 'east');
  for (const name of ['svc-east', 'svc-more']) await serve(east.kube, name, ['10.1.1.5']);
  await made(here.management.kube.create(lbtickets, ticketOf('more', 'lb-east', 'svc-more')));
  await here.clock.advance(5_000);
  expect(await eastPods(here)).toEqual(['10.1.1.5']);
  expect(await ticketSays(here, 'more')).toMatchObject({ Ready: 'True Ready' });
});

test.each([
  ['leads to another cluster', kubeconfigOf('other'), 'its new kubeconfig leads to another cluster'],
  ['is not taken by the server', kubeconfigOf('east', 'wrong'), '401 Unauthorized'],
  ['is no kubeconfig', 'hello', 'not a kubeconfig'],
])('a new kubeconfig that %s is told of, and the old one goes on', async (_, text, words) => {
  const here = await begun();
  await here.secret('clusters', { ...both, east: text });
  await serve(serverOf(here, 'east').kube, 'svc-east', ['10.1.1.5']);
  await here.clock.advance(120_000);
  await isServed(here, 'east');
  expect(await eastPods(here)).toEqual(['10.1.1.5']);
  const told = (await here.events('clusters')).filter((line) => line.startsWith('KubeconfigRefused'));
  expect(told).toEqual([expect.stringContaining('KubeconfigRefused: east goes on with its old kubeconfig: ')]);
  expect(told[0]).toContain(words);
});

test('credentials that a cluster no longer takes are an outage that says so', async () => {
  const here = await begun();
  serverOf(here, 'east').token = 'two';
  await here.clock.advance(700_000);
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({ ClusterReachable: 'False denied' });
  expect(await messageOf(here, 'lb-east', 'ClusterReachable')).toContain('401 Unauthorized');
  expect(await eastPods(here)).toEqual(twoPods);
});

test('a kubeconfig that would run a program here is refused, with the reason', async () => {
  const exec = JSON.parse(both.east) as { users: { user: object }[] };
  exec.users[0]!.user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh' } };
  const here = await begun({ west: both.west, east: JSON.stringify(exec) });
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({ ClusterReachable: 'False invalid' });
  const words =
    'Secret fairlead-system/clusters, key east: context "c": users[].user.exec would run the program sh here';
  expect(await messageOf(here, 'lb-east', 'ClusterReachable')).toContain(words);
  expect(await here.events('clusters')).toContainEqual(expect.stringContaining(`ClusterRefused: east: ${words}`));
});

test('an empty value is the cluster that we run in', async () => {
  const here = await begun({ ...both, here: '' });
  await made(here.management.kube.create(loadbalancers, loadbalancerOf('lb-here', 'here', 3)));
  await serve(here.management.kube, 'svc-own', ['10.1.3.1']);
  await made(here.management.kube.create(lbtickets, ticketOf('own', 'lb-here', 'svc-own')));
  await here.clock.advance(30_000);
  expect(await ticketSays(here, 'own')).toMatchObject({ Ready: 'True Ready' });
  expect((await made(here.management.kube.list(configMaps, { namespace: 'shop' }))).items).toHaveLength(1);
});

test('a cluster that may not be read wholly says what is lacking, and nothing is done with half of it', async () => {
  const here = await begun({ west: both.west });
  const east = serverOf(here, 'east');
  const { answer } = east;
  east.answer = async (request) =>
    request.url.includes('/endpointslices')
      ? Response.json(
          { kind: 'Status', reason: 'Forbidden', message: 'no endpointslices for you', code: 403 },
          { status: 403 },
        )
      : answer(request);
  await here.secret('east', { east: both.east });
  await here.clock.advance(60_000);
  expect(await loadbalancerSays(here, 'lb-east')).toMatchObject({ ClusterReachable: 'False denied' });
  expect(await messageOf(here, 'lb-east', 'ClusterReachable')).toContain('no endpointslices for you');
  east.answer = answer;
  await here.clock.advance(60_000);
  await isServed(here, 'east');
  expect((await made(east.kube.list(namespaces))).items.length).toBeGreaterThan(0);
});
