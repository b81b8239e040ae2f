// Labels by which CIS finds its namespaces and matches Services with pools. Pure.
import type { Loadbalancer } from '@fairlead/api';
import type { ConfigMap, KubeObject, Service } from '@fairlead/kube';
import { readEntries, readPools } from './configmap.ts';
import { digest } from './digest.ts';
import { serviceLabels, tenantOf } from './names.ts';
import { recent } from './recent.ts';

/**
 * The three labels of each Service behind a pool of `configMap`, by Service name. A label has one value, so of a Service
 * behind two pools the one that has the labels now keeps them, or else the first by name gets them; our agent reads the
 * annotation with all of them. `serviceOf`: the Service as it is.
 */
export function wantedServiceLabels(
  loadbalancer: Loadbalancer,
  configMap: ConfigMap,
  serviceOf: (name: string) => KubeObject | undefined = () => undefined,
): Map<string, Record<string, string>> {
  const tenant = tenantOf(loadbalancer, configMap.metadata.namespace ?? '');
  const wanted = new Map<string, Record<string, string>>();
  for (const [service, pool] of poolsOfServices(configMap, tenant, serviceOf))
    wanted.set(service, labelsFor(tenant, pool));
  return wanted;
}

/** By Service, the pool `<application>/<pool>` whose labels it is to carry. */
export function poolsOfServices(
  configMap: ConfigMap,
  tenant: string,
  serviceOf: (name: string) => KubeObject | undefined,
): Map<string, string> {
  const holders = new Map<string, string>();
  for (const name of pathsByService(configMap).keys()) {
    const path = poolOfService(configMap, { tenant, name, present: serviceOf(name) });
    if (path !== undefined) holders.set(name, path);
  }
  return holders;
}

/** The same of one Service, without a look at the others. */
export function poolOfService(
  configMap: ConfigMap,
  { tenant, name, present }: { tenant: string; name: string; present: KubeObject | undefined },
): string | undefined {
  const paths = poolsNaming(configMap, name);
  const labelled = present && paths.findLast((path) => hasLabels(present, labelsFor(tenant, path)));
  return labelled ?? paths[0];
}

/** The pools `<application>/<pool>` behind which the Service stands. */
export const poolsNaming = (configMap: ConfigMap, service: string): readonly string[] =>
  pathsByService(configMap).get(service) ?? [];

/** Services that stand behind other pools than before. */
export function servicesMoved(before: ConfigMap | undefined, after: ConfigMap): string[] {
  const [old, now] = [before ? pathsByService(before) : new Map<string, string[]>(), pathsByService(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (service) => old.get(service)?.join() !== now.get(service)?.join(),
  );
}

/** Tickets with one of these pools in the ConfigMap. */
export const ticketsWith = (configMap: ConfigMap, pools: ReadonlySet<string>): string[] =>
  Object.entries(readEntries(configMap)).flatMap(([ticket, { items }]) =>
    Object.entries(items).some(([application, names]) => names.some((name) => pools.has(`${application}/${name}`)))
      ? [ticket]
      : [],
  );

/** Pools by Service, each list in the order of names. A ConfigMap holds those of many tickets, and each of them asks. */
const pathsByService = recent((configMap: ConfigMap): ReadonlyMap<string, readonly string[]> => {
  const paths = new Map<string, string[]>();
  for (const [path, { service }] of Object.entries(readPools(configMap)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const present = paths.get(service);
    if (present) present.push(path);
    else paths.set(service, [path]);
  }
  return paths;
});

export function labelsFor(tenant: string, path: string): Record<string, string> {
  const [application = '', pool = ''] = path.split('/');
  return {
    [serviceLabels.tenant]: tenant,
    [serviceLabels.application]: application,
    [serviceLabels.pool]: pool,
  };
}

/** Does the Service carry a label by which CIS finds pools, of whatever tenant? */
export const isPointed = ({ metadata: { labels = {} } }: Service): boolean =>
  Object.values(serviceLabels).some((key) => labels[key] !== undefined);

export const hasLabels = (
  object: { metadata: { labels?: Record<string, string> } },
  wanted: Record<string, string>,
): boolean => Object.entries(wanted).every(([key, value]) => object.metadata.labels?.[key] === value);

/** By what the refusal of labels is known: each Loadbalancer asks for its own. */
export const contestId = (
  { metadata }: Loadbalancer,
  { namespace, service }: { namespace: string; service: string },
): string => `${metadata.name}/${namespace}/${service}`;

/** Has `manager` applied something to it? Objects whose managers are not recorded count as ours to look after. */
export function ownsFields(object: KubeObject, manager: string): boolean {
  const managers = object.metadata.managedFields as { manager?: string }[] | undefined;
  return managers === undefined || managers.some((fields) => fields.manager === manager);
}

/** Each Loadbalancer applies as a manager of its own: when one lets a label go, what another also set stays. At most 128 characters. */
export const labelManager = (loadbalancer: string): string => `fairlead-tickets.${digest(loadbalancer)}`;
