// From a change to the turns it concerns. The cost hangs on what is concerned, never on how many tickets there are.
import {
  claimOf,
  ingressAnnotations,
  ticketOfIngress,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
} from '@fairlead/api';
import { isEqual } from '@fairlead/core';
import type { Change, ConfigMap, Ingress, KubeObject, Store } from '@fairlead/kube';
import { readEntries } from './configmap.ts';
import type { Desk } from './desk.ts';
import { configMapKey, isProgrammed, ticketOf } from './directory.ts';
import { hasLabels, labelManager, labelsFor, ownsFields, poolOfService, poolsNaming, ticketsWith } from './labels.ts';
import { annotations, configMapName, createdAt, placeOf, tenantOf, ticketName } from './names.ts';
import { overlappedNetworks } from './networks.ts';
import { resume, resumeShown } from './quarantine.ts';
import { isReported, readReport } from './report.ts';
import type { Outage } from './outage.ts';
import { untilNews } from './reach.ts';
import { isOfferSame } from './services.ts';
import { conditionOf } from './status.ts';
import { wakeRefused, wakeRefusedBy } from './tenant-rivals.ts';
import { quick, wakeConfigMap, wakeConfigMapNow, wakeLoadbalancer } from './wake.ts';

interface ManagementStores {
  loadbalancers: Store<Loadbalancer>;
  lbtickets: Store<Lbticket>;
  lbrules: Store<Lbrule>;
  lbcanaries: Store<Lbcanary>;
}

/** All that is there, before the first turn: who holds an address, who waits for one, and since when. */
export function loadAll(desk: Desk, stores: ManagementStores): void {
  for (const loadbalancer of stores.loadbalancers.all()) {
    desk.ledger.open(loadbalancer);
    wakeLoadbalancer(desk, loadbalancer.metadata.name);
  }
  desk.ledger.bar(overlappedNetworks(stores.loadbalancers.all()));
  for (const rule of stores.lbrules.all()) {
    desk.directory.ruleChanged(undefined, rule);
    desk.queue.add(`rule ${nameOf(rule)}`);
  }
  for (const canary of stores.lbcanaries.all()) {
    desk.directory.canaryChanged(undefined, canary);
    desk.queue.add(`canary ${nameOf(canary)}`);
  }
  const all = [...stores.lbtickets.all()].sort(byRight);
  const rest = all.findIndex(({ status }) => status?.veip === undefined);
  for (const ticket of rest < 0 ? all : all.slice(0, rest)) loadTicket(desk, ticket);
  // After who has an address, and before who would like one.
  for (const loadbalancer of stores.loadbalancers.all()) resumeShown(desk, loadbalancer);
  for (const ticket of rest < 0 ? [] : all.slice(rest)) loadTicket(desk, ticket);
}

function loadTicket(desk: Desk, ticket: Lbticket): void {
  desk.directory.ticketChanged(undefined, ticket);
  claim(desk, ticket);
  resume(desk, ticket);
  if (conditionOf(ticket, 'Allocated')?.reason === 'exhausted')
    desk.ledger.wait(ticket.spec.loadbalancer, { name: ticketName(ticket), created: createdAt(ticket) });
  // Whether its application was filed before we came is not known: who withdraws it has to ask.
  if (ticket.status?.process === 'created') desk.filing.add(ticketName(ticket));
  wakeTicket(desk, ticket);
}

/** Returns the way to stop. */
export function watchAll(desk: Desk, stores: ManagementStores): () => void {
  const stops = [
    stores.loadbalancers.listen((change) => loadbalancerChanged(desk, change)),
    stores.lbtickets.listen((change) => ticketChanged(desk, change)),
    stores.lbrules.listen((change) => ruleChanged(desk, change)),
    ...(desk.surroundings
      ? [
          desk.surroundings.listen({
            cluster: (name) => clusterChanged(desk, stores, name),
            device: (name) => deviceChanged(desk, name),
            ltm: (name) => ltmChanged(desk, name),
          }),
        ]
      : []),
    stores.lbcanaries.listen((change) => canaryChanged(desk, change)),
    desk.onTargets({
      met: (cluster) => clusterMet(desk, stores, cluster),
      changed: (cluster, change) => targetChanged(desk, cluster, change),
    }),
  ];
  return () => stops.forEach((stop) => stop());
}

const nameOf = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

/** Who has an address by its status comes before who only names one in its spec; then the older, then by name. */
const byRight = (a: Lbticket, b: Lbticket): number =>
  Number(b.status?.veip !== undefined) - Number(a.status?.veip !== undefined) ||
  createdAt(a) - createdAt(b) ||
  (ticketName(a) < ticketName(b) ? -1 : 1);

