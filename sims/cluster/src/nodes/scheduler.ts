// Binds pods to nodes: of those that may take a pod, the one with the fewest.
import { timestamp } from '../clock.ts';
import type { Controller, Kit } from '../kit.ts';
import { keyOf, kinds } from '../kube/kinds.ts';
import type { Node, Pod } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { isEnded } from '../workloads/pod-state.ts';
import { differs, withCondition } from '../workloads/status.ts';
import { obstacle } from './fit.ts';

export function scheduler(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const going = bindings();
  const turns = queue({ name: 'scheduler', timers, log, width: 32, turn: (key) => turn(kit, key, going) });
  const retryAll = () => {
    for (const pod of stores.pods.by('unbound', 'all')) turns.add(keyOf(pod));
  };
  stores.pods.onChange(({ key, before, after }) => {
    if (after && isWaiting(after)) return turns.add(key);
    going.end((after ?? before)!.metadata.uid);
    if (!after) retryAll();
  });
  stores.nodes.onChange(({ before, after }) => {
    const shape = (node: Node | undefined) => [
      node?.spec,
      node?.metadata.labels,
      node?.status?.conditions?.find((one) => one.type === 'Ready')?.status,
    ];
    if (JSON.stringify(shape(before)) !== JSON.stringify(shape(after))) retryAll();
  });
  return turns;
}

/** Not bound, not gated, not ending, and not another scheduler's. */
function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulingGates = [], schedulerName = 'default-scheduler' } = pod.spec;
  return (
    !nodeName &&
    schedulingGates.length === 0 &&
    schedulerName === 'default-scheduler' &&
    !pod.metadata.deletionTimestamp &&
    !isEnded(pod)
  );
}

async function turn(kit: Kit, key: string, going: Bindings): Promise<Next> {
  const { client, stores } = kit;
  const pod = stores.pods.get(key);
  if (!pod || !isWaiting(pod)) return { after: 'change' };
  const bound = ({ metadata: { name } }: Node) => stores.pods.count('node', name) + going.to(name);
  const nodes = [...stores.nodes.all()];
  const obstacles = nodes.map((node) => obstacle(pod, node, bound(node)));
  const fitting = nodes.filter((_, i) => obstacles[i] === undefined).sort((a, b) => bound(a) - bound(b));
  const [chosen] = fitting;
  if (!chosen) return reportUnschedulable(kit, pod, obstacles as string[]);

  const { name, namespace, uid } = pod.metadata;
  going.begin(uid, chosen.metadata.name);
  const result = await client.post(kinds.pod, pod.metadata, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: chosen.metadata.name },
  });
  if (result.ok) {
    kit.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${key} to ${chosen.metadata.name}`);
    return { after: 'change' };
  }
  going.end(uid);
  // Gone, or bound by somebody else: the watch will tell.
  if (result.problem.status !== 404 && result.problem.status !== 409) return { problem: result.problem };
  return { after: 'change' };
}

type Bindings = ReturnType<typeof bindings>;

/**
 * Pods bound, or being bound, that the store does not show on their node yet. They count where they go: turns run
 * side by side and ahead of the watch, and would otherwise all choose the same node.
 */
function bindings() {
  const nodeOf = new Map<string, string>();
  const counts = new Map<string, number>();
  const add = (node: string, n: number) => counts.set(node, (counts.get(node) ?? 0) + n);
  const end = (uid: string) => {
    const node = nodeOf.get(uid);
    if (node !== undefined) add(node, -1);
    nodeOf.delete(uid);
  };
  return {
    begin(uid: string, node: string) {
      end(uid);
      nodeOf.set(uid, node);
      add(node, 1);
    },
    end,
    to: (node: string) => counts.get(node) ?? 0,
  };
}

async function reportUnschedulable(kit: Kit, pod: Pod, obstacles: string[]): Promise<Next> {
  const counts = new Map<string, number>();
  for (const one of obstacles) counts.set(one, (counts.get(one) ?? 0) + 1);
  const reasons = [...counts].map(([reason, n]) => `${n} node(s) ${reason}`).join(', ');
  const message = `0/${obstacles.length} nodes are available: ${reasons || 'no nodes available to schedule pods'}.`;
  kit.record(pod, 'Warning', 'FailedScheduling', message);
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
  const status = { conditions: withCondition(pod.status?.conditions ?? [], unscheduled, timestamp(kit.clock.now())) };
  if (!differs(pod.status, status)) return { after: 'change' };
  const { uid, resourceVersion } = pod.metadata;
  const result = await kit.client.patch(
    kinds.pod,
    pod.metadata,
    { metadata: { uid, resourceVersion }, status },
    { subresource: 'status' },
  );
  return result.ok || result.problem.status === 404 ? { after: 'change' } : { problem: result.problem };
}
