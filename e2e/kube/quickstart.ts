// The quickstart on real API servers: our controllers, simulated nodes and devices, and the split measured.
//
//   kube-apiserver `management`     our kinds, tickets and rules <── controllers ──> BIG-IP simulator, VE
//   kube-apiserver `acp-region01`   Services, pods, ConfigMaps   <──┘                    │ carries traffic
//   simulated nodes of acp-region01: pods shown as 10.244.x.y, listening on 127.123.x.y <┘
import { controllerNamespace, lbcanaries, lbrules, lbtickets, loadbalancers } from '@fairlead/api';
import { store, type Kube, type KubeObject } from '@fairlead/kube';
import { bigip, loopback } from '@fairlead/sim-bigip';
import { cluster } from '@fairlead/sim-cluster';
import { addressMap } from '../../apps/fairlead/src/address-map.ts';
import { systemClock } from '../../apps/fairlead/src/clock.ts';
import { connectTo, kubeconfigOpener, random } from '../../apps/fairlead/src/connect.ts';
import { runControllers } from '../../apps/fairlead/src/controllers.ts';
import { jsonLog } from '../../apps/fairlead/src/log.ts';
import { applyManifests, readManifests } from '../../apps/fairlead/src/manifests.ts';
import { controllersUser, grantControllers } from '../../apps/fairlead/src/up/access.ts';
import { dataDir, type DataDir } from '../../apps/fairlead/src/up/data-dir.ts';
import { administrator } from '../../apps/fairlead/src/up/device-view.ts';
import { deviceAddresses, managementName, type Environment } from '../../apps/fairlead/src/up/environment.ts';
import { kubeconfig } from '../../apps/fairlead/src/up/kubeconfig.ts';
import { progress } from '../../apps/fairlead/src/up/progress.ts';
import { applyQuickstart } from '../../apps/fairlead/src/up/quickstart.ts';
import { measureQuickstart } from '../../apps/fairlead/src/up/requests.ts';
import { untilCarried } from '../../apps/fairlead/src/up/wait.ts';
import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPeer, type Peer, type PeerOptions } from './peer.ts';

const targetName = 'acp-region01';
const shownAs = '10.244.0.0/16';
const listensAt = '127.123.0.0/16';
/** For each of the two splits. */
const requests = 2000;
const patience = 30_000;
const between = 50;

