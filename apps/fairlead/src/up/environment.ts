// The parts of `fairlead up`, started in order and ended in the reverse order.
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { crds } from '@fairlead/api';
import type { Admit } from '@fairlead/apiserver';
import type { Kube } from '@fairlead/kube';
import { addressMap, type AddressMap } from '../address-map.ts';
import { lateJudge, type Stores } from '../admission/judge.ts';
import { targets } from '../admission/targets.ts';
import { systemClock } from '../clock.ts';
import { connectTo, kubeconfigOpener, random } from '../connect.ts';
import { runControllers } from '../controllers.ts';
import { managementStores } from '../management-stores.ts';
import { jsonLog, type Log } from '../log.ts';
import { metrics, type Metrics } from '../metrics/metrics.ts';
import { serveMetrics } from '../metrics/server.ts';
import { applyManifests } from '../manifests.ts';
import { certificates, type Certificates } from './certificates.ts';
import { grantControllers } from './access.ts';
import { startApiServer, startNodes, type EmbeddedCluster, type Exchange } from './clusters.ts';
import type { DataDir } from './data-dir.ts';
import { startDevices, type Devices } from './devices.ts';
import { kubeconfig } from './kubeconfig.ts';
import { choosePorts, preferredPorts } from './ports.ts';
import type { Progress } from './progress.ts';
import { takeSlot, type Slot } from './slot.ts';

export const managementName = 'management';
export const targetNames = ['acp-region01', 'acp-region02'] as const;

/** Where Secrets are that Loadbalancers refer to without a namespace. */
const ownNamespace = 'fairlead-system';

/** Addresses of the devices as the seed's objects name them. */
export const deviceAddresses = { ve: '200.1.1.1', ltm: '100.1.1.1' } as const;

export interface Environment {
  devices: Devices;
  management: Kube;
  clusters: ReadonlyMap<string, Kube>;
  stores: Stores;
  /** Clients of the controllers, who may do only what their roles say. */
  asControllers: Controllers;
  urls: Record<string, string>;
  /** Path of the kubeconfig. */
  kubeconfig: string;
  /** Rejects when a part that must run for ever threw: a bug. */
  failed: Promise<never>;
  close(): Promise<void>;
}

interface Controllers {
  management: Kube;
  targets: ReadonlyMap<string, Kube>;
}

export interface EnvironmentOptions {
  dir: DataDir;
  /** Entries of `--map` that the user gave; they win over the simulators. */
  map: string[];
  progress: Progress;
  /** Told of each request that an API server answered. */
  answered?: ((exchange: Exchange) => void) | undefined;
}

/** What the starting of each part needs: the options, the log, and where to leave how it is ended. */
interface Start extends EnvironmentOptions {
  log: Log;
  stop: AbortController;
  closing: (() => Promise<unknown>)[];
  metrics: Metrics;
}

