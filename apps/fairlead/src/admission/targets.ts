// What admission sees of the target clusters that are there now: their namespaces, and the F5 Ingresses in them.
import { ingressUse, type IngressUse } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import { ingresses, namespaces, store, type Kube } from '@fairlead/kube';
import { registry, type ClustersOptions } from '../clusters/clusters.ts';
import type { Log } from '../log.ts';

export interface Targets {
  /** Undefined: the cluster is not known, or gives no answer in time. */
  hasNamespace(cluster: string, namespace: string): Promise<boolean | undefined>;
  /** Of the clusters that have answered so far. */
  ingresses(): IngressUse[];
  /** Follows the clusters until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds for an answer: the API server waits for ours no longer than 10 s, and it may be asked twice. */
const patience = 3_000;

const copies = (_: string, kube: Kube) => {
  const stores = { namespaces: store(kube, namespaces), ingresses: store(kube, ingresses) };
  const run = async (signal: AbortSignal) =>
    void (await Promise.all(Object.values(stores).map((one) => one.run(signal))));
  return { kube, stores, run };
};

/** It follows the clusters beside the controllers, because every replica answers for admission, also one that only waits to lead. */
export function targets(options: ClustersOptions): Targets {
  const found = registry({ ...options, copies, tellsEvents: false, log: quiet(options.log) });
  return {
    async hasNamespace(cluster, namespace) {
      const target = found.outage(cluster) ? undefined : found.get(cluster);
      if (!target) return undefined;
      // A copy may be some milliseconds behind, and "there is no such namespace" said of a new one is wrong.
      return (
        target.stores.namespaces.get({ name: namespace }) !== undefined || ask(target.kube, namespace, options.clock)
      );
    },
    ingresses: () =>
      found
        .states()
        .flatMap(({ name }) =>
          [...(found.get(name)?.stores.ingresses.all() ?? [])].flatMap((one) => ingressUse(name, one) ?? []),
        ),
    run: (signal) => found.run(signal),
  };
}

async function ask(kube: Kube, name: string, clock: Clock): Promise<boolean | undefined> {
  const stop = new AbortController();
  const late = clock.sleep(patience, stop.signal).then(() => undefined);
  const got = await Promise.race([kube.get(namespaces, { name }), late]);
  stop.abort();
  if (got?.ok) return true;
  return got?.problem.status === 404 ? false : undefined;
}

/** What becomes of clusters is told by the controllers; of admission's own look at them, only who debugs wants to know. */
const quiet = (log: Log): Log => {
  const debug = (line: string): void => log.debug(`admission: ${line}`);
  return { ...log, debug, info: debug, warn: debug, error: debug };
};
