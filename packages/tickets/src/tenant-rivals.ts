// Two ConfigMaps with one tenant. A partition is bound to the first that declares it (spec/f5.md §1.3), and CIS lets them
// replace one another (§3.3): so with a CIS of somebody else's the second is not written, and its tickets are told.
import { deviceOf, type Loadbalancer } from '@fairlead/api';
import { fail, type Problem } from '@fairlead/core';
import type { Change, ConfigMap } from '@fairlead/kube';
import type { Sheet } from './configmap-turn.ts';
import type { Desk } from './desk.ts';
import type { ConfigMapKey } from './directory.ts';
import { isRecord, parsedObject } from './json.ts';
import { hasLabels } from './labels.ts';
import { annotations, configMapName, placeOf, tenantOf } from './names.ts';
import { wakeConfigMapNow } from './wake.ts';

/** Where the ConfigMap is that has the tenant. */
export interface Rival {
  cluster: string;
  namespace: string;
  name: string;
}

type RivalDesk = Pick<Desk, 'loadbalancers' | 'target' | 'refused' | 'rivals' | 'declaring'>;

/**
 * Why the ConfigMap of `sheet` must not be written; noted, so that it is looked at again when the rival goes.
 *
 *   another ConfigMap that declares the tenant               | a rival
 *   ---------------------------------------------------------+------------------------------
 *   our CIS reads it: its namespace has our nsselector       | yes, whoever wrote it
 *   its Loadbalancer is external, and that CIS reads ours    | yes
 *   its Loadbalancer has the same VE                         | yes: it is the same partition
 *   none of these                                            | no
 *   any of these, and ours has the tenant, and is older      | no: ours was the first
 *
 * Asked with each edit. Ours are known by their Loadbalancer, and read only when that says they have the tenant; what
 * somebody else wrote is read once.
 */
export function tenantRival(desk: RivalDesk, sheet: Sheet): Problem | undefined {
  const { loadbalancer, namespace, target, existing } = sheet;
  const tenant = tenantOf(loadbalancer, namespace);
  const key = `${loadbalancer.metadata.name}/${namespace}`;
  const refuse = (home: string, name: string): Problem => {
    desk.rivals.set(key, { cluster: loadbalancer.spec.cluster, namespace: home, name });
    const why = `tenant ${tenant} is declared by ConfigMap ${home}/${name} already, and CIS takes one ConfigMap for a tenant; ${remedy(loadbalancer)}`;
    return fail('taken', why, 'spec.namespace').problem;
  };
  for (const [other, declared] of desk.declaring) {
    const { namespace: name, name: home } = placeOf(other);
    const of = desk.loadbalancers.get({ name });
    if (other === key || declared !== tenant || !of || !isMet(sheet, { of, home })) continue;
    return refuse(home, configMapName(name));
  }
  const ownerOf = owners(desk);
  for (const stored of target.stores.configmaps.all()) {
    const { name, namespace: home = '' } = stored.metadata;
    const of = ownerOf(stored);
    if (of === loadbalancer && home === namespace) continue;
    if (of ? isApart(desk, { of, home }, tenant) : !isForCis(stored)) continue;
    const other = (of && target.configMaps.read(stored.metadata)) ?? stored;
    if (!tenantsIn(other).has(tenant) || !isMet(sheet, { of, home })) continue;
    if (existing && ageOf(existing) < ageOf(other) && tenantsIn(existing).has(tenant)) continue;
    return refuse(home, name);
  }
  return undefined;
}

/** It is being written: until the store shows it, this does. */
export const declare = ({ declaring }: RivalDesk, key: ConfigMapKey, { loadbalancer, namespace }: Sheet): void =>
  void declaring.set(key, tenantOf(loadbalancer, namespace));

/** It could not be written: the tenant is free for who was refused it meanwhile. */
export function undeclare(desk: WakeDesk & Pick<Desk, 'declaring'>, key: ConfigMapKey): void {
  if (!desk.declaring.delete(key)) return;
  const { namespace: loadbalancer, name: home } = placeOf(key);
  wakeRefused(desk, ({ namespace, name }) => namespace === home && name === configMapName(loadbalancer));
}

const remedy = ({ metadata: { name }, spec: { cis } }: Loadbalancer): string =>
  cis.tenant.includes('{namespace}')
    ? `set spec.cis.tenant of Loadbalancer ${name} to one of its own, such as {cluster}_{namespace}_${name}, or remove that ConfigMap`
    : `set spec.cis.tenant of Loadbalancer ${name} to {cluster}_{namespace}`;

