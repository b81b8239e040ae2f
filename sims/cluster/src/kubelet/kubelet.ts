// The kubelet of all our nodes: pods bound to them run here, and their status is written when it changes.
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { kinds } from '../kube/kinds.ts';
import type { Pod } from '../kube/objects.ts';
import type { Next, Queue } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { isEnded } from '../workloads/pod-state.ts';
import { differs } from '../workloads/status.ts';
import type { AddressPool } from './addresses.ts';
import type { NodeServer } from './node-server.ts';
import { nodeServer } from './node-server.ts';
import { PodRun } from './pod-run.ts';
import { podStatus } from './pod-status.ts';

export interface KubeletOptions {
  kit: Kit;
  cluster: string;
  listen: boolean;
  pool: AddressPool;
  /** Where an address is listened on. */
  listenAt(ip: string): string;
  /** Our nodes and their addresses. */
  nodes: ReadonlyMap<string, string>;
}

export interface Kubelet extends Controller {
  /** The containers of a node's pods vanish, and nothing is reported, until it is restored. */
  lose(node: string): Promise<void>;
  restore(node: string): void;
  /** Opens the endpoint of each node. One that cannot listen is told of in the log, and has no port. */
  listen(): Promise<void>;
  /** Where the endpoint of a node listens. */
  portOf(node: string): number | undefined;
  /** Running pods by key. */
  readonly runs: ReadonlyMap<string, PodRun>;
}

export function kubelet(options: KubeletOptions): Kubelet {
  const { kit, nodes } = options;
  const { stores, timers, log } = kit;
  const runs = new Map<string, PodRun>();
  const servers = new Map<string, NodeServer>();
  let opening = Promise.resolve();
  const lost = new Set<string>();
  const isOurs = (pod: Pod) => nodes.has(pod.spec.nodeName ?? '') && !lost.has(pod.spec.nodeName ?? '');
  const turns: Queue = queue({
    name: 'kubelet',
    timers,
    log,
    width: 64,
    turn: (key) => turn({ ...options, runs, isOurs, again: () => turns.add(key) }, key),
  });
  stores.pods.onChange(({ key, before, after }) => {
    if (nodes.has((after ?? before)!.spec.nodeName ?? '')) turns.add(key);
  });
  return {
    runs,
    listen: () => (opening = openServers(options, runs, servers)),
    portOf: (node) => servers.get(node)?.port,
    open() {
      claimAddresses(options);
      turns.open();
    },
    async close() {
      await turns.close();
      // Stopped while it starts: what is opened yet must be closed too.
      await opening;
      await Promise.all([...servers.values()].map((server) => server.close()));
      servers.clear();
      await Promise.all([...runs.values()].map((run) => run.kill()));
      runs.clear();
    },
    async lose(node) {
      lost.add(node);
      servers.get(node)?.lose();
      const gone = [...runs].filter(([, run]) => run.pod.spec.nodeName === node);
      for (const [key] of gone) runs.delete(key);
      await Promise.all(gone.map(([, run]) => run.kill()));
    },
    restore(node) {
      lost.delete(node);
      servers.get(node)?.restore();
      for (const pod of stores.pods.by('node', node)) turns.add(`${pod.metadata.namespace}/${pod.metadata.name}`);
    },
  };
}

async function openServers(
  { kit, cluster, listen, listenAt, nodes }: KubeletOptions,
  runs: ReadonlyMap<string, PodRun>,
  servers: Map<string, NodeServer>,
): Promise<void> {
  for (const [node, ip] of listen ? nodes : []) {
    const opened = await nodeServer({ node, ip: listenAt(ip), cluster, clock: kit.clock, runs });
    if (opened.ok) servers.set(node, opened.server);
    else kit.log(`node ${node} can show no logs: ${opened.message}`);
  }
}