/** What the API server shows to be taken: by a status, or by a spec that no controller has answered yet. */
function claim(desk: Desk, ticket: Lbticket): void {
  const { loadbalancer } = ticket.spec;
  const { process, veip, ltmip } = ticket.status ?? {};
  const mayMove = process === undefined || process === 'created' || process === 'failed';
  if (veip || ltmip) desk.ledger.claim(loadbalancer, ticketName(ticket), { veip, ltmip }, mayMove);
  else if (process === undefined && ticket.spec.veip && ticket.spec.ltmip)
    desk.ledger.claim(loadbalancer, ticketName(ticket), ticket.spec, mayMove);
}

function wakeTicket(desk: Desk, ticket: Lbticket, wait = 0): void {
  desk.queue.add(`ticket ${ticketName(ticket)}`, wait);
  if (isProgrammed(ticket)) wakeConfigMap(desk, configMapKey(ticket));
  wakeIngressesOf(desk, ticket);
}

function wakeIngressesOf(desk: Desk, ticket: Lbticket): void {
  const cluster = desk.loadbalancers.get({ name: ticket.spec.loadbalancer })?.spec.cluster;
  const ingresses = cluster === undefined ? undefined : desk.target(cluster)?.stores.ingresses;
  for (const ingress of ingresses?.by('ticket', ticketName(ticket)) ?? [])
    desk.queue.add(`ingress ${cluster}/${nameOf(ingress)}`);
}

function ticketChanged(desk: Desk, { before, after }: Change<Lbticket>): void {
  desk.directory.ticketChanged(before, after);
  if (after) claim(desk, after);
  if (before && after && isPartSame(before, after)) desk.queue.add(`ticket ${ticketName(after)}`);
  else for (const ticket of [before, after]) if (ticket) wakeTicket(desk, ticket, isKept(before, after) ? quick : 0);
  if (before && isProgrammed(before) && !(after && isPartSame(before, after)))
    wakeConfigMapNow(desk, configMapKey(before));
  const ticket = after ?? before;
  if (!ticket) return;
  if (before?.status?.veip !== after?.status?.veip || before?.status?.process !== after?.status?.process)
    wakeLoadbalancer(desk, ticket.spec.loadbalancer);
  if (isEqual(before?.status?.conditions, after?.status?.conditions) && isEqual(before?.spec, after?.spec)) return;
  for (const rule of desk.directory.rulesOf(ticketName(ticket))) desk.queue.add(`rule ${nameOf(rule)}`);
  wakeCanaries(desk, ticketName(ticket));
}

/** Was it served, and does it stay so, whatever else of it was edited? */
const isKept = (before: Lbticket | undefined, after: Lbticket | undefined): boolean =>
  isProgrammed(before) &&
  isProgrammed(after) &&
  after?.spec.state === 'enabled' &&
  after.metadata.deletionTimestamp === undefined;

/** Has it in the ConfigMap, and for its Ingresses, what it had? Most writes are of its conditions. */
const isPartSame = (before: Lbticket, after: Lbticket): boolean =>
  before.metadata.uid === after.metadata.uid &&
  before.metadata.generation === after.metadata.generation &&
  before.metadata.deletionTimestamp === after.metadata.deletionTimestamp &&
  before.status?.process === after.status?.process &&
  before.status?.veip === after.status?.veip &&
  before.status?.ltmip === after.status?.ltmip;

function ruleChanged(desk: Desk, { before, after }: Change<Lbrule>): void {
  desk.directory.ruleChanged(before, after);
  if (after) desk.queue.add(`rule ${nameOf(after)}`);
  if (before && after && isEqual(before.spec, after.spec)) return;
  for (const rule of [before, after]) {
    const ticket = rule && desk.lbtickets.read(placeOf(ticketOf(rule)));
    if (ticket) wakeTicket(desk, ticket);
    if (rule) wakeCanaries(desk, ticketOf(rule));
  }
}

const wakeCanaries = (desk: Desk, ticket: string): void => {
  for (const canary of desk.directory.canariesOf(ticket)) desk.queue.add(`canary ${canary}`);
};

/** Its own status is no reason to look again: each look would be followed by the next. */
function canaryChanged(desk: Desk, { before, after }: Change<Lbcanary>): void {
  desk.directory.canaryChanged(before, after);
  const canary = after ?? before;
  if (!canary) return;
  const isShifted = before?.status?.weight !== after?.status?.weight || before?.status?.phase !== after?.status?.phase;
  const ticket = desk.lbtickets.read(placeOf(ticketOf(canary)));
  if (ticket && isShifted) wakeTicket(desk, ticket);
  // Another one may have waited for this to end.
  if (isShifted || !before || !after || !isEqual(before.spec, after.spec)) wakeCanaries(desk, ticketOf(canary));
}

