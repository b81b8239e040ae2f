// The simulated cluster: everything that turns workload objects into running pods and endpoints, started and stopped as one.
import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { realClock } from './clock.ts';
import { garbage } from './collect/garbage.ts';
import { namespaces } from './collect/namespaces.ts';
import { endpointSlices } from './endpoints/endpoint-slice.ts';
import { endpoints } from './endpoints/endpoints.ts';
import type { Controller, Kit, Stores } from './kit.ts';
import { makeStores } from './kit.ts';
import { client } from './kube/client.ts';
import { recorder } from './kube/events.ts';
import type { Kind } from './kube/kinds.ts';
import { kinds } from './kube/kinds.ts';
import type { KubeObject } from './kube/objects.ts';
import { reflect } from './kube/reflector.ts';
import type { Store } from './kube/store.ts';
import type { Credentials, Transport } from './kube/transport.ts';
import { overFetch, overHttp } from './kube/transport.ts';
import { addressPool, translation } from './kubelet/addresses.ts';
import type { Kubelet } from './kubelet/kubelet.ts';
import { kubelet } from './kubelet/kubelet.ts';
import type { Nodes } from './nodes/nodes.ts';
import { nodeFaults, type NodeFaults } from './nodes/faults.ts';
import { nodeLifecycle } from './nodes/lifecycle.ts';
import { nodeAgents } from './nodes/nodes.ts';
import { scheduler } from './nodes/scheduler.ts';
import { timers } from './turns/timers.ts';
import { deployments } from './workloads/deployment.ts';
import { daemonSets } from './workloads/daemon-set.ts';
import { disruptionBudgets } from './workloads/disruption.ts';
import { replicaSets } from './workloads/replica-set.ts';
import { statefulSets } from './workloads/stateful-set.ts';

export interface ClusterOptions extends Credentials {
  /** What the cluster calls itself: in node names, in answers of its pods. */
  name: string;
  /** The IPv4 block of its pods and nodes, such as 127.21.0.0/16: on Linux all of 127/8 can be listened on. */
  podCidr: string;
  /** Where pods listen instead, each at the same place in this block; a real kube-apiserver refuses endpoints in 127/8. */
  listenCidr?: string;
  /** How many nodes; 3 unless told. Their zones alternate over zone-a, zone-b, zone-c. */
  nodes?: number;
  /** False: pods exist and are ready but open no ports, for scale. */
  listen?: boolean;
  /** An API server in this process, with the shape of fetch; then nothing goes over the network. */
  fetch?: (request: Request) => Promise<Response>;
  /** True: also collect garbage, empty deleted namespaces and make default ServiceAccounts, for a kube-apiserver with no controller manager. */
  collect?: boolean;
  /** How old a node's Lease may be before the node counts as lost; 40 unless told. */
  nodeGraceSeconds?: number;
  clock?: Clock;
  /** Uniform in [0, 1). */
  random?: () => number;
  log?: (line: string) => void;
}

/** A cluster that can be hurt on command. Pods are named `namespace/name`. */
export interface Cluster {
  /** Resolves when the nodes are Ready and every controller runs. */
  start(): Promise<void>;
  /** Closes every listener and connection. The API's objects stay: a later start goes on with the same pods and addresses. */
  stop(): Promise<void>;
  /** Node names with their addresses. */
  readonly nodes: ReadonlyMap<string, string>;
  /** The containers of a pod exit with `code` (1), connections reset; the restart policy says what follows. */
  crash(pod: string, code?: number): void;
  /** The node's heartbeats and all its containers end, without a word to the API server. */
  loseNode(node: string): Promise<void>;
  restoreNode(node: string): void;
  /** The last lines that a container wrote in its present life; the first container unless told. */
  logs(pod: string, container?: string): string[];
}

export function cluster(options: ClusterOptions): Cluster {
  const { node: addressOfNode, capacity } = addressPool(options.podCidr);
  const count = options.nodes ?? 3;
  const names = Array.from({ length: count }, (_, n) => `${options.name}-node-${n + 1}`);
  const nodes = new Map(names.map((name, n) => [name, addressOfNode(n)]));
  let running: Running | undefined;

  const must = () => {
    if (!running) throw new Error(`cluster ${options.name} is not started`);
    return running;
  };
  const runOf = (pod: string) => {
    const run = must().kubelet.runs.get(pod);
    if (!run) throw new Error(`cluster ${options.name} runs no pod ${pod}`);
    return run;
  };
  return {
    nodes,
    async start() {
      if (running) throw new Error(`cluster ${options.name} is started already`);
      // A pool of its own for each start: who has which address is what the API says by then.
      const pool = addressPool(options.podCidr);
      running = assemble(options, { pool, nodes, podsPerNode: Math.floor(capacity / count) });
      await begin(running);
    },
    async stop() {
      const present = running;
      running = undefined;
      if (present) await end(present);
    },
    crash: (pod, code = 1) => runOf(pod).crash(code),
    async loseNode(node) {
      must().nodes.lose(node);
      await must().kubelet.lose(node);
    },
    restoreNode(node) {
      must().kubelet.restore(node);
      must().nodes.restore(node);
    },
    logs(pod, container) {
      const run = runOf(pod);
      const found = container === undefined ? run.containers[0] : run.container(container);
      if (!found) throw new Error(`pod ${pod} has no container ${container}`);
      return (found.presentLog?.from(0) ?? []).map((line) => line.text);
    },
  };
}