export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { dir, progress } = options;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const start: Start = {
    ...options,
    log: jsonLog('info', dir.file('fairlead.log')),
    stop,
    closing: [],
    metrics: metrics(),
  };
  const close = async () => {
    stop.abort();
    for (const one of start.closing.toReversed()) await one();
  };
  try {
    const slot = await takeSlot();
    start.closing.push(slot.release);
    const ports = await choosePorts(dir, preferredPorts(slot.number));
    const devices = await startDevices(dir, ports);
    start.closing.push(devices.close);
    progress.done(
      `BIG-IP simulators: VE at ${devices.ve.url} (${deviceAddresses.ve}), LTM at ${devices.ltm.url} (${deviceAddresses.ltm})`,
    );
    const { servers, path, management, clusters, stores } = await startClusters(start, ports);
    const asControllers = await admitControllers(start, { servers, management, clusters });
    await startWorkloads(start, servers, slot);
    await startMetrics(start, ports['metrics'] ?? 0);
    const work = startControllers(start, { asControllers, stores, devices });
    const urls = Object.fromEntries([
      ...servers.map(({ name, server }) => [name, server]),
      ['ve', devices.ve.url],
      ['ltm', devices.ltm.url],
    ]);
    const failed = firstFailure(work);
    return { devices, management, clusters, stores, asControllers, urls, kubeconfig: path, failed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Roles for the controllers, and clients that have these and no more. */
async function admitControllers(
  start: Start,
  { servers, management, clusters }: Pick<Clusters, 'servers' | 'management' | 'clusters'>,
): Promise<Controllers> {
  start.dir.save('controllers.kubeconfig', kubeconfig(servers.map((server) => server.forControllers)));
  const path = start.dir.file('controllers.kubeconfig');
  await grantControllers(management, 'management');
  const targets = new Map<string, Kube>();
  for (const [name, kube] of clusters) {
    await grantControllers(kube, 'target');
    targets.set(name, await client(start, path, name));
  }
  return { management: await client(start, path, managementName), targets };
}

interface Clusters {
  servers: EmbeddedCluster[];
  /** Of the kubeconfig. */
  path: string;
  management: Kube;
  /** Target clusters by name. */
  clusters: Map<string, Kube>;
  stores: Stores;
}

async function startClusters(start: Start, ports: Readonly<Record<string, number>>): Promise<Clusters> {
  const { dir, progress } = start;
  const admission = lateJudge();
  const servers = await startServers(start, {
    ports,
    admit: admission.judge,
    certificates: await certificates(dir, systemClock),
  });
  dir.save('kubeconfig', kubeconfig(servers));
  const path = dir.file('kubeconfig');
  progress.done(`Kubernetes API servers: ${servers.map(({ name, server }) => `${name} ${server}`).join(', ')}`);
  progress.note(`kubectl --kubeconfig ${path} --context ${managementName} get flb,lbt,lbr -A`);

  const clusters = new Map<string, Kube>();
  for (const { name } of servers) clusters.set(name, await client(start, path, name));
  const management = clusters.get(managementName);
  if (!management) throw new Error('bug: the management cluster has no client');
  clusters.delete(managementName);
  await installDefinitions(management);
  progress.done('CustomResourceDefinitions: Loadbalancer, Lbticket, Lbrule, Lbcanary');
  const stores = managementStores(management);
  const seen = targets({
    management,
    fixed: clusters,
    namespace: ownNamespace,
    open: kubeconfigOpener(start.log.debug),
    clock: systemClock,
    random,
    log: start.log,
  });
  const following = seen.run(start.stop.signal);
  start.closing.push(() => following);
  admission.open({ management, targets: seen, stores, namespace: ownNamespace, clock: systemClock });
  return { servers, path, management, clusters, stores };
}

interface ServerOptions {
  ports: Readonly<Record<string, number>>;
  /** Asked by the management cluster's server. */
  admit: Admit;
  certificates: Certificates;
}

async function startServers(
  start: Start,
  { ports, admit, certificates: made }: ServerOptions,
): Promise<EmbeddedCluster[]> {
  const { dir, log, closing } = start;
  const servers = await Promise.all(
    [managementName, ...targetNames].map((name) => {
      const shared = {
        dir,
        certificates: made,
        clock: systemClock,
        random: (bytes: number) => randomBytes(bytes),
        port: ports[name] ?? 0,
        answered: start.answered,
        report: log.error,
      };
      return startApiServer(name, name === managementName ? { ...shared, admit: [admit] } : shared);
    }),
  );
  closing.push(() => Promise.all(servers.map((server) => server.close())));
  return servers;
}

async function client({ closing, log, metrics }: Start, path: string, name: string): Promise<Kube> {
  const connected = await connectTo(path, name, { report: log.warn, onTrouble: metrics.watchRestart });
  if (!connected.ok) throw new Error(`bug: our own kubeconfig does not work: ${connected.problem.message}`);
  closing.push(connected.value.close);
  return connected.value.kube;
}

async function installDefinitions(management: Kube): Promise<void> {
  const manifests = crds().map((object) => ({ at: `CustomResourceDefinition ${object.metadata.name}`, object }));
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ownNamespace } };
  const applied = await applyManifests(management, [...manifests, { at: 'own namespace', object: own }], 'fairlead');
  if (!applied.ok) throw new Error(`bug: our own CustomResourceDefinitions are refused: ${applied.problem.message}`);
}

async function startWorkloads(
  { progress, closing }: Start,
  servers: readonly EmbeddedCluster[],
  slot: Slot,
): Promise<void> {
  const targets = servers.filter((server) => server.name !== managementName);
  for (const [i, server] of targets.entries()) {
    const nodes = await startNodes(server, slot, i);
    closing.push(() => nodes.stop());
  }
  const ranges = targets.map((_, i) => slot.podCidr(i)).join(' and ');
  progress.done(`simulated nodes in ${targets.map((server) => server.name).join(' and ')}; pods listen on ${ranges}`);
}

async function startMetrics({ metrics, closing, progress }: Start, port: number): Promise<void> {
  const served = await serveMetrics(metrics, { host: '127.0.0.1', port });
  if (!served.ok) throw new Error(served.problem.message);
  closing.push(served.value.close);
  progress.note(`metrics: ${served.value.url}/metrics`);
}

function startControllers(
  start: Start,
  parts: Pick<Environment, 'asControllers' | 'stores' | 'devices'>,
): Promise<void>[] {
  const { asControllers, stores, devices } = parts;
  const { management, targets } = asControllers;
  const { dir, log, stop, closing, progress } = start;
  const map = deviceMap(devices, start.map);
  const work = [
    ...Object.values(stores).map((one) => one.run(stop.signal)),
    runControllers(
      {
        management,
        clusters: targets,
        open: kubeconfigOpener(log.warn, start.metrics.watchRestart),
        namespace: ownNamespace,
        map,
        clock: systemClock,
        random,
        owner: 'fairlead',
        policy: 'sync',
        log,
        metrics: start.metrics,
      },
      stop.signal,
    ),
  ];
  closing.push(() => Promise.allSettled(work));
  progress.done(`controllers; their log is ${dir.file('fairlead.log')}`);
  return work;
}

/** The simulators stand where the seed's objects say; what the user maps comes later and wins. */
function deviceMap(devices: Devices, entries: string[]): AddressMap {
  const own = [`${deviceAddresses.ve}=${devices.ve.url}`, `${deviceAddresses.ltm}=${devices.ltm.url}`];
  const map = addressMap([...own, ...entries]);
  if (!map.ok) throw new Error(map.problem.message);
  return map.value;
}

const firstFailure = (work: Promise<unknown>[]): Promise<never> =>
  new Promise((_, reject) => {
    for (const one of work) one.catch(reject);
  });