function loadbalancerChanged(desk: Desk, { before, after }: Change<Loadbalancer>): void {
  const name = (after ?? before)?.metadata.name;
  if (name === undefined || (before && after && isEqual(before.spec, after.spec))) return;
  if (after) desk.ledger.open(after);
  else desk.ledger.close(name);
  for (const one of new Set([name, ...desk.ledger.bar(overlappedNetworks(desk.loadbalancers.all()))])) {
    desk.queue.add(`loadbalancer ${one}`);
    wake(desk, desk.directory.ofLoadbalancer(one));
  }
  // Where its CIS is, and its device, may be others now.
  wakeRefused(desk, () => true);
}

function wake(desk: Desk, tickets: Iterable<string>): void {
  for (const ticket of tickets) {
    const found = desk.lbtickets.read(placeOf(ticket));
    if (found) wakeTicket(desk, found);
  }
}

/** An outage began, changed or ended. Without a name, any may have. */
function clusterChanged(desk: Desk, stores: ManagementStores, cluster: string | undefined): void {
  for (const { metadata, spec } of stores.loadbalancers.all()) {
    if (cluster !== undefined && spec.cluster !== cluster) continue;
    // Asked for, so that a cluster that came is listened to, and one that went no longer is.
    desk.target(spec.cluster);
    desk.queue.add(`loadbalancer ${metadata.name}`);
    wakeInTime(desk, metadata.name, desk.surroundings?.cluster(spec.cluster));
  }
}

function deviceChanged(desk: Desk, loadbalancer: string): void {
  desk.queue.add(`loadbalancer ${loadbalancer}`);
  const states = [desk.surroundings?.device(loadbalancer), desk.surroundings?.ltmDevice?.(loadbalancer)];
  const outages = states.filter((state) => typeof state === 'object');
  if (outages.length === 0) wakeInTime(desk, loadbalancer, undefined);
  for (const outage of outages) wakeInTime(desk, loadbalancer, outage);
}

/** What had to wait for the LTM may go on: the ticket, what its namespace's ConfigMap kept of it, and its Ingresses. */
function ltmChanged(desk: Desk, name: string): void {
  const ticket = desk.lbtickets.read(placeOf(name));
  desk.queue.add(`ticket ${name}`);
  if (!ticket) return;
  wakeConfigMap(desk, configMapKey(ticket));
  wakeIngressesOf(desk, ticket);
}

/** An outage is told once it is news; what is there again can go on at once. */
function wakeInTime(desk: Desk, loadbalancer: string, outage: Outage | undefined): void {
  const tickets = desk.directory.ofLoadbalancer(loadbalancer);
  if (!outage) return wake(desk, tickets);
  const wait = Math.max(untilNews(desk, outage), 0);
  for (const ticket of tickets) desk.queue.add(`ticket ${ticket}`, wait);
}

function clusterMet(desk: Desk, stores: ManagementStores, cluster: string): void {
  for (const loadbalancer of stores.loadbalancers.all()) {
    if (loadbalancer.spec.cluster !== cluster) continue;
    desk.queue.add(`loadbalancer ${loadbalancer.metadata.name}`);
    wake(desk, desk.directory.ofLoadbalancer(loadbalancer.metadata.name));
    lookForLeftovers(desk, loadbalancer);
  }
  for (const ingress of desk.target(cluster)?.stores.ingresses?.all() ?? []) wakeIngress(desk, cluster, ingress);
}

/** One that names a ticket, has something of one, or was refused. */
function wakeIngress(desk: Desk, cluster: string, ingress: Ingress): void {
  const isOurs = ticketOfIngress(ingress) !== undefined || ingress.metadata.annotations?.[ingressAnnotations.refused];
  if (isOurs || claimOf(ingress)) desk.queue.add(`ingress ${cluster}/${nameOf(ingress)}`);
}

function ingressChanged(
  desk: Desk,
  cluster: string,
  { before, after }: Pick<Change<Ingress>, 'before' | 'after'>,
): void {
  if (after) wakeIngress(desk, cluster, after);
  const claims = [before, after].map((one) => one && claimOf(one)?.ticket);
  for (const ticket of new Set(claims)) if (ticket !== undefined) desk.queue.add(`ticket ${ticket}`);
  const gone = after ? undefined : before && claimOf(before)?.ticket;
  const left = gone === undefined ? undefined : desk.lbtickets.read(placeOf(gone));
  // It took its claim along: who else is served in the namespace decides on its labels.
  if (left) desk.queue.add(`configmap ${configMapKey(left)}`);
}

