// `fairlead sim cluster …`: simulated nodes on any API server, and faults on order in those that run. An order is an
// annotation, so that it reaches the simulator through the API server, whoever runs it and wherever.
import { fail, ok, untilAborted, type Result } from '@fairlead/core';
import { nodes, pods, type Kube, type Node } from '@fairlead/kube';
import { wayTo } from '@fairlead/kube/node';
import { cluster } from '@fairlead/sim-cluster';
import { systemClock } from './clock.ts';
import { connectTo, random } from './connect.ts';
import { untilSignal } from './signals.ts';

export interface ClusterAccessOptions {
  kubeconfig: string;
  context?: string;
}

const prefix = 'sim.fairlead.io';
const label = `${prefix}/cluster`;

/** What is done to a pod or a node, and the sentence that says so. */
export type Order = (kube: Kube, name: string, namespace: string) => Promise<Result<string>>;

/** The containers of a pod end with 1, once; its restart policy says what follows. */
export const crash: Order = async (kube, name, namespace) => {
  const pod = await kube.get(pods, { name, namespace });
  if (!pod.ok)
    return missing(pod.problem, `pod ${name} in namespace ${namespace}`, 'Give its namespace with -n NAMESPACE.');
  const on = pod.value.spec?.nodeName;
  if (!on)
    return fail('invalid', `pod ${namespace}/${name} is on no node yet: wait until kubectl get pod shows it Running`);
  const node = await simulated(kube, on);
  if (!node.ok) return node;
  // Any change of it is an order; a moment is always a change.
  const order = { [`${prefix}/crash`]: new Date(systemClock.now()).toISOString() };
  const written = await kube.patch(
    pods,
    { name, namespace },
    { type: 'merge', body: { metadata: { annotations: order } } },
  );
  return written.ok ? ok(`pod ${namespace}/${name} is told to crash`) : written;
};

/** The node goes silent with all that runs on it, until it is restored. */
export const loseNode: Order = async (kube, name) => {
  const marked = await mark(kube, name, 'true');
  return marked.ok
    ? ok(
        `node ${name} is lost: Unknown in about 40 s, its pods away after five minutes. Back: fairlead sim cluster restore-node ${name}`,
      )
    : marked;
};

export const restoreNode: Order = async (kube, name) => {
  const marked = await mark(kube, name, null);
  return marked.ok ? ok(`node ${name} is restored`) : marked;
};

async function mark(kube: Kube, name: string, lost: 'true' | null): Promise<Result<void>> {
  const node = await simulated(kube, name);
  if (!node.ok) return node;
  const isLost = node.value.metadata.annotations?.[`${prefix}/lost`] === 'true';
  if (isLost === (lost === 'true')) return fail('invalid', `node ${name} is ${isLost ? 'lost already' : 'not lost'}`);
  const body = { metadata: { annotations: { [`${prefix}/lost`]: lost } } };
  const written = await kube.patch(nodes, { name }, { type: 'merge', body });
  return written.ok ? ok(undefined) : written;
}

/** Only a simulator hears of annotations: a real node would go on, and the order be forgotten. */
async function simulated(kube: Kube, name: string): Promise<Result<Node>> {
  const node = await kube.get(nodes, { name });
  if (!node.ok) return missing(node.problem, `node ${name}`, 'kubectl get nodes shows those there are.');
  if (node.value.metadata.labels?.[label]) return node;
  return fail('invalid', `node ${name} is not simulated: it has no label ${label}, and nothing there hears of faults`);
}

function missing(problem: { code: 'missing' | string; message: string }, what: string, hint: string): Result<never> {
  return problem.code === 'missing'
    ? fail('missing', `there is no ${what}. ${hint} Another cluster: --context NAME`)
    : fail('unreachable', `${problem.message}. Is an environment running (npm start), or --kubeconfig FILE missing?`);
}

export interface OrderOptions extends ClusterAccessOptions {
  namespace?: string;
}

/** Runs one order against the cluster of the options; 1 when it could not be given. */
export async function give(order: Order, name: string, options: OrderOptions): Promise<number> {
  const connected = await connectTo(options.kubeconfig, options.context);
  if (!connected.ok)
    return refused(`${connected.problem.message}. Start an environment with npm start, or give --kubeconfig FILE`);
  const { kube, namespace, close } = connected.value;
  const given = await order(kube, name, options.namespace ?? namespace);
  await close();
  if (!given.ok) return refused(given.problem.message);
  process.stdout.write(`${given.value}\n`);
  return 0;
}

function refused(message: string): number {
  process.stderr.write(`fairlead: ${message}\n`);
  return 1;
}

export interface StartOptions extends ClusterAccessOptions {
  name: string;
  podCidr: string;
  listenCidr?: string;
  nodes: number;
  listen: boolean;
  collect: boolean;
}

/** Simulated nodes on the API server of the options, until a signal ends them. */
export async function simCluster(options: StartOptions): Promise<number> {
  const { kubeconfig, context, name, podCidr, listenCidr, listen, collect } = options;
  const way = await wayTo({ kubeconfig, context, env: process.env, clock: systemClock });
  if (!way.ok) return refused(`${way.problem.message}. Give --kubeconfig FILE`);
  const { signal } = untilSignal();
  const sim = cluster({
    server: way.value.server,
    fetch: way.value.fetch,
    name,
    podCidr,
    ...(listenCidr === undefined ? {} : { listenCidr }),
    nodes: options.nodes,
    listen,
    collect,
    random,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  await Promise.race([sim.start(), untilAborted(signal)]);
  if (!signal.aborted) {
    const list = [...sim.nodes].map(([node, address]) => `${node} (${address})`).join(', ');
    process.stdout.write(`nodes on ${way.value.server}: ${list}. Ctrl-C ends them.\n`);
    await untilAborted(signal);
  }
  await sim.stop();
  await way.value.close();
  return 0;
}
