// The controller of Loadbalancers, Lbtickets and Lbrules: from what changes to the turns it concerns.
import type { Lbcanary, Lbrule, Lbticket, Loadbalancer } from '@fairlead/api';
import { fail, type Clock } from '@fairlead/core';
import { lanes } from '@fairlead/engine';
import { backlog } from './backlog.ts';
import { recorder, type Kube, type Recorder, type Store } from '@fairlead/kube';
import type { Approver } from './approver.ts';
import { canaryTurn } from './canary/canary-turn.ts';
import { configMapTurn } from './configmap-turn.ts';
import { type Changed, type Desk, type Next, type StatisticsReader, type Target, type TurnKey } from './desk.ts';
import { Directory } from './directory.ts';
import { fresh } from './fresh.ts';
import { ingressTurn } from './ingress-turn.ts';
import { Ledger } from './ledger.ts';
import { loadbalancerTurn } from './loadbalancer-turn.ts';
import { multimap } from './multimap.ts';
import type { Surroundings } from './outage.ts';
import { parts } from './parts.ts';
import { quarantineTurn } from './quarantine.ts';
import { ruleTurn } from './rule-turn.ts';
import { targets } from './targets.ts';
import { teller } from './teller.ts';
import { ticketTurn } from './ticket-turn.ts';
import { wakeGathered } from './wake.ts';
import { loadAll, watchAll } from './watching.ts';

export interface TicketsOptions {
  /** The management cluster. */
  kube: Kube;
  stores: {
    loadbalancers: Store<Loadbalancer>;
    lbtickets: Store<Lbticket>;
    lbrules: Store<Lbrule>;
    lbcanaries: Store<Lbcanary>;
  };
  /** The cluster of that name, once it is connected. */
  clusters: (name: string) => Target | undefined;
  /** By `spec.policy.provider`. */
  approvers: Readonly<Record<string, Approver>>;
  /** What is known of outages. Default: a cluster that is not connected is away, and nothing is said of devices. */
  surroundings?: Surroundings | undefined;
  /** What devices have counted, for canaries. Default: nobody can say, and canaries wait. */
  statistics?: StatisticsReader | undefined;
  clock: Clock;
  /** 0 to 1, as Math.random. */
  random: () => number;
  log?: ((line: string) => void) | undefined;
  /** Told of each turn when it ended. */
  onTurn?: ((turn: TicketsTurn) => void) | undefined;
  /** Told of each turn that changed something, in words for a log. */
  onChange?: ((what: Changed) => void) | undefined;
  /** Default: Events in the management cluster. */
  recorder?: Recorder | undefined;
  /** Turns at once. Default 16: most of a turn is waiting for the API server. */
  parallel?: number | undefined;
}

/** How a turn went. `again`: it asked for another, to wait for something or because it failed. */
export interface TicketsTurn {
  kind: 'ticket' | 'configmap' | 'loadbalancer' | 'rule' | 'ingress' | 'canary' | 'quarantine';
  result: 'done' | 'again' | 'bug';
  /** Milliseconds after its time that it began, and that it took. */
  late: number;
  took: number;
}

export interface Tickets {
  /** Waits until the stores of the management cluster are full, then works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Keys that wait or have a turn, and milliseconds since the first could have had its turn. */
  readonly load: { waiting: number; overdue: number };
}

/** The lane of turns that talk to the management cluster alone. */
const home = '';
/** Turns at once that write to the cluster of one Loadbalancer. */
const perLoadbalancer = 4;

/** What writes to a target cluster has a lane for each Loadbalancer, or cluster: one that does not answer delays only its own. */
const laneOf = (key: TurnKey): string => {
  if (key.startsWith('configmap ') || key.startsWith('ingress ')) return key.slice(0, key.indexOf('/'));
  // A canary's turn waits for a device, and a device may keep it waiting.
  return key.startsWith('canary ') ? 'canary' : home;
};

/*
 *   lbtickets, lbrules, lbcanaries, -----.                          .--> ticket turn ------> status, spec, Events
 *   loadbalancers                        |--> directory --> queue --+--> configmap turn ---> ConfigMap, labels
 *   namespaces, services, configmaps, ---'    (indexes)             |--> loadbalancer turn -> status
 *   ingresses of each target cluster                                |--> rule turn -------> status
 *                                                                   |--> canary turn -----> status, Events
 *                                                                   '--> ingress turn ----> address, Events
 */
