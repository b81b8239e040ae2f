// What all turns work with: the clients and stores they are given, and what the controller knows in memory.
import type { Lbcanary, Lbrule, Lbticket, Loadbalancer } from '@fairlead/api';
import type { Clock, Problem, Result, Statistics, StatisticsQuestion } from '@fairlead/core';
import type { Queue } from '@fairlead/engine';
import type { ConfigMap, Ingress, Kube, Namespace, Service, Store } from '@fairlead/kube';
import type { Approver } from './approver.ts';
import type { ConfigMapKey, Directory } from './directory.ts';
import type { Fresh } from './fresh.ts';
import type { Ledger } from './ledger.ts';
import type { Multimap } from './multimap.ts';
import type { Surroundings } from './outage.ts';
import { placeOf } from './names.ts';
import type { Parts } from './parts.ts';
import type { Quarantine } from './quarantine.ts';
import type { Targets } from './targets.ts';
import type { Teller } from './teller.ts';
import type { Rival } from './tenant-rivals.ts';

/** A cluster that ConfigMaps and labels are written to. */
export interface Target {
  kube: Kube;
  stores: {
    namespaces: Store<Namespace>;
    services: Store<Service>;
    configmaps: Store<ConfigMap>;
    /** With the index `ticket` of `ingressIndexes`. Absent: its Ingresses are none of ours. */
    ingresses?: Store<Ingress> | undefined;
  };
}

/** A target, with our own writes in its ConfigMaps and Ingresses. */
export interface FreshTarget extends Target {
  configMaps: Fresh<ConfigMap>;
  ingresses?: Fresh<Ingress> | undefined;
}

/** What has a turn. */
export type TurnKey =
  | `ticket ${string}`
  | `configmap ${ConfigMapKey}`
  | `loadbalancer ${string}`
  | `rule ${string}`
  | `ingress ${string}`
  | `canary ${string}`
  | `quarantine ${string}`;

/** When the next turn is due: when something changes, or after so many milliseconds. */
export type Next = { after: 'change' } | { after: number };

/** What a turn changed, for a log. */
export type Changed =
  | { turn: 'ticket'; ticket: string; from: string; to: string; why: string }
  | { turn: 'canary'; canary: string; from: string; to: string; why: string }
  | { turn: 'configmap'; cluster: string; namespace: string; configmap: string; tickets: number };

export interface Desk extends Targets, Parts {
  kube: Kube;
  loadbalancers: Store<Loadbalancer>;
  lbtickets: Fresh<Lbticket>;
  lbrules: Fresh<Lbrule>;
  lbcanaries: Fresh<Lbcanary>;
  statistics: StatisticsReader;
  approvers: Readonly<Record<string, Approver>>;
  surroundings: Surroundings | undefined;
  clock: Clock;
  random: () => number;
  log: (line: string) => void;
  changed: (what: Changed) => void;
  teller: Teller;
  queue: Queue<TurnKey>;
  /** Are there as many turns under way as there may be, and others wait? */
  isBusy: () => boolean;
  /** Turns that wait until those many under way have come to rest. */
  gathered: Set<TurnKey>;
  ledger: Ledger;
  directory: Directory;
  /** Tries of what did not work yet, by turn key: the wait grows with them. */
  tries: Map<string, Tries>;
  /** The value of the poll-now annotation that was heeded last, by ticket. */
  polled: Map<string, string>;
  /** Tickets for which the approver may know an application whose id is not written down, by ticket. */
  filing: Set<string>;
  /** Tickets and rules that were told to be wrong, and not yet to be well again. */
  troubled: Set<string>;
  /** Addresses that rest, by holder. */
  quarantines: Map<string, Quarantine>;
  /** By ConfigMap: why it, or the part of a ticket in it, could not be written. */
  refused: Map<ConfigMapKey, Refusals>;
  /** By ConfigMap that was refused its tenant: who has it. */
  rivals: Map<ConfigMapKey, Rival>;
  /** Tenants of ConfigMaps that are being written, and that no store shows yet. */
  declaring: Map<ConfigMapKey, string>;
  /** Services whose labels the API server refused us, because somebody else set others. By `contestId`. */
  contested: Map<string, { uid: string | undefined }>;
  /** By ConfigMap: tickets whose newest part the agent has not reported on yet. */
  pending: Multimap<string>;
  /** ConfigMaps that a turn is writing in this moment: what it takes there may land yet. */
  writing: Set<ConfigMapKey>;
}

/** Asks the device of a Loadbalancer what it has counted. */
export type StatisticsReader = (
  loadbalancer: Loadbalancer,
  question: StatisticsQuestion,
  signal: AbortSignal,
) => Promise<Result<Statistics>>;

export interface Tries {
  count: number;
  /** Milliseconds since the epoch: not before. */
  at: number;
}

export interface Refusals {
  /** Concerns every ticket in it, such as a namespace that is not there. */
  whole?: Problem | undefined;
  byTicket: ReadonlyMap<string, Problem>;
}

const shortest = 2000;
const longest = 60_000;

/** The wait before the next try of `key`: 2 s to 60 s, doubling, with a tenth of jitter. */
export function laterTry({ tries, clock, random }: Pick<Desk, 'tries' | 'clock' | 'random'>, key: string): number {
  const count = (tries.get(key)?.count ?? 0) + 1;
  const wait = Math.round(Math.min(shortest * 2 ** (count - 1), longest) * (0.95 + random() / 10));
  tries.set(key, { count, at: clock.now() + wait });
  return wait;
}

/** Those of a ticket, with our own last writes in them: a weight counts from the moment it is written. */
export const canariesOf = (
  { directory, lbcanaries }: Pick<Desk, 'directory' | 'lbcanaries'>,
  ticket: string,
): Lbcanary[] => [...directory.canariesOf(ticket)].flatMap((name) => lbcanaries.read(placeOf(name)) ?? []);