interface Running {
  kit: Kit;
  transport: Transport;
  kubelet: Kubelet;
  nodes: Nodes;
  faults: NodeFaults;
  controllers: Controller[];
  stopping: AbortController;
  reflectors: Promise<void>[];
  collect: boolean;
}

interface Places {
  pool: ReturnType<typeof addressPool>;
  nodes: ReadonlyMap<string, string>;
  podsPerNode: number;
}

function assemble(options: ClusterOptions, { pool, nodes, podsPerNode }: Places): Running {
  const { name, clock = realClock, random = Math.random } = options;
  const stopping = new AbortController();
  // What fails because we stop is no news.
  const log = (line: string) => (stopping.signal.aborted ? undefined : options.log?.(`${name}: ${line}`));
  const transport = options.fetch ? overFetch(options, options.fetch) : overHttp(options);
  const stores = makeStores();
  const api = client(transport, new Map(Object.entries(stores) as unknown as [string, Store<KubeObject>][]));
  const kit: Kit = {
    client: api,
    stores,
    clock,
    timers: timers(clock),
    random,
    log,
    record: recorder({ client: api, clock, log }),
  };
  const listenAt = translation(options.podCidr, options.listenCidr ?? options.podCidr);
  const pods = kubelet({
    kit,
    cluster: name,
    listen: options.listen ?? true,
    pool,
    nodes,
    listenAt,
  });
  const agents = nodeAgents({ kit, cluster: name, nodes, podsPerNode, listenAt, portOf: pods.portOf });
  const faults = nodeFaults({
    kit,
    nodes,
    lose(node) {
      agents.lose(node);
      return pods.lose(node);
    },
    restore(node) {
      pods.restore(node);
      agents.restore(node);
    },
  });
  return {
    kit,
    transport,
    kubelet: pods,
    nodes: agents,
    faults,
    controllers: [faults, agents, pods, ...managers(options, kit, nodes)],
    stopping,
    reflectors: [],
    collect: options.collect ?? false,
  };
}

/** What a kube-scheduler and a kube-controller-manager run. */
const managers = (options: ClusterOptions, kit: Kit, nodes: Places['nodes']): Controller[] => [
  scheduler(kit),
  replicaSets(kit),
  deployments(kit),
  statefulSets(kit),
  daemonSets(kit),
  disruptionBudgets(kit),
  ...(options.collect ? [garbage(kit), namespaces(kit)] : []),
  nodeLifecycle({ kit, cluster: options.name, nodes, graceMs: (options.nodeGraceSeconds ?? 40) * 1000 }),
  endpointSlices(kit),
  endpoints(kit),
];

const watched: Partial<Record<keyof Stores, Kind>> = {
  pods: kinds.pod,
  services: kinds.service,
  nodes: kinds.node,
  deployments: kinds.deployment,
  replicasets: kinds.replicaSet,
  statefulsets: kinds.statefulSet,
  daemonsets: kinds.daemonSet,
  controllerrevisions: kinds.controllerRevision,
  poddisruptionbudgets: kinds.podDisruptionBudget,
  endpointslices: kinds.endpointSlice,
  endpoints: kinds.endpoints,
};

async function begin({
  kit,
  kubelet: pods,
  nodes,
  faults,
  controllers,
  stopping,
  reflectors,
  collect,
}: Running): Promise<void> {
  const all: typeof watched = collect ? { ...watched, namespaces: kinds.namespace } : watched;
  // Every watch listens to the one signal; more than ten of them is not a leak.
  setMaxListeners(0, stopping.signal);
  const synced = Object.entries(all).map(([name, kind]) => {
    const store = kit.stores[name as keyof Stores] as unknown as Store<KubeObject>;
    return new Promise<void>((done) => {
      const following = reflect({ ...kit, kind, store }, stopping.signal, done);
      reflectors.push(following);
      // Stopped before the server answered, there is nothing more to wait for.
      stopping.signal.addEventListener('abort', () => done(), { once: true });
    });
  });
  await Promise.all(synced);
  if (stopping.signal.aborted) return;
  await pods.listen();
  await faults.prepare();
  await nodes.register(stopping.signal);
  if (!stopping.signal.aborted) for (const one of controllers) one.open();
}

async function end({ kit, transport, controllers, stopping, reflectors }: Running): Promise<void> {
  stopping.abort();
  // Requests over the network are cut off, as when the process dies: what they were for is found again at the next start.
  await transport.close();
  await Promise.all(controllers.map((one) => one.close()));
  kit.timers.stop();
  await Promise.all(reflectors);
}
