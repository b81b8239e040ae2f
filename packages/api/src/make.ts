// Objects for the tests of this package: valid ones, to change one thing in.
import type { World } from './checks/world.ts';
import type { Lbcanary, LbcanaryStatus } from './lbcanary.ts';
import type { Lbrule } from './lbrule.ts';
import type { Lbticket, LbticketStatus } from './lbticket.ts';
import type { Listner } from './listner.ts';
import type { Loadbalancer } from './loadbalancer.ts';

/** The seed's load balancer. */
export const makeLoadbalancer = (name = 'demo', spec: Partial<Loadbalancer['spec']> = {}): Loadbalancer => ({
  apiVersion: 'ebcpaas.lb/v1',
  kind: 'Loadbalancer',
  metadata: { name },
  spec: {
    ltm: { url: 'http://100.1.1.1/api', token: 'foo', cidr: '10.0.0.0/24', mode: 'allocate' },
    ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.1.0.0/16' },
    cluster: 'acp-region01',
    nsselector: { foo: 'bar', zuu: 'baz' },
    cis: { mode: 'fairlead', tenant: '{cluster}' },
    policy: { provider: 'auto' },
    reclaimQuarantine: '0s',
    ...spec,
  },
});

/** An http listner on port 80 with two Services. */
export const makeListner = (listner: Partial<Listner> = {}): Listner => ({
  name: 'lsnr1',
  port: 80,
  protocal: 'http',
  session: 'cookie',
  stickiness: 'source',
  pickBy: 'client-address',
  balance: 'round-robin',
  services: [
    { service: 'svc01', port: 8080, weight: 60 },
    { service: 'svc02', port: 8080, weight: 40 },
  ],
  ...listner,
});

/** A ticket default/test on `demo` with that listner. */
export function makeTicket(spec: Partial<Lbticket['spec']> = {}, status?: LbticketStatus, name = 'test'): Lbticket {
  return {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: 'default' },
    spec: {
      loadbalancer: 'demo',
      namespace: 'default',
      lbtype: 'listner',
      state: 'enabled',
      listners: [makeListner()],
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** The seed's rule on that listner. */
export const makeRule = (spec: Partial<Lbrule['spec']> = {}): Lbrule => ({
  apiVersion: 'ebcpaas.lb/v1',
  kind: 'Lbrule',
  metadata: { name: 'irule', namespace: 'default' },
  spec: {
    lbticket: 'test',
    listner: 'lsnr1',
    services: [
      { service: 'svc03', port: 8080, weight: 90 },
      { service: 'svc04', port: 8080, weight: 10 },
    ],
    rules: [{ type: 'domain', key: null, values: [{ operator: 'equal', value: 'a.domain.com' }] }],
    priority: 100,
    match: 'any',
    ...spec,
  },
});

/** Shifts that listner from svc01 to svc02. */
export const makeCanary = (spec: Partial<Lbcanary['spec']> = {}, status?: LbcanaryStatus, name = 'next'): Lbcanary => ({
  apiVersion: 'ebcpaas.lb/v1',
  kind: 'Lbcanary',
  metadata: { name, namespace: 'default' },
  spec: {
    lbticket: 'test',
    listner: 'lsnr1',
    service: 'svc02',
    port: 8080,
    steps: [5, 20, 50, 100],
    pause: '60s',
    mode: 'automatic',
    state: 'running',
    maxErrorRatio: 5,
    minRequests: 20,
    minAvailable: 50,
    ...spec,
  },
  ...(status === undefined ? {} : { status }),
});

/** A world of just these objects. */
export const makeWorld = (
  objects: { loadbalancers?: Loadbalancer[]; lbtickets?: Lbticket[]; lbrules?: Lbrule[]; lbcanaries?: Lbcanary[] } = {},
  more: Pick<World, 'namespaceExists' | 'ingresses'> = {},
): World => ({
  loadbalancers: () => objects.loadbalancers ?? [],
  lbtickets: () => objects.lbtickets ?? [],
  lbrules: () => objects.lbrules ?? [],
  lbcanaries: () => objects.lbcanaries ?? [],
  ...more,
});
