// Watches over our nodes as Kubernetes' node controller does: a node whose Lease is not renewed is called Unknown and
// tainted, its pods are no longer Ready, and after their toleration they are deleted. Also cleans up after nodes that are gone.
//
//   Ready ──Lease older than the grace──> Unknown, tainted unreachable ──toleration over──> pods deleted
//     ^────────────kubelet reports again, taints removed──────┘
import { timestamp } from '../clock.ts';
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import type { Node, Pod, Taint } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { conditionOf, isEnded, isReady } from '../workloads/pod-state.ts';
import { withCondition } from '../workloads/status.ts';
import { isTolerated } from './fit.ts';
import { clusterLabel } from './nodes.ts';

export interface LifecycleOptions {
  kit: Kit;
  cluster: string;
  nodes: ReadonlyMap<string, string>;
  /** How old a Lease may be, in ms. */
  graceMs: number;
}

/** A pod that says nothing tolerates a lost node so long, as the admission of a real server would write into it. */
const toleratedMs = 300_000;
/** A node that is not there may only be late in our store. */
const quarantineMs = 40_000;

const unreachable = 'node.kubernetes.io/unreachable';
const notReady = 'node.kubernetes.io/not-ready';

export function nodeLifecycle(options: LifecycleOptions): Controller {
  const { kit, cluster } = options;
  const { stores, timers, log } = kit;
  const isOurs = (node: Node | undefined) => node?.metadata.labels?.[clusterLabel] === cluster;
  const watch = queue({ name: 'node-lifecycle', timers, log, turn: (key) => watchNode(options, key) });
  const orphans = queue({ name: 'pod-gc', timers, log, turn: (key) => collectOrphan(kit, key) });
  stores.nodes.onChange(({ key, before, after }) => {
    if (isOurs(after)) watch.add(key);
    if (before && !after) for (const pod of stores.pods.by('node', key)) orphans.add(keyOf(pod));
  });
  return {
    open() {
      for (const node of stores.nodes.all()) if (isOurs(node)) watch.add(node.metadata.name);
      for (const pod of stores.pods.all())
        if (pod.spec.nodeName && !stores.nodes.get(pod.spec.nodeName)) orphans.add(keyOf(pod));
      watch.open();
      orphans.open();
    },
    async close() {
      await Promise.all([watch.close(), orphans.close()]);
    },
  };
}

async function watchNode(options: LifecycleOptions, name: string): Promise<Next> {
  const { kit, nodes, graceMs } = options;
  const node = kit.stores.nodes.get(name);
  if (!node) return { after: 'change' };
  // Left from an earlier start with more nodes: it will never be Ready again.
  if (!nodes.has(name)) {
    const removed = await kit.client.remove(kinds.node, node.metadata, { uid: node.metadata.uid });
    return removed.ok ? { after: 'change' } : { problem: removed.problem };
  }
  const lease = await kit.client.read(kinds.lease, { namespace: 'kube-node-lease', name });
  if (!lease.ok && lease.problem.status !== 404) return { problem: lease.problem };
  const now = kit.clock.now();
  const renewed = lease.ok
    ? Date.parse(lease.value.spec.renewTime ?? '')
    : Date.parse(node.metadata.creationTimestamp ?? '');
  const left = renewed + graceMs - now;
  const problem = left > 0 ? await setTaints(kit, node) : await callLost(kit, node, now);
  if (problem) return { problem };
  return left > 0 ? { after: left } : evict(kit, node, now);
}

/** What the taints should be by the Ready condition; others' taints are kept. */
function taintsFor(node: Node, now: number): Taint[] {
  const ready = conditionOf(node.status?.conditions, 'Ready')?.status;
  const key = ready === 'True' ? undefined : ready === 'False' ? notReady : unreachable;
  const present = node.spec?.taints ?? [];
  const others = present.filter((one) => one.key !== notReady && one.key !== unreachable);
  if (!key) return others;
  const timeAdded = present.find((one) => one.key === key && one.effect === 'NoExecute')?.timeAdded ?? timestamp(now);
  return [...others, { key, effect: 'NoSchedule' }, { key, effect: 'NoExecute', timeAdded }];
}

