// The first layer: for each Loadbalancer with `ltm.mode: as3` a source over its tickets, in the engine of its LTM.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { askerOf, fail, isEqual, untilAborted } from '@fairlead/core';
import { withOutcome, type Outcome, type Report } from '@fairlead/engine';
import type { Store } from '@fairlead/kube';
import type { Front } from '@fairlead/sources';
import {
  ltmCluster,
  ltmTenant,
  ltmWish,
  placeOf,
  ticketName,
  type DeviceState,
  type LtmState,
  type LtmWish,
} from '@fairlead/tickets';
import type { AddressMap } from './address-map.ts';
import { enter, leave, type Seat } from './agents.ts';
import type { Clusters } from './clusters/clusters.ts';
import type { Credentials } from './credentials.ts';
import { ingressPorts, type IngressPorts } from './ltm-ports.ts';
import { ltmSource } from './ltm-source.ts';
import { places, waitingSource, type Place, type Places, type PlacesOptions } from './places.ts';

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
  /** The LTM of a Loadbalancer; `external` when it is not ours to configure. */
  device(loadbalancer: string): DeviceState;
  /** Calls back with the name of a Loadbalancer whose LTM is told of differently. Returns the way to stop. */
  onDevice(listener: (loadbalancer: string) => void): () => void;
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
  const heard = { ticket: hearers(), device: hearers() };
  /** Loadbalancers that wait for a token, and since when. Milliseconds since the epoch. */
  const waiting = new Map<string, number>();
  const reports = ticketReports(heard.ticket.tell);

  const look = (open: Places, name: string): void => {
    const loadbalancer = loadbalancers.get({ name });
    const before = served.get(name);
    const made = loadbalancer && madeOf(options, loadbalancer);
    if (before && made && isEqual(before.made, made)) return;
    const after = loadbalancer && made ? join(options, open, { loadbalancer, made }) : undefined;
    if (after) served.set(name, after);
    else served.delete(name);
    if (before) leave(name, before, after);
    if (!made || made.credentials) waiting.delete(name);
    else if (!waiting.has(name)) waiting.set(name, options.clock.now());
    heard.device.tell(name);
    for (const ticket of lbtickets.all()) if (ticket.spec.loadbalancer === name) heard.ticket.tell(ticketName(ticket));
  };

  const standing = (ticket: Lbticket): Standing => {
    const loadbalancer = loadbalancers.get({ name: ticket.spec.loadbalancer });
    return standingOf(ticket, { loadbalancer, seat: served.get(ticket.spec.loadbalancer), said: reports.of(ticket) });
  };

  return {
    state: (ticket) => standing(ticket).state,
    device(name) {
      if (loadbalancers.get({ name })?.spec.ltm.mode !== 'as3') return 'external';
      const since = waiting.get(name);
      if (since !== undefined) return { ...tokenless, since };
      return served.get(name)?.places[0]?.health.state ?? 'pending';
    },
    onDevice: heard.device.listen,
    leadsBeyond(name, ports) {
      const ticket = lbtickets.get(placeOf(name));
      return ticket !== undefined && isBeyond(standing(ticket), ports);
    },
    listen: heard.ticket.listen,
    async run(signal) {
      const onHealth = (place: Place): void => [...place.sources.keys()].forEach(heard.device.tell);
      const open = places({ ...options, report: reports.report, onHealth }, signal);
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

/** What became of a ticket's wish, and the wish. */
interface Standing {
  state: LtmState;
  wish?: LtmWish;
}

interface Given {
  loadbalancer: Loadbalancer | undefined;
  seat: LtmSeat | undefined;
  said: Report | undefined;
}

function standingOf(ticket: Lbticket, { loadbalancer, seat, said }: Given): Standing {
  if (!loadbalancer || loadbalancer.spec.ltm.mode !== 'as3') return { state: 'none' };
  if (seat?.made.credentials === undefined) return { state: tokenless };
  const wish = ltmWish(loadbalancer, ticket, seat.ports.of(ticketName(ticket)));
  return { state: stateOf(wish, said?.origin.revision === wish.revision ? said : undefined), wish };
}

/** May the LTM lead to a port that is none of `ports`? */
function isBeyond({ state, wish }: Standing, ports: readonly number[]): boolean {
  if (state === 'none' || state === 'clear') return false;
  const led = wish?.balancer?.listeners.map(({ port }) => port) ?? [];
  return state !== 'programmed' || led.some((port) => !ports.includes(port));
}

/** Who wants to hear of a name. */
function hearers() {
  const all = new Set<(name: string) => void>();
  return {
    tell: (name: string): void => all.forEach((one) => one(name)),
    listen(one: (name: string) => void): () => void {
      all.add(one);
      return () => void all.delete(one);
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

const tokenless = {
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
