// A source of F5 Ingresses over stores that are told what they hold, and objects as controllers write them.
import { ingressIndexes, lbtickets, type Lbticket } from '@fairlead/api';
import { compile } from '@fairlead/as3';
import { endpointSlices, ingresses, services, type Ingress } from '@fairlead/kube';
import { ingressSource, type IngressOptions } from '../ingress/source.ts';
import type { Touch } from '../source.ts';
import { endpointSliceIndexes, serviceIndexes } from '../supply.ts';
import { ToldStore } from './told-store.ts';

export const asker = 'c1/shop/fairlead-demo:project:web';
export const key = 't1/project_web_ingress_app';

export function ingressWorld(more: Partial<IngressOptions> = {}) {
  const stores = {
    ingresses: new ToldStore(ingresses, ingressIndexes),
    lbtickets: new ToldStore<Lbticket>(lbtickets),
    services: new ToldStore(services, serviceIndexes),
    endpointslices: new ToldStore(endpointSlices, endpointSliceIndexes),
  };
  const source = ingressSource({
    cluster: 'c1',
    loadbalancer: 'demo',
    stores,
    accepts: compile,
    partition: () => 't1',
    ...more,
  });
  const touches: Touch[] = [];
  source.listen((touch) => void touches.push(touch));
  const fill = async () => {
    Object.values(stores).forEach((store) => store.fill());
    await new Promise((done) => setImmediate(done));
  };
  const routes = () =>
    source
      .wanted('t1')
      .flatMap(({ listeners }) =>
        listeners.flatMap(({ port, hosts = [] }) => hosts.map(({ path }) => `${port}${path}`)),
      );
  return {
    stores,
    source,
    touches,
    fill,
    routes,
    touched: () => touches.splice(0).flatMap(({ pools }) => pools.map(({ pool }) => pool)),
  };
}

export async function fullWorld(more: Partial<IngressOptions> = {}) {
  const here = ingressWorld(more);
  here.stores.lbtickets.put(ticket());
  await here.fill();
  return here;
}

export const ticket = ({
  process = 'enabled',
  ip = '20.1.0.10',
  lbtype = 'ingress',
  loadbalancer = 'demo',
  namespace = 'shop',
} = {}): Lbticket =>
  ({
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name: 'web', namespace: 'project', uid: 'uid-web' },
    spec: { loadbalancer, namespace, lbtype, state: 'enabled' },
    status: { process, veip: ip },
  }) as Lbticket;

let versions = 0;

export function ingress(
  name: string,
  path = `/${name}`,
  more: { claim?: object; annotations?: object; port?: object; created?: string; uid?: string; served?: boolean } = {},
): Ingress {
  const claim = {
    revision: String(++versions),
    ticket: 'project/web',
    partition: 't1',
    ip: '20.1.0.10',
    wanted: true,
    ...more.claim,
  };
  const backend = { service: { name: 'web', port: more.port ?? { number: 80 } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
      namespace: 'shop',
      uid: more.uid ?? `uid-${name}`,
      creationTimestamp: more.created ?? '2024-01-01T00:00:00Z',
      annotations: { 'fairlead.io/vip': JSON.stringify(claim), ...more.annotations },
    },
    spec: { ingressClassName: 'f5', rules: [{ http: { paths: [{ path, pathType: 'Prefix', backend }] } }] },
    ...(more.served && { status: { loadBalancer: { ingress: [{ ip: '20.1.0.10' }] } } }),
  };
}
