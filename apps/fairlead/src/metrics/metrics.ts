// What is counted and measured, for Prometheus. docs/metrics.md says what each means; no label grows with users' objects.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import type { MembersWritten, ScopeTurn } from '@fairlead/engine';
import type { Trouble } from '@fairlead/kube';
import type { TicketsTurn } from '@fairlead/tickets';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DeviceCall } from '../device.ts';

/** What is looked at when somebody asks, and costs nothing before. */
export interface Scraped {
  loadbalancers(): Iterable<Loadbalancer>;
  lbtickets(): Iterable<Lbticket>;
  clusters(): Iterable<{ name: string; isReachable: boolean }>;
  /** Of the VE or LTM of a Loadbalancer; undefined while nobody knows, or when it is not ours to configure. */
  isDeviceReachable(loadbalancer: string, layer: 've' | 'ltm'): boolean | undefined;
  /** By queue: keys that wait or have a turn, and milliseconds since the first could have had its turn. */
  queues(): Record<string, { waiting: number; overdue: number }>;
  /** Why the controllers cannot work yet. */
  unready(): string | undefined;
}

export interface Metrics {
  /** Why the controllers that work here cannot yet; undefined when they can, or none works here now. */
  unready(): string | undefined;
  ticketsTurn(turn: TicketsTurn): void;
  scopeTurn(turn: ScopeTurn): void;
  /** `device`: its address as host and port. */
  members(device: string, written: MembersWritten): void;
  deviceCall(device: string, call: DeviceCall): void;
  approverCall(call: { provider: string; operation: string; result: string; took: number }): void;
  /** A watch broke and begins anew. */
  watchRestart(trouble: Trouble): void;
  /** `undefined` when nothing works here now, as in a controller that only waits to lead. */
  scrape(what: Scraped | undefined): void;
  /** The text of all, and its content type. */
  text(): Promise<{ text: string; type: string }>;
}

const seconds = (ms: number): number => ms / 1000;
/** From a turn in memory to a declaration that takes minutes. */
const buckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export function metrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const to = { registers: [registry] };
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, ...to });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets, ...to });

  const turns = counter('fairlead_turns_total', 'Turns by queue and result', ['queue', 'result']);
  const duration = histogram('fairlead_turn_duration_seconds', 'How long turns take', ['queue']);
  const late = histogram('fairlead_turn_lateness_seconds', 'How long after their time turns begin', ['queue']);
  const device = histogram('fairlead_device_request_duration_seconds', 'Requests to devices', [
    'device',
    'method',
    'code',
  ]);
  const declared = counter('fairlead_device_declarations_total', 'AS3 declarations sent', ['device', 'result']);
  const members = counter('fairlead_member_changes_total', 'Pool members written one by one', ['device', 'change']);
  const memberLatency = histogram(
    'fairlead_member_write_latency_seconds',
    'From hearing that the ready pods of a pool changed to the answer of the device',
    ['device'],
  );
  const approver = histogram('fairlead_approver_request_duration_seconds', 'Calls to approvers', [
    'provider',
    'operation',
    'result',
  ]);
  const watches = counter('fairlead_watch_restarts_total', 'Watches that broke and began anew', ['resource']);
  const { scrape, unready } = scraper(registry);

  return {
    scrape,
    unready,
    ticketsTurn({ kind, result, late: waited, took }) {
      turns.inc({ queue: kind, result });
      duration.observe({ queue: kind }, seconds(took));
      late.observe({ queue: kind }, seconds(waited));
    },
    scopeTurn({ result, took }) {
      turns.inc({ queue: 'scope', result });
      duration.observe({ queue: 'scope' }, seconds(took));
    },
    members(name, { add, change, remove, latency }) {
      for (const [word, count] of Object.entries({ add, change, remove }))
        if (count > 0) members.inc({ device: name, change: word }, count);
      memberLatency.observe({ device: name }, seconds(latency));
    },
    deviceCall(name, { method, code, took, isDeclaration }) {
      device.observe({ device: name, method, code }, seconds(took));
      if (isDeclaration) declared.inc({ device: name, result: resultOf(code) });
    },
    approverCall: ({ took, ...labels }) => approver.observe(labels, seconds(took)),
    watchRestart: ({ doing }) => watches.inc({ resource: /^watch (\S+)/.exec(doing)?.[1] ?? 'other' }),
    text: async () => ({ text: await registry.metrics(), type: registry.contentType }),
  };
}

