// The target clusters, each met when the first Loadbalancer names it, and listened to from then on.
import type { Change, KubeObject } from '@fairlead/kube';
import type { FreshTarget, Target } from './desk.ts';
import { fresh } from './fresh.ts';

export interface Targets {
  /** Undefined while the cluster is not connected. */
  target(cluster: string): FreshTarget | undefined;
  /** Hears the changes of all targets, those met later included. `met`: a cluster is connected and read. Returns the way to stop. */
  onTargets(heard: {
    changed: (cluster: string, change: Change<KubeObject>) => void;
    met: (cluster: string) => void;
  }): () => void;
}

interface Met {
  given: Target;
  target: FreshTarget;
  stop: () => void;
}

export function targets(clusters: (name: string) => Target | undefined): Targets {
  const known = new Map<string, Met>();
  let heard: Parameters<Targets['onTargets']>[0] | undefined;
  const stopped = new AbortController();

  const tellWhenRead = async (cluster: string, all: Promise<void>[]): Promise<void> => {
    await Promise.all(all);
    if (!stopped.signal.aborted) heard?.met(cluster);
  };
  const meet = (cluster: string, given: Target): Met => {
    const { namespaces, services, configmaps, ingresses } = given.stores;
    const tell = (change: Change<KubeObject>) => heard?.changed(cluster, change);
    // Told as plain objects: who hears looks at the kind.
    const stops = [namespaces.listen(tell), services.listen(tell), configmaps.listen(tell)];
    // Not waited for: a cluster whose Ingresses we may not read still gets its ConfigMaps.
    if (ingresses) stops.push(ingresses.listen(tell));
    const all = [namespaces, services, configmaps].map((store) => store.ready(stopped.signal));
    void tellWhenRead(cluster, all);
    const target = { ...given, configMaps: fresh(configmaps), ingresses: ingresses && fresh(ingresses) };
    return { given, target, stop: () => stops.forEach((stop) => stop()) };
  };
  return {
    target(cluster) {
      const given = clusters(cluster);
      const before = known.get(cluster);
      if (before && before.given.stores.configmaps === given?.stores.configmaps) return before.target;
      before?.stop();
      known.delete(cluster);
      if (!given) return undefined;
      const met = meet(cluster, given);
      known.set(cluster, met);
      return met.target;
    },
    onTargets(listener) {
      heard = listener;
      return () => {
        heard = undefined;
        stopped.abort();
        for (const { stop } of known.values()) stop();
      };
    },
  };
}
