// Our three kinds as tests file them, with what a user leaves out filled in.
import {
  filled,
  lbcanaries,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
} from '@fairlead/api';
import type { Service } from '@fairlead/kube';
import type { Part } from '../part.ts';

export const lb = (spec: Partial<Loadbalancer['spec']> = {}, name = 'demo'): Loadbalancer =>
  filled(loadbalancers, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name },
    spec: {
      ltm: { url: 'http://100.1.1.1/api', cidr: '10.0.0.0/29' },
      ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.1.0.0/24' },
      cluster: 'acp-region01',
      nsselector: { foo: 'bar' },
      ...spec,
    } as Loadbalancer['spec'],
  });

export const emptyPart: Part = { items: {}, pools: {}, digest: 'none' };

export const listner = (port = 80, service = 'svc01'): NonNullable<Lbticket['spec']['listners']>[number] => ({
  name: `lsnr${port}`,
  port,
  protocal: 'http',
  session: 'cookie',
  stickiness: 'source',
  pickBy: 'client-address',
  balance: 'round-robin',
  services: [{ service, port: 8080, weight: 100 }],
});

export const service = (name: string, labels: Record<string, string> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop', labels },
  spec: { ports: [{ port: 8080 }] },
});

export const ticket = (name: string, spec: Partial<Lbticket['spec']> = {}): Lbticket =>
  filled(lbtickets, {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: 'project' },
    spec: { loadbalancer: 'demo', namespace: 'shop', ...spec } as Lbticket['spec'],
  });

export const rule = (name: string, spec: Partial<Lbrule['spec']> = {}): Lbrule =>
  filled(lbrules, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Lbrule',
    metadata: { name, namespace: 'project' },
    spec: {
      lbticket: 'test',
      listner: 'lsnr80',
      services: [{ service: 'svc03', port: 8080, weight: 100 }],
      rules: [{ type: 'domain', values: [{ operator: 'equal', value: 'a.domain.com' }] }],
      ...spec,
    } as Lbrule['spec'],
  });

/** Shifts `lsnr80` of the ticket `test` to svc02. */
export const canary = (name: string, spec: Partial<Lbcanary['spec']> = {}): Lbcanary =>
  filled(lbcanaries, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Lbcanary',
    metadata: { name, namespace: 'project' },
    spec: { lbticket: 'test', listner: 'lsnr80', service: 'svc02', port: 8080, ...spec } as Lbcanary['spec'],
  });