/** Starts everything, measures, ends everything. Gives what did not hold, as sentences. */
export async function quickstart(options: PeerOptions, say: (text: string) => void): Promise<string[]> {
  const told = progress((text) => say(text.trimEnd()), systemClock, false);
  const dir = dataDir('', true);
  const closing: (() => Promise<unknown> | void)[] = [() => dir.close()];
  try {
    const environment = await startReal(options, dir, closing);
    told.done(`real API servers: ${Object.values(environment.urls).join(', ')}`);
    const applied = await applyQuickstart(environment, told);
    const late = await untilCarried({ environment, applied }, told);
    const { outside, inside, tcp, failures } = await measureQuickstart(environment, requests);
    told.note(
      `outside the rule ${JSON.stringify(outside)}, inside ${JSON.stringify(inside)}, TCP ${tcp ? 'answers' : 'does not'}`,
    );
    return [...late, ...failures, ...(tcp ? [] : ['the TCP listner did not answer'])];
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

type Closing = (() => Promise<unknown> | void)[];

async function startReal(options: PeerOptions, dir: DataDir, closing: Closing): Promise<Environment> {
  const start = async (name: string) => {
    const peer = await startPeer({ ...options, serviceAccounts: true });
    closing.push(peer.stop);
    return { ...peer, name };
  };
  const [first, second] = [await start(managementName), await start(targetName)];
  dir.save('kubeconfig', kubeconfig([first, second]));
  await startNodes(second, closing);
  const [management, target] = [await client(dir, managementName, closing), await client(dir, targetName, closing)];
  await installDefinitions(management);
  const devices = await startDevices(closing);
  const stores = {
    loadbalancers: store(management, loadbalancers),
    lbtickets: store(management, lbtickets),
    lbrules: store(management, lbrules),
    lbcanaries: store(management, lbcanaries),
  };
  const clusters = new Map([[targetName, target]]);
  const asControllers = await admitControllers([first, second], { management, target }, { dir, closing });
  const stop = new AbortController();
  // Every watch listens to the one signal; more than ten of them is not a leak.
  setMaxListeners(0, stop.signal);
  const work = [
    ...Object.values(stores).map((one) => one.run(stop.signal)),
    control({ asControllers, devices, dir }, stop.signal),
  ];
  closing.push(async () => {
    stop.abort();
    await Promise.allSettled(work);
  });
  return {
    devices,
    management,
    clusters,
    stores,
    asControllers,
    urls: Object.fromEntries(
      [first, second].map(({ name, version, server }) => [name, `${name} ${version} ${server}`]),
    ),
    kubeconfig: dir.file('kubeconfig'),
    failed: new Promise((_, reject) => work.forEach((one) => void one.catch(reject))),
    close: () => Promise.resolve(),
  };
}

/** The controllers have the roles that we ship, and no more. */
async function admitControllers(
  peers: readonly (Peer & { name: string })[],
  { management, target }: { management: Kube; target: Kube },
  { dir, closing }: { dir: DataDir; closing: Closing },
): Promise<Environment['asControllers']> {
  await grantControllers(management, 'management');
  await grantControllers(target, 'target');
  dir.save('controllers.kubeconfig', kubeconfig(peers.map((peer) => ({ ...peer, as: controllersUser }))));
  const as = (name: string) => client(dir, name, closing, 'controllers.kubeconfig');
  return { management: await as(managementName), targets: new Map([[targetName, await as(targetName)]]) };
}

async function startNodes(peer: Peer & { name: string }, closing: Closing): Promise<void> {
  const nodes = cluster({ ...peer, podCidr: shownAs, listenCidr: listensAt, nodes: 2, collect: true });
  await nodes.start();
  closing.push(nodes.stop);
}

async function client(dir: DataDir, name: string, closing: Closing, file = 'kubeconfig'): Promise<Kube> {
  const connected = await connectTo(dir.file(file), name);
  if (!connected.ok) throw new Error(connected.problem.message);
  closing.push(connected.value.close);
  return connected.value.kube;
}

/** As shipped, and waited for: a real server serves a kind a moment after it took its definition. */
async function installDefinitions(management: Kube): Promise<void> {
  const manifests = readManifests([fileURLToPath(new URL('../../deploy/crds', import.meta.url))]);
  const applied = manifests.ok ? await applyManifests(management, manifests.value, 'fairlead') : manifests;
  if (!applied.ok) throw new Error(applied.problem.message);
  const end = systemClock.now() + patience;
  for (const kind of [loadbalancers, lbtickets, lbrules]) {
    for (;;) {
      const got = await management.list<KubeObject>(kind);
      if (got.ok) break;
      if (systemClock.now() > end) throw new Error(`${kind.plural} are not served: ${got.problem.message}`);
      await systemClock.sleep(between);
    }
  }
}

/** Its data plane finds a pod where it listens, not where the API shows it. */
async function startDevices(closing: Closing): Promise<Environment['devices']> {
  const reach = (address: string, port: number) => ({ host: address.replace(/^10\.244\./, '127.123.'), port });
  const start = async () => {
    const sim = bigip({ users: { [administrator.user]: administrator.password }, bind: loopback, reach });
    closing.push(() => sim.close());
    return { sim, url: (await sim.listen({ host: '127.0.0.1', port: 0 })).url };
  };
  const [ve, ltm] = [await start(), await start()];
  return { ve, ltm, close: () => Promise.resolve() };
}

interface Controlled extends Pick<Environment, 'asControllers' | 'devices'> {
  dir: DataDir;
}

function control({ asControllers, devices, dir }: Controlled, signal: AbortSignal): Promise<void> {
  const map = addressMap([`${deviceAddresses.ve}=${devices.ve.url}`, `${deviceAddresses.ltm}=${devices.ltm.url}`]);
  if (!map.ok) throw new Error(map.problem.message);
  const log = jsonLog('warn', dir.file('controllers.log'));
  const shared = {
    clock: systemClock,
    random,
    owner: 'fairlead',
    policy: 'sync',
    namespace: controllerNamespace,
  } as const;
  const { management, targets: clusters } = asControllers;
  const open = kubeconfigOpener(log.warn);
  return runControllers({ ...shared, management, clusters, open, map: map.value, log }, signal);
}
