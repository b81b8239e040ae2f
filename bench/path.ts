// How long a change takes from the API server to the data plane: a pod's readiness, at three sizes, and a whole ticket.
import { lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { deployments, pods, services, type Deployment, type Kube, type Pod, type Service } from '@fairlead/kube';
import { systemClock } from '../apps/fairlead/src/clock.ts';
import { dataDir } from '../apps/fairlead/src/up/data-dir.ts';
import { startEnvironment, type Environment } from '../apps/fairlead/src/up/environment.ts';
import { applyQuickstart } from '../apps/fairlead/src/up/quickstart.ts';
import { untilCarried } from '../apps/fairlead/src/up/wait.ts';
import { spread, type Benchmark, type Figure } from './figure.ts';

/** Tickets beside the measured one: the cost of a change must not grow with them. */
const sizes = [1, 100, 300];
const warmUp = 20;
const repetitions = 200;
const cluster = 'acp-region01';
const annotation = 'sim.fairlead.io/ready';
/** Name of the measured Service, its Deployment and its ticket. Without probes: their period is no part of the path. */
const measured = 'path';

export const path: Benchmark = {
  name: 'path',
  about: 'a change of pod readiness, and a new ticket, until the data plane has it',
  async run(say) {
    const dir = dataDir('', true);
    const silent = { done: () => undefined, wrong: say, note: () => undefined, seconds: () => 0 };
    const environment = await startEnvironment({ dir, map: [], progress: silent });
    try {
      const applied = await applyQuickstart(environment, silent);
      const failures = await untilCarried({ environment, applied }, silent);
      if (failures.length > 0) throw new Error(failures.join('; '));
      return await measureAll(environment, say);
    } finally {
      await environment.close();
      dir.close();
    }
  },
};

async function measureAll(environment: Environment, say: (text: string) => void): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  await createLoadbalancer(environment.management);
  await createWorkload(environment);
  let tickets = 1;
  for (const size of sizes) {
    say(`readiness with ${size} tickets: ${warmUp} rounds to warm up, ${repetitions} measured`);
    const added = await addTickets(environment, tickets, size);
    tickets = size;
    if (added.length > 0)
      figures[`ticket_to_traffic_config_ms_at_${size}`] = {
        ...spread(added),
        unit: 'ms',
        peer: 'CIS 2.20.1: 4.9 s for 100 ConfigMaps',
      };
    await allReady(environment, size);
    const { down, up } = await measureReadiness(environment);
    const peer =
      size === 1
        ? 'CIS 2.20.1: 40-100 ms to its POST alone'
        : size === 100
          ? 'CIS 2.20.1: 260-330 ms to its POST'
          : 'CIS 2.20.1: 1,000-1,100 ms to its POST';
    figures[`readiness_lost_ms_at_${size}`] = { ...spread(down), unit: 'ms', goal: { max: 100 }, peer };
    figures[`readiness_gained_ms_at_${size}`] = { ...spread(up), unit: 'ms', goal: { max: 100 }, peer };
  }
  const { declarations } = environment.devices.ve.sim.counters;
  const before = declarations;
  await measureReadiness(environment, 10);
  figures['declarations_by_member_changes'] = {
    median: environment.devices.ve.sim.counters.declarations - before,
    unit: 'declarations',
    goal: { max: 0 },
  };
  figures['rss_mb'] = {
    median: process.memoryUsage().rss / 2 ** 20,
    unit: 'MB (all of the environment, simulators included)',
  };
  return figures;
}

/** Flips one pod's readiness again and again; milliseconds from the patch of the pod to the member's going and coming. */
async function measureReadiness(
  { clusters, devices }: Environment,
  rounds = repetitions,
): Promise<{ down: number[]; up: number[] }> {
  const kube = clusters.get(cluster);
  if (!kube) throw new Error(`bug: no cluster ${cluster}`);
  const pod = await podOf(kube);
  if (!pod) throw new Error('bug: the measured pod has no address');
  const { name, address } = pod;
  const isMember = () =>
    devices.ve.sim.member(`/${cluster}/default_http_app/${measured}_80_pool`, `${address}:8080`) !== undefined;
  const flip = async (ready: boolean): Promise<number> => {
    const began = performance.now();
    const body = { metadata: { annotations: { [annotation]: ready ? null : 'false' } } };
    const [patched] = await Promise.all([
      kube.patch(pods, { name, namespace: 'default' }, { type: 'merge', body }),
      within(
        `the member ${address} ${ready ? 'coming' : 'going'}`,
        devices.ve.sim.until(() => isMember() === ready),
      ),
    ]);
    const took = performance.now() - began;
    if (!patched.ok) throw new Error(patched.problem.message);
    return took;
  };
  const [down, up]: [number[], number[]] = [[], []];
  for (let i = 0; i < warmUp + rounds; i++) {
    const [lost, gained] = [await flip(false), await flip(true)];
    if (i < warmUp) continue;
    down.push(lost);
    up.push(gained);
  }
  return { down, up };
}

