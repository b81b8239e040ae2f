// `fairlead run`: the controllers against real clusters, until a signal ends them.
import { fail, ok, type Policy, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { addressMap } from './address-map.ts';
import { systemClock } from './clock.ts';
import { connectTo, kubeconfigOpener, random } from './connect.ts';
import { contextsOf } from './contexts.ts';
import { runControllers } from './controllers.ts';
import { jsonLog } from './log.ts';
import { untilSignal } from './signals.ts';

export interface RunOptions {
  kubeconfig: string;
  management: string;
  cluster: string[];
  namespace: string;
  owner: string;
  policy: Policy;
  logLevel: string;
  map: string[];
}

export async function run(options: RunOptions): Promise<number> {
  const map = addressMap(options.map);
  const clients = map.ok ? await connectAll(options) : map;
  if (!map.ok || !clients.ok) {
    const { problem } = map.ok ? (clients as Extract<typeof clients, { ok: false }>) : map;
    process.stderr.write(`fairlead run: ${problem.message}\n`);
    return 1;
  }
  const { management, clusters } = clients.value;
  const log = jsonLog(options.logLevel);
  log.info(`management cluster ${management.server}; target clusters: ${[...clusters.keys()].join(', ') || 'none'}`);
  const { namespace, owner, policy } = options;
  const { signal } = untilSignal();
  await runControllers(
    {
      management,
      clusters,
      open: kubeconfigOpener(log.warn),
      namespace,
      map: map.value,
      clock: systemClock,
      random,
      owner,
      policy,
      log,
    },
    signal,
  );
  return 0;
}

async function connectAll({
  kubeconfig,
  management,
  cluster,
}: RunOptions): Promise<Result<{ management: Kube; clusters: Map<string, Kube> }>> {
  const contexts = contextsOf(kubeconfig);
  if (!contexts.ok) return contexts;
  const wanted = new Map<string, string>();
  for (const entry of cluster) {
    const [name = '', context = name] = entry.split('=');
    if (!contexts.value.includes(context))
      return fail(
        'missing',
        `--cluster ${entry}: ${kubeconfig} has no context ${context}; it has: ${contexts.value.join(', ')}`,
      );
    wanted.set(name, context);
  }
  if (wanted.size === 0) for (const context of contexts.value) if (context !== management) wanted.set(context, context);
  const first = await connectTo(kubeconfig, management);
  if (!first.ok) return first;
  const clusters = new Map<string, Kube>();
  for (const [name, context] of wanted) {
    const connected = await connectTo(kubeconfig, context);
    if (!connected.ok) return connected;
    clusters.set(name, connected.value.kube);
  }
  return ok({ management: first.value.kube, clusters });
}
