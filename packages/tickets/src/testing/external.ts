// A cluster whose CIS is somebody else's: Services with pods in it, and what that CIS would find there. For tests.
import { lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { configMaps, endpointSlices, namespaces, services } from '@fairlead/kube';
import { read, type Controller } from '@fairlead/sim-cis';
import { made } from './cluster.ts';
import { lb } from './objects.ts';
import { world, type World } from './world.ts';

export const external: Partial<Loadbalancer['spec']> = { cis: { mode: 'external', tenant: '{cluster}_{namespace}' } };

export async function begun(spec: Partial<Loadbalancer['spec']> = external): Promise<World> {
  const here = await world();
  await made(here.management.create(loadbalancers, lb(spec)));
  return here;
}

export async function file(here: World, one: Lbticket): Promise<void> {
  await made(here.management.create(lbtickets, one));
  await here.clock.advance(1000);
}

let pods = 0;

/** A Service with its port, or its target port, at 8080, and two ready pods. */
export async function serve(
  here: World,
  name: string,
  more: { labels?: Record<string, string>; namespace?: string; port?: number; target?: number } = {},
): Promise<string[]> {
  const { namespace = 'shop', port = 8080, target = 8080, labels = {} } = more;
  const metadata = { name, namespace };
  const ports = [{ name: 'web', port, targetPort: target }];
  await made(
    here.target.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, labels },
      spec: { ports },
    }),
  );
  const addresses = [`10.1.0.${(pods += 1)}`, `10.1.0.${(pods += 1)}`];
  await made(
    here.target.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'web', port: target }],
      endpoints: addresses.map((address) => ({ addresses: [address] })),
    }),
  );
  await here.clock.advance(1000);
  return addresses.map((address) => `${address}:${target}`).toSorted();
}

/** What the controller finds in the cluster, with the labels of the Loadbalancer as its filter. */
export async function found(
  here: World,
  controller: Controller = 'cis',
  nsselector: Record<string, string> = { foo: 'bar' },
) {
  const [cm, sv, es, ns] = await Promise.all([
    made(here.target.list(configMaps)),
    made(here.target.list(services)),
    made(here.target.list(endpointSlices)),
    made(here.target.list(namespaces)),
  ]);
  return read(
    controller,
    { configmaps: cm.items, services: sv.items, endpointslices: es.items, namespaces: ns.items },
    nsselector,
  );
}

/** What a condition of a ticket says. */
export const messageAt = async (here: World, name: string, type = 'Programmed') =>
  (await here.ticket(name)).status?.conditions?.find((one) => one.type === type)?.message;

export const patched = async (here: World, name: string, spec: object) => {
  const at = { name, namespace: 'project' };
  await made(here.management.patch(lbtickets, at, { type: 'merge', body: { spec } }));
  await here.clock.advance(2000);
};
