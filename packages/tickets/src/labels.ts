// Labels by which CIS finds its namespaces and matches Services with pools. Pure.
import type { Loadbalancer } from '@fairlead/api';
import type { ConfigMap, KubeObject, Service } from '@fairlead/kube';
import { readPools } from './configmap.ts';
import { digest } from './digest.ts';
import { serviceLabels, tenantOf } from './names.ts';

/**
 * The three labels of each Service behind a pool of `configMap`, by Service name. A label has one value, so a Service
 * behind two pools gets those of the first by name; our agent reads the annotation with all of them.
 */
export function wantedServiceLabels(
  loadbalancer: Loadbalancer,
  configMap: ConfigMap,
): Map<string, Record<string, string>> {
  const wanted = new Map<string, Record<string, string>>();
  const tenant = tenantOf(loadbalancer, configMap.metadata.namespace ?? '');
  for (const [path, { service }] of Object.entries(readPools(configMap)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [application = '', pool = ''] = path.split('/');
    if (wanted.has(service)) continue;
    wanted.set(service, {
      [serviceLabels.tenant]: tenant,
      [serviceLabels.application]: application,
      [serviceLabels.pool]: pool,
    });
  }
  return wanted;
}

/** Does the Service carry labels that point into `tenant`, as ours do? */
export const pointsInto = (service: Service, tenant: string): boolean =>
  service.metadata.labels?.[serviceLabels.tenant] === tenant;

export const hasLabels = (
  object: { metadata: { labels?: Record<string, string> } },
  wanted: Record<string, string>,
): boolean => Object.entries(wanted).every(([key, value]) => object.metadata.labels?.[key] === value);

/** Has `manager` applied something to it? Objects whose managers are not recorded count as ours to look after. */
export function ownsFields(object: KubeObject, manager: string): boolean {
  const managers = object.metadata.managedFields as { manager?: string }[] | undefined;
  return managers === undefined || managers.some((fields) => fields.manager === manager);
}

/** Each Loadbalancer applies as a manager of its own: when one lets a label go, what another also set stays. At most 128 characters. */
export const labelManager = (loadbalancer: string): string => `fairlead-tickets.${digest(loadbalancer)}`;
