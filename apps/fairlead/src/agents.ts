// The agents in CIS's role: for each device an engine, and in it for each Loadbalancer a source over its target cluster.
import type { Loadbalancer } from '@fairlead/api';
import { decode } from './template.ts';
import { isEqual, type Clock, type Policy } from '@fairlead/core';
import { engine, statuses, type Engine, type Remark } from '@fairlead/engine';
import type { ObjectReference, Store } from '@fairlead/kube';
import { configmapSource, type Source } from '@fairlead/sources';
import type { AddressMap } from './address-map.ts';
import type { Credentials } from './credentials.ts';
import { device, type Device } from './device.ts';
import type { Log } from './log.ts';
import type { TargetCluster } from './target-cluster.ts';

export interface AgentsOptions {
  loadbalancers: Store<Loadbalancer>;
  clusters(name: string): TargetCluster | undefined;
  /** User and password of a Loadbalancer's VE; undefined while they cannot be found. */
  credentials(loadbalancer: Loadbalancer): Credentials | undefined;
  /** Calls back when credentials may have changed. */
  onCredentials(listener: () => void): () => void;
  map: AddressMap;
  clock: Clock;
  random: () => number;
  owner: string;
  policy: Policy;
  log: Log;
}

/** A device, its engine, and the Loadbalancers that are served by it. */
interface Place {
  device: Device;
  engine: Engine;
  stop: AbortController;
  done: Promise<void>;
}

interface Agent {
  /** What of the Loadbalancer the agent was made from. */
  made: Made;
  place: Place;
  source: Source;
}

interface Made {
  url: string;
  credentials: Credentials;
  cluster: string;
  nsselector: Record<string, string>;
}

/**
 * Serves every Loadbalancer whose `cis.mode` is `fairlead`, until `signal` aborts.
 *
 *   a Loadbalancer         | then
 *   -----------------------+-------------------------------------------------------------------
 *   comes                  | its source joins the engine of its device
 *   changes                | a new source takes the place of the old one, within one debounce
 *   goes, becomes external | its source leaves, and what it wanted goes from the device
 *   has no cluster, or no credentials yet | waits; nothing on the device is touched
 */
export async function runAgents(options: AgentsOptions, signal: AbortSignal): Promise<void> {
  const places = new Map<string, Place>();
  const agents = new Map<string, Agent>();
  const reports = statuses({
    clock: options.clock,
    random: options.random,
    log: (line) => options.log.warn(line),
    onBug: (error, asker) => options.log.bug(error, `status of ${asker}`),
    clusters: (name) => {
      const cluster = options.clusters(name);
      return (
        cluster && {
          kube: cluster.kube,
          configmaps: cluster.stores.configmaps,
          event: (regarding, told) => void record(options, cluster, { regarding, told }),
        }
      );
    },
  });

  const placeOf = (made: Made): Place => {
    const id = JSON.stringify([made.url, made.credentials]);
    const present = places.get(id);
    if (present) return present;
    const place = openPlace(options, made, { report: reports.report, signal });
    places.set(id, place);
    return place;
  };

  const look = (name: string): void => {
    const loadbalancer = options.loadbalancers.get({ name });
    const agent = agents.get(name);
    const made = loadbalancer && wantedOf(options, loadbalancer);
    if (loadbalancer && made === 'wait') return;
    if (agent && made && made !== 'wait' && isEqual(agent.made, made)) return;
    const next =
      loadbalancer && made && made !== 'wait'
        ? makeAgent(options, { loadbalancer, made, place: placeOf(made) })
        : undefined;
    if (next) {
      agents.set(name, next);
      options.log.info(`Loadbalancer ${name}: cluster ${next.made.cluster} is served on ${next.made.url}`);
      // Joins before the old one leaves: in between, nothing is wanted by nobody.
      next.place.engine.add(next.source);
    } else agents.delete(name);
    if (agent) retire(agent, next);
  };

  const lookAtAll = () => [...options.loadbalancers.all()].forEach((one) => look(one.metadata.name));
  await options.loadbalancers.ready(signal);
  const stops = [
    options.loadbalancers.listen(({ before, after }) => look((after ?? before)?.metadata.name ?? '')),
    options.onCredentials(lookAtAll),
  ];
  lookAtAll();
  await reports.run(signal);
  for (const stop of stops) stop();
  for (const { source } of agents.values()) source.close();
  await Promise.all([...places.values()].map((place) => place.done));
}

/** What the agent of a Loadbalancer is made from; undefined when it is to have none, `wait` while something is missing. */
function wantedOf(
  { clusters, credentials, map, log }: AgentsOptions,
  { metadata, spec }: Loadbalancer,
): Made | 'wait' | undefined {
  if (spec.cis.mode !== 'fairlead') return undefined;
  const found = credentials({ metadata, spec } as Loadbalancer);
  if (!clusters(spec.cluster) || !found) {
    log.warn(
      `Loadbalancer ${metadata.name} waits: ${found ? `cluster ${spec.cluster} is not connected` : 'the credentials of its VE are not there'}`,
    );
    return 'wait';
  }
  return { url: map(spec.ve.addr), credentials: found, cluster: spec.cluster, nsselector: spec.nsselector };
}

function openPlace(
  options: AgentsOptions,
  made: Made,
  { report, signal }: { report: Parameters<typeof engine>[0]['report']; signal: AbortSignal },
): Place {
  const { clock, random, owner, policy, log } = options;
  const one = device({ url: made.url, credentials: made.credentials, clock });
  const stop = new AbortController();
  const ended = () => stop.abort();
  signal.addEventListener('abort', ended, { once: true });
  const engineOfPlace = engine({
    clock,
    random,
    owner,
    policy,
    provider: one.provider,
    report,
    log: (line) => log.warn(`${made.url}: ${line}`),
    onBug: (error, where) => log.bug(error, `${made.url}: ${where}`),
  });
  const done = engineOfPlace.start(stop.signal).finally(async () => {
    signal.removeEventListener('abort', ended);
    await one.close();
  });
  return { device: one, engine: engineOfPlace, stop, done };
}

function makeAgent(
  { clusters }: AgentsOptions,
  { loadbalancer, made, place }: { loadbalancer: Loadbalancer; made: Made; place: Place },
): Agent {
  const cluster = clusters(made.cluster);
  if (!cluster) throw new Error(`bug: cluster ${made.cluster} went away while its agent was made`);
  const source = configmapSource({
    cluster: made.cluster,
    loadbalancer: loadbalancer.metadata.name,
    stores: cluster.stores,
    selects: (_, labels) => Object.entries(made.nsselector).every(([key, value]) => labels[key] === value),
    decode,
  });
  return { made, place, source };
}

/** New credentials are no reason to take a configuration down: only an agent that is gone, or serves another device, removes. */
function retire(old: Agent, next: Agent | undefined): void {
  const isSameDevice = next !== undefined && next.place !== old.place && next.made.url === old.made.url;
  if (isSameDevice) old.place.stop.abort();
  else old.place.engine.remove(old.source);
  old.source.close();
}

async function record(
  { log }: AgentsOptions,
  { recorder }: TargetCluster,
  { regarding, told }: { regarding: ObjectReference; told: Remark },
): Promise<void> {
  const { apiVersion = '', kind = '', name = '', namespace = '', uid = '' } = regarding;
  const done = await recorder.event({ apiVersion, kind, metadata: { name, namespace, uid } }, told);
  if (!done.ok) log.warn(`Event of ${kind} ${namespace}/${name}: ${done.problem.message}`);
}