export function tickets(options: TicketsOptions): Tickets {
  const { stores, clock, log = () => undefined, parallel = 16 } = options;
  const toDo = backlog(stores.lbtickets, clock);
  /** Keys whose turn that ends now asked for another. */
  const again = new Set<TurnKey>();
  const turns = lanes<TurnKey>(clock, {
    laneOf,
    parallel: (lane) => (lane === home ? parallel : perLoadbalancer),
    onTurn({ key, isBug, late, took }) {
      const kind = key.slice(0, key.indexOf(' ')) as TicketsTurn['kind'];
      options.onTurn?.({ kind, result: isBug ? 'bug' : again.delete(key) ? 'again' : 'done', late, took });
    },
    onBug: (error, key) => log(`bug in the turn of ${key}: ${error instanceof Error ? error.stack : String(error)}`),
  });
  const desk = deskOf(options, turns, () => toDo.isBusy);
  return {
    async run(signal) {
      await Promise.all([
        stores.loadbalancers.ready(signal),
        stores.lbtickets.ready(signal),
        stores.lbrules.ready(signal),
        stores.lbcanaries.ready(signal),
      ]);
      if (signal.aborted) return;
      // In one step, so that no change falls between what is loaded and what is heard of.
      loadAll(desk, stores);
      const stop = watchAll(desk, stores);
      toDo.follow(signal, () => wakeGathered(desk));
      const give = async (key: TurnKey) => {
        desk.gathered.delete(key);
        const next = await turn(desk, key, signal);
        if (next.after === 'change') return;
        again.add(key);
        turns.add(key, next.after);
      };
      await Promise.all([desk.teller.run(signal), turns.run(give, signal)]);
      stop();
    },
    get load() {
      return { waiting: turns.size, overdue: turns.overdue };
    },
  };
}

/** All that turns share. */
function deskOf(options: TicketsOptions, queue: Desk['queue'], isBusy: () => boolean): Desk {
  const { stores, clock, random, log = () => undefined } = options;
  const directory = new Directory();
  const told = options.recorder ?? recorder({ kube: options.kube, clock, component: 'fairlead-tickets' });
  const lbcanaries = fresh(stores.lbcanaries);
  return {
    kube: options.kube,
    loadbalancers: stores.loadbalancers,
    lbtickets: fresh(stores.lbtickets),
    lbrules: fresh(stores.lbrules),
    lbcanaries,
    statistics: options.statistics ?? (async () => fail('missing', 'nobody reads the statistics of devices here')),
    ...targets(options.clusters),
    approvers: options.approvers,
    surroundings: options.surroundings,
    clock,
    random,
    log,
    changed: options.onChange ?? (() => undefined),
    teller: teller({ recorder: told, clock, isBusy, log }),
    queue,
    isBusy,
    gathered: new Set(),
    ledger: new Ledger((ticket) => queue.add(`ticket ${ticket}`)),
    directory,
    tries: new Map(),
    polled: new Map(),
    filing: new Set(),
    troubled: new Set(),
    quarantines: new Map(),
    refused: new Map(),
    rivals: new Map(),
    declaring: new Map(),
    contested: new Map(),
    pending: multimap(),
    writing: new Set(),
    ...parts({ directory, lbcanaries, random }),
  };
}

/** Which turn a key is for: the word before the space. */
async function turn(desk: Desk, key: TurnKey, signal: AbortSignal): Promise<Next> {
  const word = key.slice(0, key.indexOf(' '));
  const name = key.slice(word.length + 1);
  if (word === 'ticket') return ticketTurn(desk, name);
  if (word === 'configmap') return configMapTurn(desk, name);
  if (word === 'loadbalancer') return loadbalancerTurn(desk, name);
  if (word === 'canary') return canaryTurn(desk, name, signal);
  if (word === 'rule') return ruleTurn(desk, name);
  if (word === 'ingress') return ingressTurn(desk, name);
  return quarantineTurn(desk, name);
}
