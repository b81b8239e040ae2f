// `fairlead run`: the controllers against real clusters, until a signal ends them.
import { fail, ok, type Policy, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { addressMap } from './address-map.ts';
import { parseReach } from './admission/configuration.ts';
import { startWebhooks, type Webhooks } from './admission/webhooks.ts';
import { systemClock } from './clock.ts';
import { connectTo, kubeconfigOpener, random } from './connect.ts';
import { contextsOf } from './contexts.ts';
import { runControllers } from './controllers.ts';
import { jsonLog, type Log } from './log.ts';
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
  webhook?: string;
  webhookUrl?: string;
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
  const hooks = await webhooksOf(options, clients.value, log);
  if (!hooks.ok) {
    process.stderr.write(`fairlead run: ${hooks.problem.message}\n`);
    return 1;
  }
  const { signal } = untilSignal();
  const served = hooks.value?.run(signal);
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
  await served;
  return 0;
}

/** Undefined when admission is not asked for. */
async function webhooksOf(
  { webhook, webhookUrl, namespace }: RunOptions,
  clients: { management: Kube; clusters: Map<string, Kube> },
  log: Log,
): Promise<Result<Webhooks | undefined>> {
  if (webhook === undefined && webhookUrl === undefined) {
    log.warn('admission is not served (--webhook): wrong objects are stored, and passwords in the clear stay');
    return ok(undefined);
  }
  const [, host = '', port = ''] = /^(?:\[?([^\]]*)\]?:)?(\d+)$/.exec(webhook ?? '') ?? [];
  if (!port || webhookUrl === undefined)
    return fail(
      'invalid',
      '--webhook [HOST:]PORT and --webhook-url go together: where to listen, and how to be reached',
    );
  const reach = parseReach(webhookUrl);
  if (!reach.ok) return fail('invalid', `--webhook-url ${reach.problem.message}`);
  const place = { host: host || '0.0.0.0', port: Number(port), reach: () => reach.value };
  return startWebhooks({ ...place, ...clients, namespace, clock: systemClock, log });
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
