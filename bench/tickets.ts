// 10,000 tickets on 20 Loadbalancers in 3 clusters: how fast they are served, what one edit among them takes, what a restart writes.
import { setMaxListeners } from 'node:events';
import { lbtickets, loadbalancers, type Lbticket } from '@fairlead/api';
import {
  configMaps,
  events,
  namespaces,
  services,
  store,
  type ConfigMap,
  type Kind,
  type KubeObject,
  type LiveStore,
} from '@fairlead/kube';
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
  sum,
  ticket,
  type Clusters,
} from './tickets/environment.ts';

/** Filed at once, beside those that are there. Fewer, to look at something quickly. */
const all = Number(process.env['BENCH_TICKETS'] ?? 10_000);
/** The cost of an edit must not grow with the tickets beside it. */
const sizes = [100, 100 + all];
/** Enough for a p99 that one collection of garbage does not make. */
const edits = 500;
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
      figures['controller_peak_mb'] = { median: controller.rss(), unit: 'MB (the controller, after the edits)' };
      await quiet(controller);
      figures['controller_rss_mb'] = {
        median: controller.rss(),
        unit: 'MB (the controller at rest)',
        goal: { max: 400 },
      };
      figures['apiservers_rss_mb'] = { median: clusters.rss(), unit: 'MB (four API servers)' };
      await controller.stop();
      const before = await revisions(clusters);
      say('restart with nothing to do');
      const began = performance.now();
      controller = await controllers.start();
      figures['restart_read_ms'] = { median: performance.now() - began, unit: 'ms' };
      await quiet(controller);
      const writes = sum(await revisions(clusters)) - sum(before);
      if (writes > 0) for (const line of await writtenSince(clusters, before)) say(`written: ${line}`);
      figures['restart_writes'] = { median: writes, unit: 'writes', goal: { max: 0 } };
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
  const copy = store(management, lbtickets, { project: shortTicket });
  const selected = { labelSelector: 'f5type=virtual-server', project: shortMap };
  const maps = new Map([...targets].map(([name, kube]) => [name, store(kube, configMaps, selected)]));
  for (const one of [copy, ...maps.values()]) void one.run(signal);
  return { tickets: copy, configMaps: maps };
}

// Of each object what is asked for here: else our own collections of garbage would be measured too.

const shortTicket = ({ apiVersion, kind, metadata, status = {} }: Lbticket): Lbticket => {
  const { process, conditions = [] } = status;
  const ready = conditions.filter(({ type }) => type === 'Ready');
  return { apiVersion, kind, metadata: nameOf(metadata), status: { process, conditions: ready } } as Lbticket;
};

const shortMap = ({ apiVersion, kind, metadata }: ConfigMap): ConfigMap => ({
  apiVersion,
  kind,
  metadata: { ...nameOf(metadata), annotations: { [revision]: metadata.annotations?.[revision] ?? '' } },
});

const nameOf = ({ name, namespace = '', uid = '', resourceVersion = '' }: KubeObject['metadata']) => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

/** Another one for another template. */
const revision = 'fairlead.io/revision';

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
    const mine = process.cpuUsage();
    const spent = (): string => {
      const now = clusters.cpu();
      const own = process.cpuUsage(mine);
      return `CPU: benchmark ${((own.user + own.system) / 1e6).toFixed(1)} s, controller ${(controller.cpu() - cpu).toFixed(1)} s, management ${(now[0] - servers[0]).toFixed(1)} s, targets ${(now[1] - servers[1]).toFixed(1)} s`;
    };
    const { enabled, ready } = await file(parts, { from, to: size }, (what) => say(`${what}; ${spent()}`));
    figures[`enabled_s_at_${size}`] = {
      median: enabled / 1000,
      unit: `s for ${size - from} tickets`,
      ...(size - from === 10_000 ? { goal: { max: 60 } } : {}),
    };
    figures[`ready_s_at_${size}`] = { median: ready / 1000, unit: `s for ${size - from} tickets` };
    figures[`controller_cpu_s_at_${size}`] = {
      median: controller.cpu() - cpu,
      unit: `s of CPU for ${size - from} tickets`,
    };
    await quiet(controller);
    say(`at rest; ${spent()}`);
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
  { from, to }: { from: number; to: number },
  say: (what: string) => void,
): Promise<{ enabled: number; ready: number }> {
  const began = performance.now();
  const until = (word: string, isThere: (one: Lbticket) => boolean) =>
    new Promise<number>((reached) => {
      const seen = new Set<string>();
      const stop = watched.tickets.listen(({ after }) => {
        if (!after || !isThere(after)) return;
        if (seen.size === seen.add(after.metadata.name).size) return;
        if (seen.size % 1000 === 0)
          say(`${seen.size} ${word} after ${((performance.now() - began) / 1000).toFixed(1)} s`);
        if (seen.size < to - from) return;
        stop();
        const took = performance.now() - began;
        say(`all ${word} after ${(took / 1000).toFixed(1)} s`);
        reached(took);
      });
    });
  const fresh = (one: Lbticket) => Number(one.metadata.name.slice(2)) >= from;
  const reached = Promise.all([
    until('enabled', (one) => fresh(one) && one.status?.process === 'enabled'),
    until('ready', (one) => fresh(one) && isReady(one)),
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
    // Of another range for each size: to set a weight that is there already writes nothing.
    const weight = 10 + 26 * sizes.indexOf(size) + (i % 26);
    const began = performance.now();
    const arrived = new Promise<number>((reached) => {
      const stop = maps?.listen(({ before, after }) => {
        const [old, now] = [before, after].map((one) => one?.metadata.annotations?.[revision]);
        if (after?.metadata.namespace !== namespace || old === now) return;
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

/** The counters of the API servers, the management cluster's first: they move with each write of anybody. */
async function revisions({ management, targets }: Clusters): Promise<number[]> {
  const lists = await Promise.all([management, ...targets.values()].map((kube) => must(kube.list(configMaps))));
  return lists.map(({ resourceVersion }) => Number(resourceVersion));
}

/** What a controller might have written, and by whom it was. */
async function writtenSince({ management, targets }: Clusters, before: readonly number[]): Promise<string[]> {
  const places = [management, ...targets.values()].flatMap((kube, i) =>
    (i === 0 ? [lbtickets, loadbalancers, events] : [configMaps, services, namespaces, events]).map((kind) => ({
      kind: kind as Kind<KubeObject>,
      kube,
      since: before[i] ?? 0,
    })),
  );
  const found = places.map(async ({ kind, kube, since }) => {
    const { items } = await must(kube.list(kind));
    return items
      .filter(({ metadata }) => Number(metadata.resourceVersion) > since)
      .map(({ metadata: { namespace = '', name, managedFields } }) =>
        [kind.plural, namespace, name, JSON.stringify(managedFields)].join(' '),
      );
  });
  return (await Promise.all(found)).flat();
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
