// What every controller is given: the client, the stores, time, and where to report.
import type { Clock } from './clock.ts';
import type { Client } from './kube/client.ts';
import type { Recorder } from './kube/events.ts';
import type { KubeObject } from './kube/objects.ts';
import type * as o from './kube/objects.ts';
import { Store } from './kube/store.ts';
import type { Timers } from './turns/timers.ts';

export interface Kit {
  client: Client;
  stores: Stores;
  clock: Clock;
  timers: Timers;
  /** Uniform in [0, 1). */
  random(): number;
  record: Recorder;
  log(line: string): void;
}

/** A loop that is fed by the stores. Turns begin with `open`, once every store holds the server's first list. */
export interface Controller {
  open(): void;
  /** Resolves when nothing of it is under way. */
  close(): Promise<void>;
}

export type Stores = ReturnType<typeof makeStores>;

export function makeStores() {
  return {
    pods: new Store<o.Pod>({
      /** Uid of the controlling owner, or `orphan/<namespace>`. */
      controller: byController,
      namespace: byNamespace,
      node: (pod) => (pod.spec.nodeName ? [pod.spec.nodeName] : []),
      /** `namespace/label=value`, one for each label. */
      label: (pod) => labelKeys(pod.metadata.namespace, pod.metadata.labels),
      unbound: (pod) => (pod.spec.nodeName ? [] : ['all']),
    }),
    services: new Store<o.Service>({
      /** One pair of the selector is enough to find candidates; the whole selector is checked after. */
      selector: (service) => labelKeys(service.metadata.namespace, service.spec.selector).slice(0, 1),
    }),
    nodes: new Store<o.Node>(),
    leases: new Store<o.Lease>(),
    namespaces: new Store<o.Namespace>(),
    deployments: new Store<o.Deployment>({ namespace: byNamespace }),
    replicasets: new Store<o.ReplicaSet>({ controller: byController }),
    statefulsets: new Store<o.StatefulSet>({ namespace: byNamespace }),
    daemonsets: new Store<o.DaemonSet>({ namespace: byNamespace }),
    controllerrevisions: new Store<o.ControllerRevision>({ controller: byController }),
    poddisruptionbudgets: new Store<o.PodDisruptionBudget>({ namespace: byNamespace }),
    endpointslices: new Store<o.EndpointSlice>({
      service: (slice) => {
        const name = slice.metadata.labels?.['kubernetes.io/service-name'];
        return name ? [`${slice.metadata.namespace}/${name}`] : [];
      },
    }),
    endpoints: new Store<o.Endpoints>(),
  };
}

export function labelKeys(namespace = '', labels: o.Labels = {}): string[] {
  return Object.entries(labels).map(([label, value]) => `${namespace}/${label}=${value}`);
}

function byController(object: KubeObject): string[] {
  const owner = object.metadata.ownerReferences?.find((one) => one.controller);
  return [owner?.uid ?? `orphan/${object.metadata.namespace}`];
}

function byNamespace(object: KubeObject): string[] {
  return [object.metadata.namespace ?? ''];
}
