// Our Node objects: made, kept Ready, and their Leases renewed as a kubelet does.
import { microTimestamp, timestamp } from '../clock.ts';
import type { Controller, Kit } from '../kit.ts';
import type { Result } from '../kube/client.ts';
import { kinds } from '../kube/kinds.ts';
import type { Condition, Lease, Node } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { withCondition } from '../workloads/status.ts';

const renewEvery = 10_000;
const registerAgain = 500;
const reportEvery = 300_000;
const leaseSeconds = 40;
const leases = 'kube-node-lease';

export const clusterLabel = 'sim.fairlead.io/cluster';

export interface NodesOptions {
  kit: Kit;
  cluster: string;
  /** Our nodes and their addresses. */
  nodes: ReadonlyMap<string, string>;
  /** Pods that fit on one node. */
  podsPerNode: number;
  /** Where an address is listened on. */
  listenAt(ip: string): string;
  /** The port of a node's kubelet there. */
  portOf(node: string): number | undefined;
}

export interface Nodes extends Controller {
  /** Makes the objects; resolves when every node is Ready in the API, or `signal` aborts. */
  register(signal: AbortSignal): Promise<void>;
  lose(node: string): void;
  restore(node: string): void;
}

/** `zone-a`, `zone-b`, `zone-c`, in turn. */
export function zoneOf(n: number): string {
  return `zone-${'abc'[n % 3]!}`;
}

export function nodeAgents(options: NodesOptions): Nodes {
  const { kit, nodes } = options;
  const lost = new Set<string>();
  const reportedAt = new Map<string, number>();
  const beat = async (name: string): Promise<Next> => {
    if (lost.has(name)) return { after: 'change' };
    const now = kit.clock.now();
    const isDue = now - (reportedAt.get(name) ?? 0) >= reportEvery || isUnready(kit.stores.nodes.get(name));
    const reported = isDue ? await registerNode(options, name) : undefined;
    if (reported && !reported.ok) return { problem: reported.problem };
    if (isDue) reportedAt.set(name, now);
    const renewed = await renew(kit, name);
    return renewed.ok ? { after: renewEvery } : { problem: renewed.problem };
  };
  const turns = queue({ name: 'node', timers: kit.timers, log: kit.log, turn: beat });
  kit.stores.nodes.onChange(({ key, before, after }) => {
    // Deleted by somebody, or called unready: a living kubelet says otherwise.
    if (nodes.has(key) && (!after || (isUnready(after) && before))) turns.add(key);
  });
  return {
    async register(signal) {
      for (const name of nodes.keys()) {
        for (let next = await beat(name); 'problem' in next && !signal.aborted; next = await beat(name)) {
          kit.log(`node ${name}: ${next.problem.message}`);
          await kit.clock.sleep(registerAgain, signal);
        }
      }
    },
    open() {
      turns.open();
      for (const name of nodes.keys()) turns.add(name);
    },
    close: () => turns.close(),
    lose: (node) => void lost.add(node),
    restore(node) {
      lost.delete(node);
      reportedAt.delete(node);
      turns.add(node);
    },
  };
}

function isUnready(node: Node | undefined): boolean {
  return node?.status?.conditions?.find((one) => one.type === 'Ready')?.status !== 'True';
}

async function registerNode(options: NodesOptions, name: string): Promise<Result<unknown>> {
  const { kit, cluster, nodes } = options;
  const n = [...nodes.keys()].indexOf(name);
  const zone = zoneOf(n);
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'topology.kubernetes.io/region': cluster,
    'topology.kubernetes.io/zone': zone,
    [clusterLabel]: cluster,
  };
  let found = await kit.client.read(kinds.node, { name });
  if (!found.ok && found.problem.status === 404)
    found = await kit.client.create<Node>(kinds.node, { metadata: { name, labels }, spec: {} });
  if (!found.ok) return found;
  const { client, clock } = kit;
  if (found.value.metadata.labels?.[clusterLabel] !== cluster) {
    const labelled = await client.patch(kinds.node, { name }, { metadata: { labels } });
    if (!labelled.ok) return labelled;
  }
  const status = statusOf(options, found.value, timestamp(clock.now()));
  return client.patch(kinds.node, { name }, { status }, { subresource: 'status' });
}

function statusOf({ nodes, podsPerNode, listenAt, portOf }: NodesOptions, node: Node, at: string): object {
  const { name, uid } = node.metadata;
  const size = { cpu: '8', memory: '32Gi', pods: String(podsPerNode) };
  const port = portOf(name);
  return {
    conditions: conditions(node, at),
    // Where its kubelet is reached. No host name: nothing resolves it, and a kube-apiserver would try it first.
    addresses: [{ type: 'InternalIP', address: listenAt(nodes.get(name)!) }],
    // A port of an earlier life must not stay: null takes it away.
    daemonEndpoints: port === undefined ? null : { kubeletEndpoint: { Port: port } },
    capacity: size,
    allocatable: size,
    nodeInfo: nodeInfo(name, uid),
  };
}

function conditions(node: Node, at: string): Condition[] {
  const fine = (type: string, reason: string, message: string): Condition => ({
    type,
    status: 'False',
    reason,
    message,
  });
  const wanted: Condition[] = [
    fine('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    fine('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    fine('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ];
  let all = node.status?.conditions ?? [];
  for (const one of wanted) all = withCondition(all, one, at);
  return all.map((one) => ({ ...one, lastHeartbeatTime: at }));
}

function nodeInfo(name: string, uid: string): Record<string, string> {
  return {
    machineID: uid,
    systemUUID: uid,
    bootID: uid,
    kernelVersion: 'sim',
    osImage: 'Simulated node',
    containerRuntimeVersion: 'sim://1',
    kubeletVersion: 'v1.34.0-sim',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
    hostname: name,
  };
}

async function renew({ client, clock }: Kit, name: string): Promise<Result<unknown>> {
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp(clock.now()) };
  const place = { namespace: leases, name };
  const patched = await client.patch(kinds.lease, place, { spec });
  if (patched.ok || patched.problem.status !== 404) return patched;
  const made = await client.create<Lease>(kinds.lease, { metadata: place, spec });
  if (made.ok || made.problem.status !== 404) return made;
  const space = await client.create(kinds.namespace, { metadata: { name: leases } });
  return space.ok ? client.create<Lease>(kinds.lease, { metadata: place, spec }) : space;
}
