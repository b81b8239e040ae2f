// One turn of one ConfigMap: what the enabled tickets of a Loadbalancer ask for in a namespace is written there, with the labels.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { fail, problems, type Problem } from '@fairlead/core';
import { configMaps, type ConfigMap } from '@fairlead/kube';
import { configMap, heldIn, isApplied, readEntries, type Contribution } from './configmap.ts';
import { laterTry, type Desk, type FreshTarget, type Next } from './desk.ts';
import type { ConfigMapKey } from './directory.ts';
import { onChange } from './finding.ts';
import { reach } from './reach.ts';
import { afterLtm } from './ltm-order.ts';
import { poolsNaming, servicesMoved, ticketsWith } from './labels.ts';
import { labelsAfter, labelsBefore, servesIngresses } from './label-writes.ts';
import { configMapName, createdAt, fieldManager, placeOf, tenantOf, ticketName } from './names.ts';
import type { Part } from './part.ts';
import { isDone } from './report.ts';
import { declare, tenantRival, undeclare } from './tenant-rivals.ts';
import { quick } from './wake.ts';

/** What a turn works on. */
export interface Sheet {
  loadbalancer: Loadbalancer;
  namespace: string;
  target: FreshTarget;
  /** The ConfigMap as it is, and as it shall be. */
  existing: ConfigMap | undefined;
  wanted: ConfigMap;
  isEmpty: boolean;
}

export async function configMapTurn(desk: Desk, key: ConfigMapKey): Promise<Next> {
  const [name = '', namespace = ''] = key.split('/');
  const loadbalancer = desk.loadbalancers.get({ name });
  // Its tickets say that it is missing; what is on the device stays.
  if (!loadbalancer) return onChange;
  const found = reach(desk, loadbalancer.spec.cluster);
  if (!found.ok) {
    if (found.isNews) refuse(desk, key, { whole: found.problem, byTicket: new Map() });
    return found.next;
  }
  const { target } = found;
  const existing = target.configMaps.read({ name: configMapName(name), namespace });
  const held = heldIn(existing, tenantOf(loadbalancer, namespace));
  const contributions = afterLtm(
    desk,
    ticketsOf(desk, key)
      .filter((one) => isServed(one) || ticketName(one) in readEntries(existing))
      .map((one) => contribution(desk, one, { loadbalancer, held })),
    existing,
  );
  const answer = configMap({ loadbalancer, namespace, contributions, existing });
  const isEmpty = contributions.length === 0;
  const sheet = { loadbalancer, namespace, target, existing, wanted: answer.object, isEmpty };
  desk.writing.add(key);
  const problem = await write(desk, key, sheet).finally(() => desk.writing.delete(key));
  refuse(desk, key, { whole: problem, byTicket: answer.problems });
  if (!problem) {
    desk.tries.delete(`configmap ${key}`);
    return onChange;
  }
  desk.log(`ConfigMap ${loadbalancer.spec.cluster}/${namespace}/${configMapName(name)}: ${problem.message}`);
  return problems[problem.code].retry || problem.code === 'denied'
    ? { after: laterTry(desk, `configmap ${key}`) }
    : onChange;
}

/** Gone from traffic first: what is taken away leaves the ConfigMap before the labels, what is new gets its labels before. */
async function write(desk: Desk, key: ConfigMapKey, sheet: Sheet): Promise<Problem | undefined> {
  const { target, namespace, existing, wanted, isEmpty } = sheet;
  desk.rivals.delete(key);
  if (!target.stores.namespaces.get({ name: namespace })) {
    if (isEmpty) return undefined;
    const why = `namespace "${namespace}" does not exist in cluster ${sheet.loadbalancer.spec.cluster}; create it there`;
    return fail('missing', why, 'spec.namespace').problem;
  }
  const rival = isExternal(sheet) && !isEmpty ? tenantRival(desk, sheet) : undefined;
  if (rival) return rival;
  if (isExternal(sheet) && !isEmpty && !isApplied(wanted, existing)) declare(desk, key, sheet);
  if (isEmpty && !existing)
    return (servesIngresses(desk, sheet) ? await labelsBefore(desk, sheet) : undefined) ?? labelsAfter(desk, sheet);
  const failure = await put(desk, key, sheet);
  if (failure) undeclare(desk, key);
  if (failure === 'out of date') desk.queue.add(`configmap ${key}`);
  return failure === 'out of date' ? undefined : (failure ?? labelsAfter(desk, sheet));
}

