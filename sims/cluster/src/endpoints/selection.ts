// Which Services select a pod and which pods a Service selects, by index rather than by looking at all.
import type { Stores } from '../kit.ts';
import { labelKeys } from '../kit.ts';
import type { Pod, Service } from '../kube/objects.ts';
import { keyOf } from '../kube/kinds.ts';
import { matches } from '../kube/selector.ts';
import type { Change } from '../kube/store.ts';
import type { ZoneOf } from './endpoint.ts';
import { isSelecting } from './endpoint.ts';
import { isSameToOthers } from '../workloads/pod-state.ts';

/** Keys of the Services that select the pod as it was or as it is. */
export function servicesOf(stores: Stores, { before, after }: Change<Pod>): Set<string> {
  if (isSameToOthers(before, after)) return new Set();
  return new Set([before, after].flatMap((pod) => (pod ? servicesSelecting(stores, pod).map(keyOf) : [])));
}

export function servicesSelecting(stores: Stores, pod: Pod): Service[] {
  const { namespace, labels } = pod.metadata;
  const candidates = labelKeys(namespace, labels).flatMap((pair) => stores.services.by('selector', pair));
  return candidates.filter((one) => isSelecting(one) && matches({ matchLabels: one.spec.selector! }, labels));
}

export function podsOf(stores: Stores, service: Service): Pod[] {
  const { selector } = service.spec;
  const rarest = labelKeys(service.metadata.namespace, selector).sort(
    (a, b) => stores.pods.count('label', a) - stores.pods.count('label', b),
  )[0];
  if (rarest === undefined) return [];
  return stores.pods.by('label', rarest).filter((pod) => matches({ matchLabels: selector! }, pod.metadata.labels));
}

export function zones(stores: Stores): ZoneOf {
  return (name) => stores.nodes.get(name)?.metadata.labels?.['topology.kubernetes.io/zone'];
}
