// 10,000 tickets on 20 Loadbalancers in 3 clusters: how fast they are served, what one edit among them takes, what a restart writes.
import { setMaxListeners } from 'node:events';
import { lbtickets, type Lbticket } from '@fairlead/api';
import { configMaps, store, type ConfigMap, type LiveStore } from '@fairlead/kube';
import { systemClock } from '../apps/fairlead/src/clock.ts';
import { launcher } from './apiserver/embedded.ts';
import { round } from './apiserver/subject.ts';
import { spread, type Benchmark, type Figure } from './figure.ts';
import { addressesCpuMs } from './tickets/addresses.ts';
import { must } from './tickets/client.ts';
import { controllerLauncher, type Controller } from './tickets/controller.ts';
import {
  createServices,
  furnish,
  lanes,
  listner,
  placeOf,
  startClusters,
  ticket,
  type Clusters,
} from './tickets/environment.ts';

/** Fewer, to look at something quickly. */
const all = Number(process.env['BENCH_TICKETS'] ?? 10_000);
/** The cost of an edit must not grow with the tickets beside it. */
const sizes = [...new Set([100, 1000, all])].filter((size) => size <= all);
const edits = 200;
const warmUp = 20;
/** Milliseconds. */
const patience = 300_000;

export const tickets: Benchmark = {
  name: 'tickets',
  about: 'ten thousand tickets on twenty load balancers: served, edited, and a restart with nothing to do',
  async run(say) {
    const figures: Record<string, Figure> = { addresses_of_a_16_cpu_ms: addressesCpuMs(say) };
    const launch = await launcher();
    const clusters = await startClusters(launch, say);
    await furnish(clusters);
    const controllers = await controllerLauncher(clusters.servers);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const watched = watch(clusters, stop.signal);
    try {
      let controller = await controllers.start();
      Object.assign(figures, await measureTickets({ clusters, watched, controller }, say));
      figures['controller_rss_mb'] = { median: controller.rss(), unit: 'MB (the controller)', goal: { max: 400 } };
      figures['apiservers_rss_mb'] = { median: clusters.rss(), unit: 'MB (four API servers)' };
      await controller.stop();
      const before = await revisions(clusters);
      say('restart with nothing to do');
      const began = performance.now();
      controller = await controllers.start();
      figures['restart_read_ms'] = { median: performance.now() - began, unit: 'ms' };
      await quiet(controller);
      figures['restart_writes'] = { median: (await revisions(clusters)) - before, unit: 'writes', goal: { max: 0 } };
      await controller.stop();
      return figures;
    } finally {
      stop.abort();
      controllers.close();
      await clusters.stop();
      launch.close();
    }
  },
};

interface Watched {
  tickets: LiveStore<Lbticket>;
  configMaps: Map<string, LiveStore<ConfigMap>>;
}

/** What users see, followed as they would. */
function watch({ management, targets }: Clusters, signal: AbortSignal): Watched {
  const copy = store(management, lbtickets);
  const maps = new Map(
    [...targets].map(([name, kube]) => [name, store(kube, configMaps, { labelSelector: 'f5type=virtual-server' })]),
  );
  for (const one of [copy, ...maps.values()]) void one.run(signal);
  return { tickets: copy, configMaps: maps };
}

interface Parts {
  clusters: Clusters;
  watched: Watched;
  controller: Controller;
}

