// A management cluster, a target cluster and the controller between them, in one process and on one clock. For tests.
import {
  admission,
  crds,
  ingressIndexes,
  lbcanaries,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
  type World as Checked,
} from '@fairlead/api';
import {
  configMaps,
  customResourceDefinitions,
  events,
  ingresses,
  namespaces,
  services,
  store,
  type ConfigMap,
  type Kube,
} from '@fairlead/kube';
import { fakeClock, type FakeClock } from '@fairlead/testkit';
import { onTestFinished } from 'vitest';
import type { StatisticsReader } from '../desk.ts';
import type { Surroundings } from '../outage.ts';
import { auto, type Approver } from '../approver.ts';
import { isRecord } from '../json.ts';
import { manual } from '../manual.ts';
import { annotations, configMapName } from '../names.ts';
import { tickets } from '../tickets.ts';
import { cluster, counted, made } from './cluster.ts';
import type { Kept } from './kept.ts';
import { service } from './objects.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

export interface World {
  clock: FakeClock;
  management: Kube;
  target: Kube;
  /** What the two clusters keep in this moment. */
  kept: { management: Kept; target: Kept };
  /** Each write of the controllers, as `patch lbtickets/status test`. Events aside. */
  writes: string[];
  log: string[];
  /** Starts a controller over the two clusters, and gives the way to end it; a second one beside the first is a hand-over that overlaps. */
  begin(): Promise<() => Promise<void>>;
  /** The ways to end those that work now. */
  ending(): (() => Promise<void>)[];
  /** From now on controllers read the target cluster only after so many milliseconds; Infinity: it is not connected. */
  slow(ms: number): void;
  /** Ends all controllers, as a crash would. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  ticket(name: string): Promise<Lbticket>;
  loadbalancer(name: string): Promise<Loadbalancer>;
  /** Of the Loadbalancer `demo`, or another. */
  configMap(loadbalancer?: string): Promise<ConfigMap | undefined>;
  /** Answers as the agent would: all of the ConfigMap is on the device, or what `said` says of its applications. */
  report(said?: Record<string, unknown>, loadbalancer?: string): Promise<void>;
  /** `Reason: message` of the Events about a ticket, in order. */
  events(name: string): Promise<string[]>;
  /** Ends the clusters too. The end of a test does that by itself. */
  close(): Promise<void>;
}

export interface WorldOptions {
  approvers?: Record<string, Approver> | ((clock: FakeClock) => Record<string, Approver>);
  /** With the approver that is a person. */
  manual?: boolean;
  /** The management cluster judges each write, as in production. */
  admission?: boolean;
  /** Services of the namespace `shop` that are there from the start, each with the port 8080. */
  services?: readonly string[];
  /** There will be no canary, no Service and no Ingress: controllers share the stores of these. */
  isStill?: boolean;
  /** Puts itself between the controllers and the management cluster. */
  between?: (kube: Kube) => Kube;
  /** … and between them and the target cluster. */
  betweenTarget?: (kube: Kube) => Kube;
  /** What the device has counted. */
  statistics?: StatisticsReader;
  /** Outages, and what the LTM says; without it nobody tells of any. */
  surroundings?: Surroundings;
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const clock = fakeClock(start);
  const writes: string[] = [];
  const log: string[] = [];
  const target = await cluster(clock, 'acp-region01');
  const judge = options.admission ? (kept: Kept) => admission(worldOf(kept, target.kept)) : undefined;
  const management = await cluster(clock, 'management', judge);
  for (const crd of crds()) await made(management.kube.create(customResourceDefinitions, crd as never));
  await clock.advance(1000);
  await furnish(management.kube, target.kube, options);
  const sides = { clock, management: management.kube, target: target.kube };

  const still = options.isStill ? stillStores(sides) : undefined;
  const over = new AbortController();
  const stillEnded = Promise.all(
    Object.values<Running>(still ?? {}).map((one) => one.run(AbortSignal.any([over.signal]))),
  );
  const running = new Set<() => Promise<void>>();
  let delay = 0;
  const begin = async () => {
    const abort = new AbortController();
    const done = controller({ ...sides, writes, log }, { ...options, delay, still }, abort.signal);
    const end = async () => {
      running.delete(end);
      abort.abort();
      const state = { isDone: false };
      const ended = done.finally(() => (state.isDone = true));
      // A turn may be in the middle of a call that takes its time.
      await clock.advance(0);
      while (!state.isDone) await clock.advance(1000);
      await ended;
    };
    running.add(end);
    await clock.advance(500);
    return end;
  };
  const stop = async () => {
    for (const end of running) await end();
  };
  await begin();
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await stop();
    over.abort();
    await stillEnded;
    await management.close();
    await target.close();
  };
  onTestFinished(close);
  const restart = async () => {
    await stop();
    await begin();
  };
  const slow = (ms: number) => void (delay = ms);
  const kept = { management: management.kept, target: target.kept };
  const ending = () => [...running];
  return { ...sides, kept, writes, log, slow, begin, stop, restart, ending, close, ...readings({ ...sides, kept }) };
}