/** What a controller that stopped half-way may have left: a ConfigMap without tickets, a namespace that is still labelled. */
function lookForLeftovers(desk: Desk, { metadata: { name }, spec }: Loadbalancer): void {
  const stores = desk.target(spec.cluster)?.stores;
  for (const { metadata } of stores?.configmaps.all() ?? [])
    if (metadata.name === configMapName(name) && metadata.annotations?.[annotations.loadbalancer] === name)
      desk.queue.add(`configmap ${name}/${metadata.namespace ?? ''}`);
  if (Object.keys(spec.nsselector).length === 0) return;
  for (const space of stores?.namespaces.all() ?? [])
    if (hasLabels(space, spec.nsselector) && ownsFields(space, labelManager(name)))
      desk.queue.add(`configmap ${name}/${space.metadata.name}`);
}

function targetChanged(desk: Desk, cluster: string, { kind, before, after }: Change<KubeObject>): void {
  if (kind.plural === 'configmaps') configMapChanged(desk, cluster, { before, after });
  else if (kind.plural === 'ingresses') ingressChanged(desk, cluster, { before, after });
  else if (kind.plural === 'services') serviceChanged(desk, cluster, { before, after });
  else if (!before || !after || !isEqual(before.metadata.labels, after.metadata.labels)) {
    const name = (after ?? before)?.metadata.name ?? '';
    wake(desk, desk.directory.ofNamespace(name));
    wakeRefused(desk, (rival) => rival.cluster === cluster && rival.namespace === name);
  }
}

/** A Service that pools name came, went, has other ports, or got or lost its labels. */
function serviceChanged(
  desk: Desk,
  cluster: string,
  { before, after }: { before: KubeObject | undefined; after: KubeObject | undefined },
): void {
  const service = after ?? before;
  const isKnown = isOfferSame(before, after);
  if (!service || (isKnown && isEqual(before?.metadata.labels, after?.metadata.labels))) return;
  const namespace = service.metadata.namespace ?? '';
  for (const loadbalancer of desk.directory.loadbalancersIn(namespace)) {
    if (desk.loadbalancers.get({ name: loadbalancer })?.spec.cluster !== cluster) continue;
    const configMap = desk.target(cluster)?.configMaps.read({ namespace, name: configMapName(loadbalancer) });
    const paths = configMap ? poolsNaming(configMap, service.metadata.name) : [];
    if (!configMap || paths.length === 0) continue;
    const balancer = desk.loadbalancers.get({ name: loadbalancer });
    if (!balancer || !after || !isLabelled(balancer, configMap, after))
      desk.queue.add(`configmap ${loadbalancer}/${namespace}`);
    // A CIS goes by these labels alone; and of what is not there anybody has to be told.
    if (balancer?.spec.cis.mode === 'external' || !isKnown)
      for (const ticket of ticketsWith(configMap, new Set(paths))) desk.queue.add(`ticket ${ticket}`);
  }
}

/** Has the Service the labels that are wanted? Mostly it was us who set them. */
function isLabelled(loadbalancer: Loadbalancer, configMap: ConfigMap, service: KubeObject): boolean {
  const tenant = tenantOf(loadbalancer, service.metadata.namespace ?? '');
  const path = poolOfService(configMap, { tenant, name: service.metadata.name, present: service });
  return path !== undefined && hasLabels(service, labelsFor(tenant, path));
}

function configMapChanged(
  desk: Desk,
  cluster: string,
  { before, after }: Pick<Change<ConfigMap>, 'before' | 'after'>,
): void {
  wakeRefusedBy(desk, cluster, { before, after });
  const configMap = after ?? before;
  const loadbalancer = configMap?.metadata.annotations?.[annotations.loadbalancer];
  if (!configMap || loadbalancer === undefined || configMap.metadata.name !== configMapName(loadbalancer)) return;
  const key = `${loadbalancer}/${configMap.metadata.namespace ?? ''}`;
  desk.declaring.delete(key);
  // The turn that wrote it saw to all that belongs to it, except that what is empty has still to go.
  const isSeen = after && Object.keys(readEntries(after)).length > 0 && desk.target(cluster)?.configMaps.isEcho(after);
  if (!isSeen) wakeConfigMap(desk, key);
  if (!after || isReported(after)) {
    const waiting = [...desk.pending.get(key)];
    for (const ticket of waiting) {
      desk.pending.remove(key, ticket);
      desk.queue.add(`ticket ${ticket}`);
    }
  }
  const changed = applicationsReportedAnew(before, after);
  if (changed.size === 0) return;
  for (const [ticket, entry] of Object.entries(readEntries(configMap)))
    if (Object.keys(entry.items).some((application) => changed.has(application))) desk.queue.add(`ticket ${ticket}`);
}

/** Applications of which the agent says something else than before. */
function applicationsReportedAnew(before: ConfigMap | undefined, after: ConfigMap | undefined): Set<string> {
  const old = readReport(before)?.applications ?? {};
  const now = readReport(after)?.applications ?? {};
  return new Set([...Object.keys(old), ...Object.keys(now)].filter((name) => !isEqual(old[name], now[name])));
}