/** The labels that come before, and the ConfigMap. `out of date`: what was to be put there is no longer wanted. */
async function put(desk: Desk, key: ConfigMapKey, sheet: Sheet): Promise<Problem | 'out of date' | undefined> {
  const { target, namespace, existing, wanted, isEmpty } = sheet;
  const before = isEmpty ? undefined : await labelsBefore(desk, sheet);
  if (before) return before;
  if (isOutOfDate(desk, sheet)) return 'out of date';
  if (isApplied(wanted, existing)) return isEmpty && existing ? removeLeft(sheet, existing) : undefined;
  for (const ticket of changedBetween(existing, wanted)) desk.pending.add(key, ticket);
  const applied = await target.kube.apply(configMaps, wanted, { fieldManager, force: true });
  if (!applied.ok) return applied.problem;
  desk.changed({
    turn: 'configmap',
    cluster: sheet.loadbalancer.spec.cluster,
    namespace,
    configmap: wanted.metadata.name,
    tickets: Object.keys(readEntries(wanted)).length,
  });
  target.configMaps.wrote(applied.value, existing?.metadata.resourceVersion);
  // A CIS matches by labels alone: what one ticket gives up, another may get now.
  const others = isExternal(sheet) ? ticketsOnMovedServices(existing, wanted) : [];
  // Our agent has still to put it on the device, and its report gives the ticket a turn.
  const wait = isExternal(sheet) ? 0 : quick;
  for (const ticket of Object.keys(readEntries(wanted))) desk.partWritten(ticket);
  for (const ticket of new Set([...changedBetween(existing, wanted), ...others]))
    desk.queue.add(`ticket ${ticket}`, wait);
  return undefined;
}

async function removeLeft({ loadbalancer, target }: Sheet, existing: ConfigMap): Promise<Problem | undefined> {
  if (!isLeft(loadbalancer, existing)) return undefined;
  const { uid, resourceVersion } = existing.metadata;
  const gone = await target.kube.remove(configMaps, existing.metadata, { uid, resourceVersion });
  return gone.ok || gone.problem.code === 'missing' ? undefined : gone.problem;
}

/** Does its user want it served? What was given up, and is not there, is not put there any more. */
const isServed = ({ spec, metadata, status }: Lbticket): boolean =>
  status?.process === 'enabled' && spec.state === 'enabled' && metadata.deletionTimestamp === undefined;

/** Was a ticket given up that would be put there, while the labels were written? */
function isOutOfDate(desk: Desk, { existing, wanted }: Sheet): boolean {
  const old = readEntries(existing);
  return Object.keys(readEntries(wanted)).some((name) => {
    const ticket = desk.lbtickets.read(placeOf(name));
    return !(name in old) && !(ticket && isServed(ticket));
  });
}

const isExternal = ({ loadbalancer }: Sheet): boolean => loadbalancer.spec.cis.mode === 'external';

/** An empty ConfigMap stays until the agent has said that nothing is left on the device. */
const isLeft = (loadbalancer: Loadbalancer, existing: ConfigMap): boolean =>
  loadbalancer.spec.cis.mode === 'external' || isDone(existing);

function ticketsOf(desk: Desk, key: ConfigMapKey): Lbticket[] {
  const tickets: Lbticket[] = [];
  for (const name of desk.directory.programmed(key)) {
    const ticket = desk.lbtickets.read(placeOf(name));
    if (ticket) tickets.push(ticket);
  }
  return tickets;
}

function contribution(
  desk: Desk,
  ticket: Lbticket,
  { loadbalancer, held }: { loadbalancer: Loadbalancer; held: (ticket: string) => Part | undefined },
): Contribution {
  const name = ticketName(ticket);
  return {
    ticket: name,
    created: createdAt(ticket),
    part: desk.partOf(ticket, loadbalancer, () => held(name)),
  };
}

/** Tickets whose objects differ between the two. */
function changedBetween(before: ConfigMap | undefined, after: ConfigMap): string[] {
  const old = readEntries(before);
  const now = readEntries(after);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (ticket) => old[ticket]?.digest !== now[ticket]?.digest,
  );
}

/** Tickets with a pool whose Service stands behind other pools than before. */
function ticketsOnMovedServices(before: ConfigMap | undefined, after: ConfigMap): string[] {
  const pools = servicesMoved(before, after).flatMap((service) => poolsNaming(after, service));
  return ticketsWith(after, new Set(pools));
}

/** Notes why something is not written, and lets those know whom it concerns. */
function refuse(
  desk: Desk,
  key: ConfigMapKey,
  now: { whole: Problem | undefined; byTicket: ReadonlyMap<string, Problem> },
): void {
  const before = desk.refused.get(key);
  if (now.whole || now.byTicket.size > 0) desk.refused.set(key, now);
  else desk.refused.delete(key);
  if (before?.whole?.message !== now.whole?.message)
    for (const ticket of desk.directory.programmed(key)) desk.queue.add(`ticket ${ticket}`);
  const concerned = new Set([...(before?.byTicket.keys() ?? []), ...now.byTicket.keys()]);
  for (const ticket of concerned)
    if (before?.byTicket.get(ticket)?.message !== now.byTicket.get(ticket)?.message) desk.queue.add(`ticket ${ticket}`);
}