/** What is there before anybody works. */
async function furnish(management: Kube, target: Kube, options: WorldOptions): Promise<void> {
  for (const kube of [management, target])
    for (const name of ['project', 'shop'])
      await made(kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  for (const name of options.services ?? []) await made(target.create(services, service(name)));
}

const worldOf = (management: Kept, target: Kept): Checked => ({
  loadbalancers: () => management.all(loadbalancers),
  lbtickets: () => management.all(lbtickets),
  lbrules: () => management.all(lbrules),
  lbcanaries: () => management.all(lbcanaries),
  namespaceExists: (cluster, name) =>
    cluster === 'acp-region01' ? target.one(namespaces, { name }) !== undefined : undefined,
});

type Sides = Pick<World, 'clock' | 'management' | 'target'>;

interface Running {
  run(signal: AbortSignal): Promise<void>;
}

/** Stores of the kinds of which there is nothing in most tests. */
const stillStores = ({ management, target }: Sides) => ({
  lbcanaries: store<Lbcanary>(management, lbcanaries),
  services: store(target, services),
  ingresses: store(target, ingresses, { indexes: ingressIndexes }),
});

type Still = ReturnType<typeof stillStores>;

/** A controller with stores of its own, but for those that stand still. */
async function controller(
  sides: Sides & Pick<World, 'writes' | 'log'>,
  options: WorldOptions & { delay: number; still: Still | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { clock, management, target, writes, log } = sides;
  const { lbcanaries, services, ingresses } = options.still ?? stillStores(sides);
  const stores = {
    loadbalancers: store<Loadbalancer>(management, loadbalancers),
    lbtickets: store<Lbticket>(management, lbtickets),
    lbrules: store<Lbrule>(management, lbrules),
    lbcanaries,
  };
  const there = { namespaces: store(target, namespaces), services, configmaps: store(target, configMaps), ingresses };
  const own = (one: Running) => !Object.values<Running>(options.still ?? {}).includes(one);
  const all: Running[] = [
    ...Object.values<Running>(stores).filter(own),
    ...Object.values<Running>(there)
      .filter(own)
      .map((one) => late(one, clock, options.delay)),
    tickets({
      kube: counted(options.between?.(management) ?? management, writes),
      stores,
      clusters: (name) =>
        name === 'acp-region01' && options.delay < Infinity
          ? { kube: counted(options.betweenTarget?.(target) ?? target, writes), stores: there }
          : undefined,
      approvers: {
        ...(typeof options.approvers === 'function'
          ? options.approvers(clock)
          : (options.approvers ?? { auto: auto() })),
        ...(options.manual ? { manual: manual() } : {}),
      },
      statistics: options.statistics,
      surroundings: options.surroundings,
      clock,
      random: () => 0.5,
      log: (line) => log.push(line),
    }),
  ];
  // A signal for each: one that many listen to is warned of.
  await Promise.all(all.map((one) => one.run(AbortSignal.any([signal]))));
}

/** A store that begins to read after `delay`. */
const late = (one: Running, clock: FakeClock, delay: number): Running => ({
  async run(signal: AbortSignal) {
    if (delay > 0) await clock.sleep(delay, signal);
    if (!signal.aborted) await one.run(signal);
  },
});

function readings({
  clock,
  management,
  target,
  kept,
}: Sides & Pick<World, 'kept'>): Pick<World, 'ticket' | 'loadbalancer' | 'configMap' | 'report' | 'events'> {
  const configMap = async (loadbalancer = 'demo') =>
    kept.target.one(configMaps, { name: configMapName(loadbalancer), namespace: 'shop' });
  return {
    configMap,
    ticket: (name) => made(management.get(lbtickets, { name, namespace: 'project' })),
    loadbalancer: (name) => made(management.get(loadbalancers, { name })),
    async report(said, loadbalancer) {
      const found = await configMap(loadbalancer);
      if (!found) throw new Error('bug: the test reports on a ConfigMap that is not there');
      const status = reportOn(found, said);
      const patch = { type: 'merge' as const, body: { metadata: { annotations: { [annotations.status]: status } } } };
      if (found.metadata.annotations?.[annotations.status] !== status)
        await made(target.patch(configMaps, found.metadata, patch, { fieldManager: 'fairlead-agent' }));
      await clock.advance(1000);
    },
    async events(name) {
      const { items } = await made(management.list(events, { namespace: 'project' }));
      return items
        .filter((event) => event.involvedObject.name === name)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${event.reason}: ${event.message}`);
    },
  };
}

function reportOn({ metadata, data }: ConfigMap, said: Record<string, unknown> = {}): string {
  const template = JSON.parse(data?.['template'] ?? '{}') as { declaration: object };
  const tenants = Object.values(template.declaration).filter(isRecord);
  const applications = tenants.flatMap(Object.keys).filter((key) => key.endsWith('_app'));
  const fine = Object.fromEntries(applications.map((key) => [key, { ok: true }]));
  return JSON.stringify({
    revision: metadata.annotations?.['fairlead.io/revision'],
    applications: { ...fine, ...said },
  });
}

/** Status and reason of one condition. */
export const conditionAt = (one: Lbticket, type: string): string[] | undefined =>
  one.status?.conditions
    ?.filter((condition) => condition.type === type)
    .map(({ status, reason }) => [status, reason])[0];