/** Files tickets up to `to` in all; milliseconds from each one's creation to its virtual server, the last ten one at a time. */
/** As the quickstart's, with networks wide enough for the largest size. */
async function createLoadbalancer(kube: Kube): Promise<void> {
  const object = {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name: 'bench' },
    spec: {
      ltm: { url: 'http://100.1.1.1/api', cidr: '10.8.0.0/16' },
      ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.8.0.0/16' },
      cluster,
      nsselector: { bench: 'path' },
      cis: { tenant: 'bench' },
    },
  };
  const created = await kube.create(loadbalancers, object as unknown as Loadbalancer);
  if (!created.ok) throw new Error(created.problem.message);
}

async function addTickets({ management, clusters, devices }: Environment, from: number, to: number): Promise<number[]> {
  const kube = clusters.get(cluster);
  if (!kube || to <= from) return [];
  const times: number[] = [];
  for (let n = from; n < to; n++) {
    await createService(kube, `bench-${n}`);
    const began = performance.now();
    await createTicket(management, { name: `bench-${n}`, loadbalancer: 'bench', service: `bench-${n}` });
    if (n < to - 10) continue;
    await within(
      `the virtual server of ticket bench-${n}`,
      devices.ve.sim.until(() =>
        devices.ve.sim.virtuals().some((virtual) => virtual.name.endsWith(`/bench-${n}_80_vs`)),
      ),
    );
    times.push(performance.now() - began);
  }
  return times;
}

async function createService(kube: Kube, name: string): Promise<void> {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
  const created = await kube.create(services, service);
  if (!created.ok) throw new Error(created.problem.message);
}

async function createTicket(
  kube: Kube,
  { name, loadbalancer, service }: { name: string; loadbalancer: string; service: string },
): Promise<void> {
  const listner = {
    name: 'web',
    port: 80,
    protocal: 'http',
    session: 'none',
    services: [{ service, port: 80, weight: 100 }],
  };
  const ticket = {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: 'default' },
    spec: { loadbalancer, namespace: 'default', listners: [listner] },
  };
  const created = await kube.create(lbtickets, ticket as unknown as Lbticket);
  if (!created.ok) throw new Error(created.problem.message);
}

/** The pod that is measured, its Service, and a ticket that puts it behind a virtual server. */
async function createWorkload({ management, clusters, devices }: Environment): Promise<void> {
  const kube = clusters.get(cluster);
  if (!kube) throw new Error(`bug: no cluster ${cluster}`);
  const template = {
    metadata: { labels: { app: measured } },
    spec: {
      containers: [{ name: 'web', image: 'registry.example/echo:1', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: measured, namespace: 'default' },
    spec: { replicas: 1, selector: { matchLabels: { app: measured } }, template },
  };
  const created = await kube.create(deployments, deployment as unknown as Deployment);
  if (!created.ok) throw new Error(created.problem.message);
  await createService(kube, measured);
  await createTicket(management, { name: measured, loadbalancer: 'demo', service: measured });
  const { sim } = devices.ve;
  await within(
    'the measured virtual server',
    sim.until(() => sim.virtuals().some((virtual) => virtual.name.endsWith(`/${measured}_80_vs`))),
  );
  for (let tries = 0; (await podOf(kube)) === undefined && tries < 1000; tries++) await systemClock.sleep(10);
}

/** The measured pod, once it has an address. */
async function podOf(kube: Kube): Promise<{ name: string; address: string } | undefined> {
  const listed = await kube.list<Pod>(pods, { namespace: 'default', labelSelector: `app=${measured}` });
  const pod = listed.ok ? listed.value.items[0] : undefined;
  return pod?.status?.podIP ? { name: pod.metadata.name, address: pod.status.podIP } : undefined;
}

/** Tickets that were filed in one go are still being worked on; what is measured is the path, not that queue. */
async function allReady({ stores }: Environment, size: number): Promise<void> {
  const ready = () =>
    [...stores.lbtickets.all()].filter(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    ).length;
  const end = systemClock.now() + 60_000;
  while (ready() < size) {
    if (systemClock.now() > end) throw new Error(`waited a minute for ${size} tickets to be ready; ${ready()} are`);
    await systemClock.sleep(50);
  }
}

/** A benchmark that waits for ever says nothing: after a minute it says for what. */
async function within(what: string, wait: Promise<void>): Promise<void> {
  const late = new AbortController();
  const timeout = systemClock.sleep(60_000, late.signal).then(() => !late.signal.aborted);
  const isLate = await Promise.race([wait.then(() => false), timeout]);
  late.abort();
  if (isLate) throw new Error(`waited a minute for ${what}`);
}
