// The webhook server of `fairlead run`: admission of our kinds for a real API server.
import { managementStores } from '../management-stores.ts';
import { ok, type Clock, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import type { ClustersOptions } from '../clusters/clusters.ts';
import type { Log } from '../log.ts';
import { serve } from '../serve.ts';
import { servedCertificate } from './certificate.ts';
import { hostsOf, register, type Reach } from './configuration.ts';
import { judge } from './judge.ts';
import { reviewAnswer } from './review.ts';
import { targets } from './targets.ts';

export interface WebhookOptions {
  /** Where to listen. */
  host: string;
  port: number;
  /** How the API server reaches the port that was given out. */
  reach: (port: number) => Reach;
  management: Kube;
  /** Target clusters of the command line, by name; more come from Secrets. */
  clusters: ReadonlyMap<string, Kube>;
  /** How a kubeconfig in a Secret becomes a client. */
  open: ClustersOptions['open'];
  namespace: string;
  clock: Clock;
  random: () => number;
  log: Log;
}

export interface Webhooks {
  /** Looks after the certificate until `signal` aborts, then stops listening. */
  run(signal: AbortSignal): Promise<void>;
  port: number;
}

const day = 24 * 3600 * 1000;

/** Serves, and has the API server ask. Ends with a problem when either cannot be had. */
export async function startWebhooks(options: WebhookOptions): Promise<Result<Webhooks>> {
  const { management, namespace, clock, log } = options;
  const stores = managementStores(management);
  const hosts = hostsOf(options.reach(options.port));
  const first = await servedCertificate({ management, namespace, hosts, clock });
  if (!first.ok) return first;
  let current = first.value;
  const seen = targets({ ...options, fixed: options.clusters });
  const answer = reviewAnswer(judge({ management, targets: seen, stores, namespace, clock }));
  const { cert, key } = current;
  const served = await serve(answer, { host: options.host, port: options.port, tls: { cert, key } });
  const reach = options.reach(served.port);
  const registered = await register(management, reach, current.ca);
  if (!registered.ok) {
    await served.close();
    return registered;
  }
  log.info(`webhooks at ${served.url}; the API server reaches them as ${hosts.join(', ')}`);

  /** Another replica may have renewed it as well: then it is the same one. */
  async function renew(): Promise<void> {
    const found = await servedCertificate({ management, namespace, hosts, clock });
    if (!found.ok) return log.warn(found.problem.message);
    if (found.value.cert === current.cert) return;
    current = found.value;
    served.exchange(current);
    const again = await register(management, reach, current.ca);
    if (again.ok) log.info('the certificate of the webhooks was renewed');
    else log.warn(again.problem.message);
  }

  return ok({
    port: served.port,
    async run(signal) {
      const stopped = Promise.all([...Object.values(stores), seen].map((one) => one.run(signal)));
      while (!signal.aborted) {
        await clock.sleep(day, signal);
        if (!signal.aborted) await renew();
      }
      await stopped;
      await served.close();
    },
  });
}
