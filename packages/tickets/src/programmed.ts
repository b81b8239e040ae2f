// Is what a ticket asks for on the device? Read from its ConfigMap, where the agent reports.
import type { Lbticket } from '@fairlead/api';
import type { ConfigMap } from '@fairlead/kube';
import type { Desk } from './desk.ts';
import { configMapKey } from './directory.ts';
import { failed, fails, holds } from './finding.ts';
import { configMapName, ticketName } from './names.ts';
import { readEntries } from './configmap.ts';
import { isDone, outcomeOf } from './report.ts';
import { isTrue, type Fact } from './status.ts';

/** What of the desk this needs. */
export type ProgrammedDesk = Pick<Desk, 'loadbalancers' | 'target' | 'partOf' | 'refused' | 'pending'>;

/** The condition `Programmed` of an enabled ticket; undefined leaves it as it is. */
export function programmed(desk: ProgrammedDesk, ticket: Lbticket): Fact | undefined {
  if ((ticket.spec.listners?.length ?? 0) === 0) return holds('NothingToProgram', 'the ticket has no listners');
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) return fails('missing', `Loadbalancer "${ticket.spec.loadbalancer}" does not exist`);
  const part = desk.partOf(ticket, loadbalancer);
  if (!part.ok) return failed(part.problem);
  const name = ticketName(ticket);
  const key = configMapKey(ticket);
  const refusals = desk.refused.get(key);
  const refused = refusals?.byTicket.get(name) ?? refusals?.whole;
  if (refused) return failed(refused);
  const configMap = configMapOf(desk, ticket);
  if (!configMap || readEntries(configMap)[name]?.digest !== part.value.digest) return onItsWay(desk, ticket);
  if (loadbalancer.spec.cis.mode === 'external')
    return holds('Written', 'written for the CIS of the cluster, which does not report back');
  const outcome = outcomeOf(configMap, name);
  if (outcome === 'programmed') return holds('Programmed');
  if (outcome !== 'pending') return fails(outcome.code, outcome.message);
  // While a neighbour's edit is on its way, what this ticket has on the device stays as it was.
  return isTrue(ticket, 'Programmed') && !desk.pending.get(key).has(name) ? undefined : onItsWay(desk, ticket);
}

/** Noted, so that the next report of the agent gives the ticket a turn. */
function onItsWay(desk: ProgrammedDesk, ticket: Lbticket): Fact {
  desk.pending.add(configMapKey(ticket), ticketName(ticket));
  return fails('pending', 'what is asked for is on its way to the device');
}

/** Did the agent confirm that nothing of the ticket is left? Then its addresses may go to someone else. */
export function isCleared(desk: ProgrammedDesk, ticket: Lbticket): boolean {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  // Without its Loadbalancer nobody knows where to look, and nobody can give its addresses away either.
  if (!loadbalancer) return true;
  const target = desk.target(loadbalancer.spec.cluster);
  if (!target?.stores.configmaps.synced) return false;
  const configMap = configMapOf(desk, ticket);
  if (!configMap) return true;
  if (ticketName(ticket) in readEntries(configMap)) return false;
  return loadbalancer.spec.cis.mode === 'external' || isDone(configMap);
}

export function configMapOf(desk: ProgrammedDesk, ticket: Lbticket): ConfigMap | undefined {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) return undefined;
  const at = { name: configMapName(ticket.spec.loadbalancer), namespace: ticket.spec.namespace };
  return desk.target(loadbalancer.spec.cluster)?.configMaps.read(at);
}
