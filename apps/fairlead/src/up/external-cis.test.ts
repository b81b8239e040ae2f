// examples/external-cis in one process: what F5's own controllers would find there, by a stand-in with their rules.
import { configMaps, endpointSlices, namespaces, pods, services } from '@fairlead/kube';
import { read } from '@fairlead/sim-cis';
import { expect, test } from 'vitest';
import { eventually, region01, silent, withEnvironment } from '../testing/environment.ts';
import type { Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';

let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  await applyExample('external-cis', environment, silent);
});

const target = () => region01(environment);

async function all<T extends { metadata: { name: string } }>(
  listed: Promise<{ ok: true; value: { items: T[] } } | { ok: false; problem: { message: string } }>,
): Promise<T[]> {
  const got = await listed;
  if (!got.ok) throw new Error(got.problem.message);
  return got.value.items;
}

async function found(controller: 'cis' | 'cis-c') {
  const kube = target();
  const objects = {
    configmaps: await all(kube.list(configMaps)),
    services: await all(kube.list(services)),
    endpointslices: await all(kube.list(endpointSlices)),
    namespaces: await all(kube.list(namespaces)),
  };
  return read(controller, objects, { cis: 'with-cis' });
}

/** Addresses of the ready pods of an application. */
async function addresses(app: string): Promise<string[]> {
  const running = await all(target().list(pods, { namespace: 'shop', labelSelector: `app=${app}` }));
  const ready = running.filter((pod) =>
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  );
  return ready.map((pod) => `${pod.status?.podIP}:8080`).toSorted();
}

test('CIS and CIS-C find exactly the ready pods, our own agent touches no device, and the ticket says that it is written', async () => {
  const pools = (one: Awaited<ReturnType<typeof found>>) => Object.values(one.members);
  await eventually(
    () => found('cis'),
    (now) => pools(now).length === 2 && pools(now).every((members) => members.length === 2),
  );
  const members = {
    '/acp-region01_shop/shop_http_app/shop-next_8080_pool': await addresses('shop-next'),
    '/acp-region01_shop/shop_http_app/shop_8080_pool': await addresses('shop'),
  };
  for (const controller of ['cis', 'cis-c'] as const)
    expect(await found(controller)).toEqual({ members, complaints: [] });
  const ticket = () => environment.stores.lbtickets.get({ name: 'outside', namespace: 'default' });
  await eventually(ticket, (now) => now?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True');
  expect(ticket()?.status?.conditions?.find(({ type }) => type === 'Programmed')?.reason).toBe('Written');
  expect(environment.devices.ve.sim.virtuals()).toEqual([]);
}, 60_000);
