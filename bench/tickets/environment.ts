// What the controller works on: a management cluster, three targets, twenty Loadbalancers, and tickets as users file them.
import { crds, lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { customResourceDefinitions, namespaces, services, type Kube, type KubeObject } from '@fairlead/kube';
import type { Launcher } from '../apiserver/embedded.ts';
import { round, type Subject } from '../apiserver/subject.ts';
import { cpuSeconds, residentMb } from '../process.ts';
import { clientOf, must, type Server } from './client.ts';

const clusterNames = ['region01', 'region02', 'region03'];
const balancerCount = 20;
/**
 * Namespaces in the target cluster for each Loadbalancer; each has one ConfigMap, of eleven tickets at the end. An edit
 * writes all of its ConfigMap, so its cost grows with the tickets in it: `BENCH_NAMESPACES=10` makes that 55.
 */
const namespacesEach = Number(process.env['BENCH_NAMESPACES'] ?? 50);
const projects = 20;
/** Requests under way at once, for what is only set up. */
export const lanes = 32;

export interface Clusters {
  management: Kube;
  targets: Map<string, Kube>;
  servers: { management: Server; targets: Record<string, Server> };
  /** MB, of all API servers together. */
  rss(): number;
  /** Seconds of CPU since their start: the management cluster's, and those of the targets. */
  cpu(): [management: number, targets: number];
  stop(): Promise<void>;
}

export async function startClusters(launch: Launcher, say: (text: string) => void): Promise<Clusters> {
  const subjects = new Map<string, Subject>();
  for (const name of ['management', ...clusterNames]) subjects.set(name, (await launch.start(name)).subject);
  const all = [...subjects.values()];
  const serverOf = (name: string): Server => {
    const subject = subjects.get(name);
    if (!subject) throw new Error(`bug: no server ${name}`);
    return { server: subject.server, ca: subject.ca, token: subject.token };
  };
  const targets = new Map(clusterNames.map((name) => [name, clientOf(serverOf(name), say)]));
  const management = clientOf(serverOf('management'), say);
  return {
    management,
    targets,
    servers: {
      management: serverOf('management'),
      targets: Object.fromEntries(clusterNames.map((name) => [name, serverOf(name)])),
    },
    rss: () => sum(all.flatMap(({ pids }) => pids).map(residentMb)),
    cpu: () => {
      const [first = 0, ...rest] = all.flatMap(({ pids }) => pids).map(cpuSeconds);
      return [first, sum(rest)];
    },
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Kinds, projects, Loadbalancers with their namespaces. */
export async function furnish({ management, targets }: Clusters): Promise<void> {
  for (const crd of crds()) await must(management.create<KubeObject>(customResourceDefinitions, crd as KubeObject));
  await established(management);
  for (let n = 0; n < projects; n += 1) await must(management.create(namespaces, space(`project-${n}`)));
  for (let n = 0; n < balancerCount; n += 1) {
    await must(management.create(loadbalancers, balancer(n)));
    for (let k = 0; k < namespacesEach; k += 1)
      await must(targetOf(targets, n).create(namespaces, space(`shop-${n}-${k}`)));
  }
}

/** A server serves a kind a moment after it has taken the definition. */
async function established(kube: Kube): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await kube.list(lbtickets)).ok && (await kube.list(loadbalancers)).ok) return;
  }
  throw new Error('the kinds are not served');
}

export function targetOf(targets: ReadonlyMap<string, Kube>, loadbalancer: number): Kube {
  const kube = targets.get(clusterOf(loadbalancer));
  if (!kube) throw new Error(`bug: no cluster of Loadbalancer ${loadbalancer}`);
  return kube;
}

const clusterOf = (loadbalancer: number): string => clusterNames[loadbalancer % clusterNames.length] ?? '';

const space = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Written for F5's CIS, which does not report: so a ticket is ready when its ConfigMap is written. */
const balancer = (n: number): Loadbalancer =>
  ({
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name: `lb-${n}` },
    spec: {
      ltm: { url: `http://100.1.1.${n}/api`, cidr: `10.${n}.0.0/16` },
      ve: { addr: `200.1.1.${n}`, user: 'admin', passwd: 'admin', cidr: `20.${n}.0.0/16` },
      cluster: clusterOf(n),
      nsselector: { balancer: `lb-${n}` },
      cis: { mode: 'external', tenant: '{cluster}_{namespace}' },
    },
  }) as unknown as Loadbalancer;

export interface Place {
  name: string;
  project: string;
  loadbalancer: number;
  /** In the target cluster. */
  namespace: string;
}

export function placeOf(n: number): Place {
  const loadbalancer = n % balancerCount;
  const k = Math.floor(n / balancerCount) % namespacesEach;
  return { name: `t-${n}`, project: `project-${n % projects}`, loadbalancer, namespace: `shop-${loadbalancer}-${k}` };
}

/** One listner whose weights move between two Services. */
export function ticket(n: number): Lbticket {
  const { name, project, loadbalancer, namespace } = placeOf(n);
  return {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: project },
    spec: { loadbalancer: `lb-${loadbalancer}`, namespace, listners: [listner(n, 90)] },
  } as unknown as Lbticket;
}

export const listner = (n: number, weight: number): object => ({
  name: 'web',
  port: 80,
  protocal: 'http',
  session: 'none',
  services: [
    { service: `svc-${n}`, port: 8080, weight },
    { service: `svc-${n}-canary`, port: 8080, weight: 100 - weight },
  ],
});

/** The Services of tickets `from` to `to`, two of each: what is measured are tickets that lack nothing. */
export async function createServices({ targets }: Clusters, from: number, to: number): Promise<void> {
  await round(2 * (to - from), lanes, (i) => {
    const n = from + (i >> 1);
    const name = i % 2 === 0 ? `svc-${n}` : `svc-${n}-canary`;
    const { loadbalancer, namespace } = placeOf(n);
    const spec = { selector: { app: name }, ports: [{ name: 'http', port: 8080 }] };
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
    return must(targetOf(targets, loadbalancer).create(services, service));
  });
}
