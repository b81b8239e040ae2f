// `fairlead run`: the controllers against real clusters, until a signal ends them. Of several, one works at a time.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { fail, ok, type Policy, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import type { Connected } from '@fairlead/kube/node';
import { addressMap, type AddressMap } from './address-map.ts';
import { parseReach } from './admission/configuration.ts';
import { startWebhooks, type Webhooks } from './admission/webhooks.ts';
import { systemClock } from './clock.ts';
import { connectTo, kubeconfigOpener, random, type ConnectHow } from './connect.ts';
import { contextsWanted } from './contexts.ts';
import { runControllers } from './controllers.ts';
import { lean } from './lean.ts';
import { leading, type Leading } from './leading.ts';
import { jsonLog, type Log } from './log.ts';
import { metrics, type Metrics } from './metrics/metrics.ts';
import { parseListen, serveMetrics } from './metrics/server.ts';
import type { Served } from './serve.ts';
import { untilSignal } from './signals.ts';

export interface RunOptions {
  /** Undefined in a pod without one: target clusters are those of Secrets. */
  kubeconfig: string | undefined;
  management: string;
  cluster: string[];
  namespace: string;
  owner: string;
  policy: Policy;
  leaderElect: boolean;
  logLevel: string;
  map: string[];
  metrics: string;
  webhook?: string;
  webhookUrl?: string;
}

export async function run(options: RunOptions): Promise<number> {
  lean();
  const log = jsonLog(options.logLevel);
  const counted = metrics();
  const map = addressMap(options.map);
  const contexts = map.ok ? contextsWanted(options) : map;
  const lasting = contexts.ok ? await connectAll(options, contexts.value, { report: log.warn }) : contexts;
  const hooks = lasting.ok ? await webhooksOf(options, lasting.value, log) : lasting;
  if (!map.ok || !contexts.ok || !lasting.ok || !hooks.ok) {
    const failed = [map, contexts, lasting, hooks].find((one) => !one.ok);
    process.stderr.write(`fairlead run: ${failed?.ok === false ? failed.problem.message : ''}\n`);
    return 1;
  }
  const { signal } = untilSignal();
  // Every replica answers for admission, also one that only waits to lead.
  const served = hooks.value?.run(signal);
  const told = await tellMetrics(options, counted, log);
  if (!told.ok) {
    process.stderr.write(`fairlead run: ${told.problem.message}\n`);
    return 1;
  }
  const parts = { log, map: map.value, contexts: contexts.value, metrics: counted };
  const work = (term: AbortSignal) => oneTerm(options, parts, term);
  if (options.leaderElect) await seatOf(options, lasting.value.management, log).run(work, signal);
  else await work(signal);
  await served;
  await told.value?.close();
  await lasting.value.close();
  return 0;
}

/** Undefined when they are off. */
async function tellMetrics(
  { metrics: listen }: RunOptions,
  counted: Metrics,
  log: Log,
): Promise<Result<Served | undefined>> {
  const at = parseListen(listen);
  if (!at.ok || !at.value) return at.ok ? ok(undefined) : at;
  const served = await serveMetrics(counted, at.value);
  if (served.ok) log.info(`metrics at ${served.value.url}/metrics, health at /healthz and /readyz`);
  return served;
}

function seatOf({ namespace }: RunOptions, kube: Kube, log: Log): Leading {
  const identity = `${hostname()}_${randomUUID()}`;
  const overdue = (): void => {
    log.error('what was begun did not end with the term; another controller may work by now, so this one ends at once');
    process.exit(1);
  };
  return leading({ kube, clock: systemClock, random, namespace, identity, log, overdue });
}

/** Undefined when admission is not asked for. */
async function webhooksOf(
  { webhook, webhookUrl, namespace }: RunOptions,
  clients: Clients,
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
  const { management, clusters } = clients;
  // What becomes of the clusters is told by whoever leads.
  const open = kubeconfigOpener(log.debug);
  return startWebhooks({ ...place, management, clusters, open, namespace, clock: systemClock, random, log });
}

interface Term {
  log: Log;
  metrics: Metrics;
  map: AddressMap;
  contexts: ReadonlyMap<string, string>;
}

/** Clients are made for the term and end with it: no request of an old term is sent in a later one. */
async function oneTerm(options: RunOptions, { log, map, contexts, metrics }: Term, signal: AbortSignal): Promise<void> {
  const onTrouble = metrics.watchRestart;
  const clients = await connectAll(options, contexts, { report: log.warn, signal, onTrouble });
  // It was readable when we began. Not to work while holding the Lease would keep others from it.
  if (!clients.ok) throw new Error(clients.problem.message);
  const { management, clusters, close } = clients.value;
  log.info(
    `management cluster ${management.server}; target clusters: ${[...clusters.keys()].join(', ') || 'those in Secrets'}`,
  );
  const { namespace, owner, policy } = options;
  const open = kubeconfigOpener(log.warn, onTrouble);
  const parts = { management, clusters, open, namespace, map, clock: systemClock, random, owner, policy, log, metrics };
  await runControllers(parts, signal);
  await close();
}

interface Clients {
  management: Kube;
  clusters: Map<string, Kube>;
  close(): Promise<void>;
}

async function connectAll(
  { kubeconfig, management }: RunOptions,
  contexts: ReadonlyMap<string, string>,
  how: ConnectHow,
): Promise<Result<Clients>> {
  const all: Connected[] = [];
  const first = await connectTo(kubeconfig, management, how);
  if (!first.ok) return first;
  all.push(first.value);
  const clusters = new Map<string, Kube>();
  for (const [name, context] of contexts) {
    const connected = await connectTo(kubeconfig, context, how);
    if (!connected.ok) return connected;
    all.push(connected.value);
    clusters.set(name, connected.value.kube);
  }
  const close = async () => void (await Promise.all(all.map((one) => one.close())));
  return ok({ management: first.value.kube, clusters, close });
}
