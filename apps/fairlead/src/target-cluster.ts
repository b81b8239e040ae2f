// A target cluster: its client, and live copies of what the controllers read there.
import {
  configMaps,
  endpointSlices,
  ingresses,
  namespaces,
  namedStore,
  recorder,
  secrets,
  services,
  store,
  type ConfigMap,
  type EndpointSlice,
  type Ingress,
  type Kube,
  type LiveStore,
  type NamedStore,
  type Namespace,
  type Recorder,
  type Secret,
  type Service,
} from '@fairlead/kube';
import { ingressIndexes } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import { endpointSliceIndexes, serviceIndexes } from '@fairlead/sources';
import { shortServices, withManagersNamed, withoutManagers } from './projections.ts';

export interface TargetCluster {
  name: string;
  kube: Kube;
  stores: {
    namespaces: LiveStore<Namespace>;
    services: LiveStore<Service>;
    configmaps: LiveStore<ConfigMap>;
    endpointslices: LiveStore<EndpointSlice>;
    ingresses: LiveStore<Ingress>;
  };
  /** Those that certificates come from, each by its name: nobody need let us list the others. */
  secrets: NamedStore<Secret>;
  recorder: Recorder;
  /** Keeps the copies up to date until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function targetCluster(name: string, kube: Kube, clock: Clock): TargetCluster {
  const stores = {
    namespaces: store(kube, namespaces, { project: withManagersNamed }),
    services: store(kube, services, { indexes: serviceIndexes, project: shortServices() }),
    configmaps: store(kube, configMaps, { labelSelector: 'f5type=virtual-server', project: withoutManagers }),
    endpointslices: store(kube, endpointSlices, { indexes: endpointSliceIndexes, project: withoutManagers }),
    ingresses: store(kube, ingresses, { indexes: ingressIndexes, project: withoutManagers }),
  };
  const named = namedStore(kube, secrets);
  return {
    name,
    kube,
    stores,
    secrets: named,
    recorder: recorder({ kube, clock, component: 'fairlead-agent' }),
    run: async (signal) => {
      await Promise.all([...Object.values(stores), named].map((one) => one.run(signal)));
    },
  };
}