/** 2xx may still hold a failure of the tenant inside, which the turn tells. */
const resultOf = (code: string): string =>
  code === 'none' ? 'unanswered' : code.startsWith('2') ? 'taken' : 'refused';

/** Gauges that are read from what there is when somebody asks. */
function scraper(registry: Registry): Pick<Metrics, 'scrape' | 'unready'> {
  let now: Scraped | undefined;
  const gauge: MakeGauge = (name, help, labelNames, read) => {
    const made = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        made.reset();
        if (now) read(now, (labels, value) => made.set(labels, value));
      },
    });
  };
  const leader: Gauge = new Gauge({
    name: 'fairlead_leader',
    help: '1 while this controller works, 0 while it waits for the Lease',
    registers: [registry],
    collect: () => leader.set(now ? 1 : 0),
  });
  queueGauges(gauge);
  reachabilityGauges(gauge);
  addressGauges(gauge);
  ticketGauges(gauge);
  return { scrape: (what) => void (now = what), unready: () => now?.unready() };
}

type MakeGauge = <L extends string>(
  name: string,
  help: string,
  labelNames: L[],
  read: (what: Scraped, set: (labels: Record<L, string>, value: number) => void) => void,
) => void;

function queueGauges(gauge: MakeGauge): void {
  gauge('fairlead_queue_depth', 'Keys that wait or have a turn', ['queue'], ({ queues }, set) => {
    for (const [queue, { waiting }] of Object.entries(queues())) set({ queue }, waiting);
  });
  gauge(
    'fairlead_queue_overdue_seconds',
    'Since when the first key could have had its turn',
    ['queue'],
    (what, set) => {
      for (const [queue, { overdue }] of Object.entries(what.queues())) set({ queue }, seconds(overdue));
    },
  );
}

function reachabilityGauges(gauge: MakeGauge): void {
  gauge(
    'fairlead_cluster_reachable',
    '1 while a target cluster can be worked with',
    ['cluster'],
    ({ clusters }, set) => {
      for (const { name, isReachable } of clusters()) set({ cluster: name }, isReachable ? 1 : 0);
    },
  );
  const help = '1 while the VE or LTM of a Loadbalancer answers';
  gauge('fairlead_device_reachable', help, ['loadbalancer', 'layer'], (what, set) => {
    for (const { metadata } of what.loadbalancers())
      for (const layer of ['ve', 'ltm'] as const) {
        const is = what.isDeviceReachable(metadata.name, layer);
        if (is !== undefined) set({ loadbalancer: metadata.name, layer }, is ? 1 : 0);
      }
  });
}

function addressGauges(gauge: MakeGauge): void {
  for (const [name, field, help] of [
    ['fairlead_addresses', 'total', 'Addresses that can be given out'],
    ['fairlead_addresses_used', 'used', 'Addresses that are held, quarantine included'],
  ] as const)
    gauge(name, help, ['loadbalancer', 'layer'], ({ loadbalancers }, set) => {
      for (const { metadata, status } of loadbalancers())
        for (const layer of ['ve', 'ltm'] as const)
          if (status?.capacity) set({ loadbalancer: metadata.name, layer }, status.capacity[layer][field]);
    });
}

function ticketGauges(gauge: MakeGauge): void {
  gauge('fairlead_tickets', 'Tickets by state', ['state'], ({ lbtickets }, set) => {
    const counts = new Map<string, number>(
      ['new', 'created', 'apply', 'enabled', 'failed', 'disabled', 'deleted'].map((state) => [state, 0]),
    );
    for (const { status } of lbtickets()) {
      const state = status?.process ?? 'new';
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    for (const [state, count] of counts) set({ state }, count);
  });
  gauge('fairlead_tickets_waiting_for_address', 'Tickets that wait for an address', ['loadbalancer'], (what, set) => {
    const counts = new Map<string, number>();
    for (const { metadata } of what.loadbalancers()) counts.set(metadata.name, 0);
    for (const { spec, status } of what.lbtickets()) {
      const isWaiting = status?.conditions?.some(({ type, reason }) => type === 'Allocated' && reason === 'exhausted');
      const before = counts.get(spec.loadbalancer);
      if (isWaiting && before !== undefined) counts.set(spec.loadbalancer, before + 1);
    }
    for (const [loadbalancer, count] of counts) set({ loadbalancer }, count);
  });
}