/** One of ours that cannot have the tenant: what it declares it has from its Loadbalancer, unless that could not be written. */
const isApart = ({ refused }: RivalDesk, { of, home }: Holder & { of: Loadbalancer }, tenant: string): boolean =>
  tenantOf(of, home) !== tenant && (refused.size === 0 || !refused.get(`${of.metadata.name}/${home}`)?.whole);

interface Holder {
  /** Undefined: none of ours. */
  of: Loadbalancer | undefined;
  /** The namespace of the ConfigMap. */
  home: string;
}

/** Do the two ConfigMaps come together, in a CIS that reads both or on one VE? */
function isMet({ loadbalancer, namespace, target }: Sheet, { of, home }: Holder): boolean {
  const isRead = (reader: Loadbalancer, name: string): boolean => {
    const space = target.stores.namespaces.get({ name });
    return space !== undefined && hasLabels(space, reader.spec.nsselector);
  };
  if (home === namespace || isRead(loadbalancer, home)) return true;
  if (!of) return false;
  if (deviceOf(of.spec.ve.addr) === deviceOf(loadbalancer.spec.ve.addr)) return true;
  return of.spec.cis.mode === 'external' && isRead(of, namespace);
}

/** Of ours: those that are called as we call them, and have a Loadbalancer. There are few of these, and many ConfigMaps. */
function owners({ loadbalancers }: RivalDesk): (configMap: ConfigMap) => Loadbalancer | undefined {
  const known = new Map<string, { of: Loadbalancer | undefined; called: string }>();
  return ({ metadata }) => {
    const name = metadata.annotations?.[annotations.loadbalancer];
    if (name === undefined) return undefined;
    const owner = known.get(name) ?? { of: loadbalancers.get({ name }), called: configMapName(name) };
    known.set(name, owner);
    return metadata.name === owner.called ? owner.of : undefined;
  };
}

/** Does a CIS look into it? CIS-C goes by the key `as3` alone. */
const isForCis = ({ metadata: { labels = {} } }: ConfigMap): boolean =>
  labels['f5type'] === 'virtual-server' && labels['as3'] !== undefined;

const known = new WeakMap<ConfigMap, ReadonlySet<string>>();

/** The tenants that its template declares. */
function tenantsIn(configMap: ConfigMap): ReadonlySet<string> {
  const present = known.get(configMap);
  if (present) return present;
  const body = parsedObject(configMap.data?.['template']);
  const adc = body['class'] === 'ADC' ? body : body['declaration'];
  const entries = Object.entries(isRecord(adc) ? adc : {});
  const tenants = new Set(
    entries.flatMap(([name, value]) => (isRecord(value) && value['class'] === 'Tenant' ? [name] : [])),
  );
  known.set(configMap, tenants);
  return tenants;
}

const declaredBy = (configMap: ConfigMap | undefined): string =>
  configMap && isForCis(configMap) ? [...tenantsIn(configMap)].sort().join(' ') : '';

const ageOf = ({ metadata }: ConfigMap): string =>
  `${metadata.creationTimestamp ?? ''} ${metadata.namespace ?? ''}/${metadata.name}`;

type WakeDesk = Pick<Desk, 'rivals' | 'queue' | 'isBusy' | 'gathered'>;

/** Those who were refused because of a rival: the ones that `concerns` looks at it again. */
export function wakeRefused(desk: WakeDesk, concerns: (rival: Rival) => boolean): void {
  for (const [key, rival] of desk.rivals) if (concerns(rival)) wakeConfigMapNow(desk, key);
}

/** A ConfigMap that had a tenant which others want went, or has another now. */
export function wakeRefusedBy(
  desk: WakeDesk,
  cluster: string,
  { before, after }: Pick<Change<ConfigMap>, 'before' | 'after'>,
): void {
  if (desk.rivals.size === 0) return;
  const { name, namespace } = (after ?? before)?.metadata ?? {};
  const isIt = (rival: Rival) => rival.cluster === cluster && rival.namespace === namespace && rival.name === name;
  if (![...desk.rivals.values()].some(isIt) || declaredBy(before) === declaredBy(after)) return;
  wakeRefused(desk, isIt);
}
