// Writes the labels of Services and of the namespace, each field by the manager of its Loadbalancer, so that what others set stays.
import { claimOf } from '@fairlead/api';
import { namespaces, services, type Kind, type KubeObject } from '@fairlead/kube';
import type { Problem } from '@fairlead/core';
import type { Desk } from './desk.ts';
import type { Sheet } from './configmap-turn.ts';
import {
  contestId,
  hasLabels,
  isPointed,
  labelManager,
  ownsFields,
  poolsNaming,
  ticketsWith,
  wantedServiceLabels,
} from './labels.ts';
import { placeOf } from './names.ts';

/** Labels that are wanted and not there. A Service that does not exist gets them when it is made. */
export async function labelsBefore(desk: Desk, sheet: Sheet): Promise<Problem | undefined> {
  const { loadbalancer, namespace, target } = sheet;
  const wantedOnNamespace = loadbalancer.spec.nsselector;
  const space = target.stores.namespaces.get({ name: namespace });
  if (space && !hasLabels(space, wantedOnNamespace)) {
    const problem = await label(desk, sheet, { kind: namespaces, object: space, labels: wantedOnNamespace });
    if (problem) return problem;
  }
  const serviceOf = (name: string) => target.stores.services.get({ name, namespace });
  for (const [name, labels] of wantedServiceLabels(loadbalancer, sheet.wanted, serviceOf)) {
    const service = serviceOf(name);
    if (!service || hasLabels(service, labels)) {
      desk.contested.delete(contestId(sheet.loadbalancer, { namespace: sheet.namespace, service: name }));
      continue;
    }
    const problem = await label(desk, sheet, { kind: services, object: service, labels });
    if (problem) return problem;
  }
  return undefined;
}

/** Labels that are ours and not wanted any more, of a tenant that was another then too. */
export async function labelsAfter(desk: Desk, sheet: Sheet): Promise<Problem | undefined> {
  const { loadbalancer, namespace, target } = sheet;
  const manager = labelManager(loadbalancer.metadata.name);
  const wanted = wantedServiceLabels(loadbalancer, sheet.wanted);
  for (const service of target.stores.services.inNamespace(namespace)) {
    if (wanted.has(service.metadata.name) || !isPointed(service) || !ownsFields(service, manager)) continue;
    const problem = await label(desk, sheet, { kind: services, object: service, labels: {} });
    if (problem) return problem;
  }
  const space = target.stores.namespaces.get({ name: namespace });
  // As long as there is a ConfigMap the agent has to find it, if only to confirm that it is empty.
  if (!sheet.isEmpty || sheet.existing || !space || servesIngresses(desk, sheet)) return undefined;
  const { nsselector } = loadbalancer.spec;
  if (Object.keys(nsselector).length === 0 || !hasLabels(space, nsselector) || !ownsFields(space, manager))
    return undefined;
  return label(desk, sheet, { kind: namespaces, object: space, labels: {} });
}

/** Does an Ingress of the namespace have an address of this Loadbalancer? CIS looks only into namespaces with its labels. */
export function servesIngresses(desk: Desk, { target, namespace, loadbalancer }: Sheet): boolean {
  return [...(target.stores.ingresses?.inNamespace(namespace) ?? [])].some((ingress) => {
    const claim = claimOf(ingress);
    const ticket = claim?.wanted ? desk.lbtickets.read(placeOf(claim.ticket)) : undefined;
    return ticket?.spec.loadbalancer === loadbalancer.metadata.name;
  });
}

interface Labelling {
  kind: Kind<KubeObject>;
  object: KubeObject;
  labels: Record<string, string>;
}

/**
 * The UID makes it an edit of this very object: applying to one that is gone would make a new one. Not forced: a label
 * that somebody else set to another value is theirs. Our agent does not need it, and a CIS shows the pool empty.
 */
async function label(desk: Desk, sheet: Sheet, { kind, object, labels }: Labelling): Promise<Problem | undefined> {
  const { name, namespace, uid } = object.metadata;
  // Empty labels would still be a field of ours, and the Service would look like one that has some.
  const given = Object.keys(labels).length > 0 ? { labels } : {};
  const metadata = { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}), ...given };
  const { loadbalancer, target } = sheet;
  const apiVersion = kind.group ? `${kind.group}/${kind.version}` : kind.version;
  const options = { fieldManager: labelManager(loadbalancer.metadata.name), force: false };
  const applied = await target.kube.apply(kind, { apiVersion, kind: kind.kind, metadata }, options);
  const isConflict = !applied.ok && applied.problem.code === 'conflict';
  if (kind.plural === services.plural) noteContest(desk, sheet, { object, isContested: isConflict });
  if (applied.ok || applied.problem.code === 'missing') return undefined;
  if (!isConflict) return applied.problem;
  desk.log(`labels of ${kind.kind} ${name} stay as somebody else set them: ${applied.problem.message}`);
  return undefined;
}

/** Kept for the tickets, which are told; a pool of a CIS gets its members by these labels alone. */
function noteContest(
  desk: Desk,
  sheet: Sheet,
  { object, isContested }: { object: KubeObject; isContested: boolean },
): void {
  const { name, uid } = object.metadata;
  const id = contestId(sheet.loadbalancer, { namespace: sheet.namespace, service: name });
  const before = desk.contested.get(id);
  if (!isContested) desk.contested.delete(id);
  else desk.contested.set(id, { uid });
  if (!isContested || (before && before.uid === uid)) return;
  for (const ticket of ticketsWith(sheet.wanted, new Set(poolsNaming(sheet.wanted, name))))
    desk.queue.add(`ticket ${ticket}`);
}