async function setTaints(kit: Kit, node: Node): Promise<Problem | undefined> {
  const taints = taintsFor(node, kit.clock.now());
  const brief = (list: Taint[]) => list.map(({ key, effect }) => `${key}:${effect}`).join();
  if (brief(taints) === brief(node.spec?.taints ?? [])) return undefined;
  const { resourceVersion } = node.metadata;
  const result = await kit.client.patch(kinds.node, node.metadata, {
    metadata: { resourceVersion },
    spec: { taints: taints.length > 0 ? taints : null },
  });
  return result.ok ? undefined : result.problem;
}

async function callLost(kit: Kit, node: Node, now: number): Promise<Problem | undefined> {
  const at = timestamp(now);
  let latest = node;
  if (conditionOf(node.status?.conditions, 'Ready')?.status !== 'Unknown') {
    let conditions = node.status?.conditions ?? [];
    for (const { type } of conditions) {
      conditions = withCondition(
        conditions,
        { type, status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
        at,
      );
    }
    const told = await kit.client.patch(
      kinds.node,
      node.metadata,
      { status: { conditions } },
      { subresource: 'status' },
    );
    if (!told.ok) return told.problem;
    latest = told.value;
    kit.record(latest, 'Normal', 'NodeNotReady', `Node ${node.metadata.name} status is now: NodeNotReady`);
  }
  for (const pod of kit.stores.pods.by('node', node.metadata.name).filter(isReady)) {
    const conditions = withCondition(
      pod.status?.conditions ?? [],
      { type: 'Ready', status: 'False', reason: 'NodeNotReady', message: undefined },
      at,
    );
    const { uid, resourceVersion } = pod.metadata;
    const told = await kit.client.patch(
      kinds.pod,
      pod.metadata,
      { metadata: { uid, resourceVersion }, status: { conditions } },
      { subresource: 'status' },
    );
    if (!told.ok && told.problem.status !== 404) return told.problem;
  }
  return setTaints(kit, latest);
}

/** Deletes pods whose toleration of the lost node is over; they stay terminating until the node comes back or is deleted. */
async function evict(kit: Kit, node: Node, now: number): Promise<Next> {
  const taint = kit.stores.nodes
    .get(node.metadata.name)
    ?.spec?.taints?.find((one) => one.key === unreachable && one.effect === 'NoExecute');
  if (!taint) return { after: 0 };
  const since = Date.parse(taint.timeAdded ?? timestamp(now));
  let next = Number.POSITIVE_INFINITY;
  for (const pod of kit.stores.pods.by('node', node.metadata.name)) {
    if (pod.metadata.deletionTimestamp || isEnded(pod)) continue;
    const left = since + toleration(pod, taint) - now;
    if (left > 0) next = Math.min(next, left);
    else {
      kit.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${keyOf(pod)}`);
      const removed = await kit.client.remove(kinds.pod, pod.metadata, { uid: pod.metadata.uid });
      if (!removed.ok) return { problem: removed.problem };
    }
  }
  return { after: Number.isFinite(next) ? next : 'change' };
}

/** How long a pod tolerates `taint`, in ms; Infinity for ever. */
export function toleration(pod: Pod, taint: Taint): number {
  const fitting = (pod.spec.tolerations ?? []).filter((one) => isTolerated(taint, [one]));
  if (fitting.length === 0) return toleratedMs;
  return Math.min(
    ...fitting.map((one) =>
      one.tolerationSeconds === undefined ? Number.POSITIVE_INFINITY : one.tolerationSeconds * 1000,
    ),
  );
}

/** A pod whose node does not exist has nobody to end it. */
async function collectOrphan(kit: Kit, key: string): Promise<Next> {
  const { stores, clock, client } = kit;
  const pod = stores.pods.get(key);
  if (!pod?.spec.nodeName || stores.nodes.get(pod.spec.nodeName)) return { after: 'change' };
  const missing = await client.read(kinds.node, { name: pod.spec.nodeName });
  if (missing.ok) return { after: 'change' };
  if (missing.problem.status !== 404) return { problem: missing.problem };
  const age = clock.now() - Date.parse(pod.metadata.creationTimestamp ?? '');
  if (age < quarantineMs) return { after: quarantineMs - age };
  const removed = await client.remove(kinds.pod, pod.metadata, { graceSeconds: 0, uid: pod.metadata.uid });
  return removed.ok ? { after: 'change' } : { problem: removed.problem };
}
