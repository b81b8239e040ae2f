// The agents in CIS's role: for each Loadbalancer a source over its target cluster, in the engine of its device.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { fail, isEqual, type Clock, type Policy } from '@fairlead/core';
import type { Store } from '@fairlead/kube';
import type { Front, IngressSource, Source } from '@fairlead/sources';
import type { AddressMap } from './address-map.ts';
import { agentReports, agentSource } from './agent-source.ts';
import type { Credentials } from './credentials.ts';
import type { Log } from './log.ts';
import { places, waitingSource, type Place, type Places, type PlacesOptions } from './places.ts';
import type { Clusters } from './clusters/clusters.ts';
import { partitionOf, type DeviceState } from '@fairlead/tickets';

export interface AgentsOptions {
  loadbalancers: Store<Loadbalancer>;
  lbtickets: Store<Lbticket>;
  clusters: Pick<Clusters, 'get' | 'listen'>;
  /** User and password of a Loadbalancer's VE; undefined while they cannot be found. */
  credentials(loadbalancer: Loadbalancer): Credentials | undefined;
  /** Calls back when credentials may have changed. */
  onCredentials(listener: () => void): () => void;
  device: PlacesOptions['device'];
  /** The LTMs, where they are ours to configure. */
  front: Front;
  map: AddressMap;
  clock: Clock;
  random: () => number;
  owner: string;
  policy: Policy;
  log: Log;
  metrics?: PlacesOptions['metrics'];
}