/** Addresses of pods that ran in an earlier life are theirs before any new pod gets one. The older pod wins a quarrel. */
function claimAddresses({ kit, nodes, pool }: KubeletOptions): void {
  const ours = [...kit.stores.pods.all()].filter(
    (pod) => nodes.has(pod.spec.nodeName ?? '') && pod.status?.podIP && !isEnded(pod),
  );
  ours.sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1));
  for (const pod of ours) if (!pod.spec.hostNetwork) pool.claim(pod.status!.podIP!, pod.metadata.uid);
}

interface Turn extends KubeletOptions {
  runs: Map<string, PodRun>;
  isOurs(pod: Pod): boolean;
  again(): void;
}

async function turn(t: Turn, key: string): Promise<Next> {
  const { kit, runs, pool } = t;
  const pod = kit.stores.pods.get(key);
  let run = runs.get(key);
  if (run && run.uid !== pod?.metadata.uid) {
    runs.delete(key);
    await run.kill();
    pool.release(run.ip, run.uid);
    run = undefined;
  }
  if (!pod || !t.isOurs(pod)) return { after: 'change' };
  if (!run) {
    if (isEnded(pod)) return pod.metadata.deletionTimestamp ? finish(kit, pod) : { after: 'change' };
    const ip = addressOf(t, pod);
    if (ip === undefined) {
      kit.record(pod, 'Warning', 'FailedCreatePodSandBox', 'no free address in the pod CIDR');
      return { after: 1000 };
    }
    const { cluster, listen } = t;
    run = new PodRun(pod, {
      kit,
      cluster,
      listen,
      ip,
      listenIp: t.listenAt(ip),
      hostIp: t.nodes.get(pod.spec.nodeName!)!,
      changed: t.again,
    });
    runs.set(key, run);
    // A pod that was being deleted when the simulator ended gets no second life, only the end of its first.
    if (!pod.metadata.deletionTimestamp) await run.begin();
  }
  // Starting took a moment; the newest object decides.
  const latest = kit.stores.pods.get(key);
  if (latest?.metadata.uid !== run.uid) return { after: 0 };
  run.update(latest);
  const problem = await report(kit, latest, run);
  if (problem) return { problem };
  return run.isStopped ? finish(kit, latest) : { after: 'change' };
}

function addressOf({ pool, nodes }: Turn, pod: Pod): string | undefined {
  if (pod.spec.hostNetwork) return nodes.get(pod.spec.nodeName!);
  const before = pod.status?.podIP;
  if (before && pool.claim(before, pod.metadata.uid)) return before;
  return pool.take(pod.metadata.uid);
}

/** One merged patch, with the version it was computed from: a gate's condition written meanwhile must not be lost. */
async function report(kit: Kit, pod: Pod, run: PodRun): Promise<Problem | undefined> {
  const status = podStatus(pod, run.view(), kit.clock.now());
  if (!differs(pod.status, status)) return undefined;
  const { uid, resourceVersion } = pod.metadata;
  const result = await kit.client.patch(
    kinds.pod,
    pod.metadata,
    { metadata: { uid, resourceVersion }, status },
    { subresource: 'status' },
  );
  if (result.ok || result.problem.status === 404) return undefined;
  // Ask rather than wait for the watch: readiness should not depend on how far behind it is.
  if (result.problem.status === 409) await kit.client.read(kinds.pod, pod.metadata);
  return result.problem;
}

/** The pod has ended and its deletion was asked for: only now does the object go. */
async function finish(kit: Kit, pod: Pod): Promise<Next> {
  // Asked for already; what holds the object now is somebody's finalizer.
  if (pod.metadata.deletionGracePeriodSeconds === 0) return { after: 'change' };
  const result = await kit.client.remove(kinds.pod, pod.metadata, { graceSeconds: 0, uid: pod.metadata.uid });
  // Another pod has the name already: ours is gone.
  if (result.ok || result.problem.status === 409) return { after: 'change' };
  return { problem: result.problem };
}
