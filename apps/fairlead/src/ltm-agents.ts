// The first layer: for each Loadbalancer with `ltm.mode: as3` a source over its tickets, in the engine of its LTM.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { askerOf, fail, isEqual, untilAborted } from '@fairlead/core';
import { withOutcome, type Outcome, type Report } from '@fairlead/engine';
import type { Store } from '@fairlead/kube';
import type { Front } from '@fairlead/sources';
import { ltmCluster, ltmTenant, ltmWish, placeOf, ticketName, type LtmState, type LtmWish } from '@fairlead/tickets';
import type { AddressMap } from './address-map.ts';
import { enter, leave, type Seat } from './agents.ts';
import type { Clusters } from './clusters/clusters.ts';
import type { Credentials } from './credentials.ts';
import { ingressPorts, type IngressPorts } from './ltm-ports.ts';
import { ltmSource } from './ltm-source.ts';
import { places, waitingSource, type Places, type PlacesOptions } from './places.ts';

export interface LtmOptions extends Omit<PlacesOptions, 'report' | 'onHealth'> {
  loadbalancers: Store<Loadbalancer>;
  lbtickets: Store<Lbticket>;
  clusters: Pick<Clusters, 'get' | 'listen'>;
  /** Token of a Loadbalancer's LTM; undefined while it cannot be found. */
  credentials(loadbalancer: Loadbalancer): Credentials | undefined;
  /** Calls back when credentials may have changed. */
  onCredentials(listener: () => void): () => void;
  map: AddressMap;
}