export interface Agents {
  /** The VE of a Loadbalancer. */
  device(loadbalancer: string): DeviceState;
  /** Calls back with the name of a Loadbalancer whose device is told of differently. Returns the way to stop. */
  listen(listener: (loadbalancer: string) => void): () => void;
  /** Of all devices: what waits, and milliseconds since the first could have had its turn. */
  queues(): Record<'scopes' | 'pools', { waiting: number; overdue: number }>;
  /** Serves until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** On a Loadbalancer: a new value lets its device remove what the brake held back. */
const allowRemovals = 'fairlead.io/allow-removals';

/** What of a Loadbalancer its agent is made from. Without credentials, or the cluster, it waits. */
interface Made {
  url: string;
  credentials: Credentials | undefined;
  cluster: string;
  isConnected: boolean;
  nsselector: Record<string, string>;
  /** What partitions are made from. */
  partitions: string;
  hasFront: boolean;
}

/** A source in the engines of a device. */
export interface Seat<M extends { url: string; cluster: string }> {
  made: M;
  source: Source;
  /** The part of the source that Ingresses are told from. */
  ingresses?: IngressSource | undefined;
  /** Where the source is: one, or while it waits all that the device has. */
  places: Place[];
}

type Agent = Seat<Made>;

/**
 * Serves every Loadbalancer whose `cis.mode` is `fairlead`.
 *
 *   a Loadbalancer                        | then
 *   --------------------------------------+------------------------------------------------------------------
 *   comes                                 | its source joins the engine of its device
 *   changes                               | a new source takes the place of the old one, within one debounce
 *   gets other credentials                | moves to a new engine; nothing is removed
 *   goes, or becomes external             | its source leaves, and what it wanted goes from the device
 *   has no cluster, or no credentials yet | waits; others on the device are served, and remove nothing of its cluster
 *   loses its cluster                     | waits as well: nothing is torn down because nobody can say what is wanted
 */
export function agents(options: AgentsOptions): Agents {
  const { loadbalancers } = options;
  const served = new Map<string, Agent>();
  let opened: Places | undefined;
  const listeners = new Set<(loadbalancer: string) => void>();
  /** Loadbalancers that wait for credentials, and since when. Milliseconds since the epoch. */
  const waiting = new Map<string, number>();
  const changed = (name: string): void => listeners.forEach((listener) => listener(name));

  const look = (open: Places, name: string): void => {
    const loadbalancer = loadbalancers.get({ name });
    const before = served.get(name);
    const made = loadbalancer && wantedOf(options, loadbalancer);
    if (before && made && isEqual(before.made, made)) return;
    const after = loadbalancer && made ? join(options, open, { loadbalancer, made }) : undefined;
    if (after) served.set(name, after);
    else served.delete(name);
    // Joins before the old one leaves: in between, nothing is wanted by nobody.
    if (before) leave(name, before, after);
    if (!made || made.credentials) waiting.delete(name);
    else if (!waiting.has(name)) waiting.set(name, options.clock.now());
    changed(name);
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const reports = agentReports({
      ...options,
      clusters: (name) => options.clusters.get(name),
      ingresses: (name) => served.get(name)?.ingresses,
    });
    const onHealth = (place: Place): void => [...place.sources.keys()].forEach(changed);
    const open = places({ ...options, report: reports.report, onHealth }, signal);
    opened = open;
    await loadbalancers.ready(signal);
    const lookAtAll = () => [...loadbalancers.all()].forEach((one) => look(open, one.metadata.name));
    const stops = [
      loadbalancers.listen(({ before, after }) => {
        look(open, (after ?? before)?.metadata.name ?? '');
        if (before && after && isReleased(before, after)) release(served.get(after.metadata.name));
      }),
      options.onCredentials(lookAtAll),
      options.clusters.listen(lookAtAll),
    ];
    lookAtAll();
    await reports.run(signal);
    for (const stop of stops) stop();
    for (const { source } of served.values()) source.close();
    await open.ended();
  };

  return {
    run,
    queues: () => queuesOf(opened),
    device(name) {
      if (loadbalancers.get({ name })?.spec.cis.mode === 'external') return 'external';
      const since = waiting.get(name);
      if (since !== undefined) return { ...locked, since };
      return served.get(name)?.places[0]?.health.state ?? 'pending';
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const locked = {
  problem: fail(
    'missing',
    'the credentials of its VE are not there: create the Secret that spec.ve refers to, with its keys',
  ).problem,
};

function queuesOf(open: Places | undefined): ReturnType<Agents['queues']> {
  const engines = [...(open?.all() ?? [])].map(({ engine }) => engine);
  const queueOf = (word: 'scopes' | 'pools') => ({
    waiting: engines.reduce((sum, { load }) => sum + load[word], 0),
    overdue: Math.max(0, ...engines.map(({ overdue }) => overdue[word])),
  });
  return { scopes: queueOf('scopes'), pools: queueOf('pools') };
}

/** Undefined when the Loadbalancer is to have no agent. */
function wantedOf({ clusters, credentials, map, log }: AgentsOptions, loadbalancer: Loadbalancer): Made | undefined {
  const { metadata, spec } = loadbalancer;
  if (spec.cis.mode !== 'fairlead') return undefined;
  const isConnected = clusters.get(spec.cluster) !== undefined;
  const found = credentials(loadbalancer);
  if (!isConnected) log.warn(`Loadbalancer ${metadata.name} waits: cluster ${spec.cluster} is not connected`);
  else if (!found) log.warn(`Loadbalancer ${metadata.name} waits: the credentials of its VE are not there`);
  const { cluster, nsselector } = spec;
  return {
    url: map(spec.ve.addr),
    credentials: found,
    cluster,
    isConnected,
    nsselector,
    partitions: spec.ve.partition ?? spec.cis.tenant,
    hasFront: spec.ltm.mode === 'as3',
  };
}

function join(
  options: AgentsOptions,
  served: Places,
  { loadbalancer, made }: { loadbalancer: Loadbalancer; made: Made },
): Agent {
  const { name } = loadbalancer.metadata;
  const target = options.clusters.get(made.cluster);
  if (!made.credentials || !target) {
    const source = waitingSource(name, made.cluster);
    // Its device is opened though there is nothing to say to it yet: whether it answers is known sooner.
    const own = made.credentials && served.at(made.url, made.credentials);
    const all = [...new Set([...(own ? [own] : []), ...served.on(made.url)])];
    for (const place of all) enter(place, name, source);
    return { made, source, places: all };
  }
  const place = served.at(made.url, made.credentials);
  const { source, ingresses } = agentSource({
    ...made,
    loadbalancer: name,
    target,
    lbtickets: options.lbtickets,
    partition: (namespace) => partitionOf(loadbalancer, namespace),
    front: made.hasFront ? options.front : undefined,
  });
  options.log.info(`Loadbalancer ${name}: cluster ${made.cluster} is served on ${made.url}`);
  enter(place, name, source);
  return { made, source, ingresses, places: [place] };
}

export function enter(place: Place, name: string, source: Source): void {
  place.sources.set(name, source);
  place.engine.add(source);
}

/** Only an agent that is gone, or serves another device now, has its configuration removed. */
export function leave<M extends { url: string; cluster: string }>(
  name: string,
  before: Seat<M>,
  after: Seat<M> | undefined,
): void {
  for (const place of before.places) {
    if (place.sources.get(name) === before.source) place.sources.delete(name);
    const moved = after !== undefined && !after.places.includes(place) && after.made.url === before.made.url;
    if (moved && place.sources.size === 0) void place.end();
    else if (moved) keep(place, name, before.made.cluster);
    if (!moved || place.sources.size > 0) place.engine.remove(before.source);
  }
  before.source.close();
}

/** In the old engine, somebody has to say that what the moved one placed is not to be removed. */
const keep = (place: Place, name: string, cluster: string): void => enter(place, name, waitingSource(name, cluster));

const isReleased = (before: Loadbalancer, after: Loadbalancer): boolean =>
  after.metadata.annotations?.[allowRemovals] !== undefined &&
  after.metadata.annotations[allowRemovals] !== before.metadata.annotations?.[allowRemovals];

function release(agent: Agent | undefined): void {
  for (const place of agent?.places ?? [])
    for (const scope of agent?.source.scopes() ?? []) place.engine.release(scope);
}