async function measureTickets(parts: Parts, say: (text: string) => void): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  const { clusters, controller } = parts;
  let from = 0;
  for (const size of sizes) {
    await createServices(clusters, from, size);
    say(`tickets ${from + 1} to ${size}`);
    const cpu = controller.cpu();
    const servers = clusters.cpu();
    const { enabled, ready } = await file(parts, from, size);
    figures[`enabled_s_at_${size}`] = {
      median: enabled / 1000,
      unit: `s for ${size - from} tickets`,
      ...(size === 10_000 ? { goal: { max: 60 } } : {}),
    };
    figures[`ready_s_at_${size}`] = { median: ready / 1000, unit: `s for ${size - from} tickets` };
    figures[`controller_cpu_s_at_${size}`] = {
      median: controller.cpu() - cpu,
      unit: `s of CPU for ${size - from} tickets`,
    };
    await quiet(controller);
    const now = clusters.cpu();
    say(
      `CPU: controller ${(controller.cpu() - cpu).toFixed(1)} s, management ${(now[0] - servers[0]).toFixed(1)} s, targets ${(now[1] - servers[1]).toFixed(1)} s`,
    );
    say(`${edits} edits among ${size}`);
    figures[`edit_ms_at_${size}`] = {
      ...spread(await edit(parts, size)),
      unit: 'ms to the ConfigMap',
      goal: { max: 50 },
    };
    from = size;
  }
  return figures;
}

/** Milliseconds until all are enabled, and until all are ready. */
async function file(
  { clusters, watched }: Parts,
  from: number,
  to: number,
): Promise<{ enabled: number; ready: number }> {
  const began = performance.now();
  const until = (isThere: (one: Lbticket) => boolean) =>
    new Promise<number>((reached) => {
      const seen = new Set<string>();
      const stop = watched.tickets.listen(({ after }) => {
        if (!after || !isThere(after)) return;
        seen.add(after.metadata.name);
        if (seen.size < to - from) return;
        stop();
        reached(performance.now() - began);
      });
    });
  const fresh = (one: Lbticket) => Number(one.metadata.name.slice(2)) >= from;
  const reached = Promise.all([
    until((one) => fresh(one) && one.status?.process === 'enabled'),
    until((one) => fresh(one) && isReady(one)),
  ]);
  await round(to - from, lanes, (i) => must(clusters.management.create(lbtickets, ticket(from + i))));
  const what = () => {
    const late = [...watched.tickets.all()].filter((one) => !isReady(one));
    return `${late.length} tickets to be ready, such as ${JSON.stringify(late[0])}`;
  };
  const [enabled, ready] = await within(what, reached);
  return { enabled, ready };
}

const isReady = (one: Lbticket): boolean =>
  one.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Moves the weights of one ticket after another; milliseconds from the patch to the ConfigMap with it. */
async function edit({ clusters, watched }: Parts, size: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < warmUp + edits; i += 1) {
    const n = Math.floor((i * size) / (warmUp + edits));
    const { name, project, loadbalancer, namespace } = placeOf(n);
    const maps = [...watched.configMaps.values()][loadbalancer % watched.configMaps.size];
    const weight = 10 + (i % 80);
    const began = performance.now();
    const arrived = new Promise<number>((reached) => {
      const stop = maps?.listen(({ after }) => {
        if (after?.metadata.namespace !== namespace) return;
        stop?.();
        reached(performance.now() - began);
      });
    });
    const body = { spec: { listners: [listner(n, weight)] } };
    await must(clusters.management.patch(lbtickets, { name, namespace: project }, { type: 'merge', body }));
    const took = await within(() => `the edit of ${project}/${name}`, arrived);
    if (i >= warmUp) times.push(took);
  }
  return times;
}

/** Waits until the controller has come to rest: no CPU for two seconds in a row. */
async function quiet(controller: Controller): Promise<void> {
  for (let still = 0; still < 2;) {
    const before = controller.cpu();
    await systemClock.sleep(1500);
    still = controller.cpu() - before > 0 ? 0 : still + 1;
  }
}

/** The counters of all API servers together: they move with each write of anybody. */
async function revisions({ management, targets }: Clusters): Promise<number> {
  const lists = await Promise.all([management, ...targets.values()].map((kube) => must(kube.list(configMaps))));
  return lists.reduce((sum, { resourceVersion }) => sum + Number(resourceVersion), 0);
}

/** A benchmark that waits for ever says nothing: after five minutes it says for what. */
async function within<T>(what: () => string, wait: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = systemClock.sleep(patience, late.signal).then(() => undefined);
  const first = await Promise.race([wait.then((value) => ({ value })), timeout]);
  late.abort();
  if (!first) throw new Error(`waited in vain for ${what()}`);
  return first.value;
}