export interface LtmAgents extends Front {
  state(ticket: Lbticket): LtmState;
  /** Serves until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** What of a Loadbalancer its agent is made from. */
interface Made {
  url: string;
  credentials: Credentials | undefined;
  /** The tenant on the LTM, and as whom its tickets ask there. */
  tenant: string;
  cluster: string;
  /** Where the Ingresses are; not connected, they cannot be read. */
  target: string;
  isConnected: boolean;
  isExternal: boolean;
  partitions: string;
}

interface LtmSeat extends Seat<Made> {
  ports: IngressPorts;
}

export function ltmAgents(options: LtmOptions): LtmAgents {
  const { loadbalancers, lbtickets } = options;
  const served = new Map<string, LtmSeat>();
  const listeners = new Set<(ticket: string) => void>();
  const changed = (ticket: string): void => listeners.forEach((listener) => listener(ticket));
  const reports = ticketReports(changed);

  const look = (open: Places, name: string): void => {
    const loadbalancer = loadbalancers.get({ name });
    const before = served.get(name);
    const made = loadbalancer && madeOf(options, loadbalancer);
    if (before && made && isEqual(before.made, made)) return;
    const after = loadbalancer && made ? join(options, open, { loadbalancer, made }) : undefined;
    if (after) served.set(name, after);
    else served.delete(name);
    if (before) leave(name, before, after);
    for (const ticket of lbtickets.all()) if (ticket.spec.loadbalancer === name) changed(ticketName(ticket));
  };

  const standing = (ticket: Lbticket): { state: LtmState; wish?: LtmWish } => {
    const loadbalancer = loadbalancers.get({ name: ticket.spec.loadbalancer });
    if (!loadbalancer || loadbalancer.spec.ltm.mode !== 'as3') return { state: 'none' };
    const seat = served.get(loadbalancer.metadata.name);
    if (seat?.made.credentials === undefined) return { state: tokenless };
    const wish = ltmWish(loadbalancer, ticket, seat.ports.of(ticketName(ticket)));
    const said = reports.of(ticket);
    return { state: stateOf(wish, said?.origin.revision === wish.revision ? said : undefined), wish };
  };

  return {
    state: (ticket) => standing(ticket).state,
    leadsBeyond(name, ports) {
      const ticket = lbtickets.get(placeOf(name));
      if (!ticket) return false;
      const { state, wish } = standing(ticket);
      if (state === 'none' || state === 'clear') return false;
      const led = wish?.balancer?.listeners.map(({ port }) => port) ?? [];
      return state !== 'programmed' || led.some((port) => !ports.includes(port));
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      const open = places({ ...options, report: reports.report, onHealth: () => undefined }, signal);
      await Promise.all([loadbalancers.ready(signal), lbtickets.ready(signal)]);
      const lookAtAll = () => [...loadbalancers.all()].forEach((one) => look(open, one.metadata.name));
      const stops = [
        loadbalancers.listen(({ before, after }) => look(open, (after ?? before)?.metadata.name ?? '')),
        options.onCredentials(lookAtAll),
        options.clusters.listen(lookAtAll),
        lbtickets.listen(({ before, after }) => {
          if (!after && before) reports.forget(before);
        }),
      ];
      if (!signal.aborted) lookAtAll();
      await untilAborted(signal);
      for (const stop of stops) stop();
      for (const { source } of served.values()) source.close();
      await open.ended();
    },
  };
}

/** What the engines said last of the wish of each ticket; `changed` is called with its `namespace/name` when that is new. */
function ticketReports(changed: (ticket: string) => void) {
  const reports = new Map<string, Report>();
  const idOf = (ticket: Lbticket): string => `${ltmCluster(ticket.spec.loadbalancer)}/${ticketName(ticket)}`;
  return {
    of: (ticket: Lbticket): Report | undefined => reports.get(idOf(ticket)),
    report(outcomes: readonly Outcome[]): void {
      const told = new Set<string>();
      for (const { origin, asker = '', ...rest } of outcomes) {
        const id = origin ? askerOf(origin) : asker;
        const before = reports.get(id);
        const after = origin && withOutcome(before, { ...rest, origin });
        if (after === before) continue;
        if (after) reports.set(id, after);
        else reports.delete(id);
        told.add(id.slice(id.indexOf('/') + 1));
      }
      for (const ticket of told) changed(ticket);
    },
    /** Its object is gone; that nothing of it was left was known before. */
    forget: (ticket: Lbticket): void => void reports.delete(idOf(ticket)),
  };
}

function join(
  { lbtickets, clusters, log }: LtmOptions,
  open: Places,
  { loadbalancer, made }: { loadbalancer: Loadbalancer; made: Made },
): LtmSeat {
  const { name } = loadbalancer.metadata;
  const ports = ingressPorts(loadbalancer, lbtickets, made.credentials && clusters.get(made.target));
  if (!made.credentials) {
    log.warn(`Loadbalancer ${name} waits: the token of its LTM is not there`);
    const source = waitingSource(name, made.cluster);
    const all = open.on(made.url);
    for (const place of all) enter(place, name, source);
    return { made, source, ports, places: all };
  }
  const place = open.at(made.url, made.credentials);
  const source = ltmSource(loadbalancer, lbtickets, ports);
  log.info(`Loadbalancer ${name}: its LTM is served on ${made.url}`);
  enter(place, name, source);
  return { made, source, ports, places: [place] };
}

const tokenless: LtmState = {
  problem: fail(
    'missing',
    'its token is not there: create the Secret that spec.ltm.tokenSecretRef names, with key token',
  ).problem,
};

/** Undefined when the LTM is not ours to configure. */
function madeOf({ credentials, clusters, map }: LtmOptions, loadbalancer: Loadbalancer): Made | undefined {
  const { metadata, spec } = loadbalancer;
  if (spec.ltm.mode !== 'as3') return undefined;
  return {
    url: map(spec.ltm.url),
    credentials: credentials(loadbalancer),
    tenant: ltmTenant(loadbalancer, '{namespace}'),
    cluster: ltmCluster(metadata.name),
    target: spec.cluster,
    isConnected: clusters.get(spec.cluster) !== undefined,
    isExternal: spec.cis.mode === 'external',
    partitions: spec.ve.partition ?? spec.cis.tenant,
  };
}

/** `said`: the report on this very wish. */
function stateOf({ balancer, isUnknown }: LtmWish, said: Report | undefined): LtmState {
  if (!said || isUnknown) return 'pending';
  const placed = [...said.applications.values()].map((one) => one.placed);
  const problem = said.problem ?? placed.find((one) => one?.problem)?.problem;
  if (problem) return { problem };
  if (!said.settled) return 'pending';
  if (!balancer) return 'clear';
  return said.applications.get(balancer.key)?.placed ? 'programmed' : 'pending';
}
