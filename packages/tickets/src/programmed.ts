// Is what a ticket asks for on the device? Read from its ConfigMap, where the agent reports.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import type { Problem } from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import { certificateProblems, certificatesValid, ruleProblems } from './certificates.ts';
import { cisLimits } from './cis-limits.ts';
import type { Desk } from './desk.ts';
import { configMapKey } from './directory.ts';
import { failed, fails, holds, unknown } from './finding.ts';
import { configMapName, ticketName } from './names.ts';
import { readEntries } from './configmap.ts';
import { ingressLeft, ingressProgrammed } from './ingress-programmed.ts';
import { labelConflict } from './label-conflicts.ts';
import { clusterOutage, deviceAway, deviceState, isRead, untilNews, type On } from './reach.ts';
import { isDone, outcomeOf } from './report.ts';
import { servicesFound } from './services.ts';
import { conditionOf, isTrue, type Fact, type Facts } from './status.ts';
import { quick } from './wake.ts';

/** What of the desk this needs. */
export type ProgrammedDesk = Pick<
  Desk,
  | 'loadbalancers'
  | 'target'
  | 'outlineOf'
  | 'refused'
  | 'contested'
  | 'pending'
  | 'writing'
  | 'queue'
  | 'surroundings'
  | 'clock'
>;

/** The condition `Programmed` of an enabled ticket; undefined leaves it as it is. */
export function programmed(desk: ProgrammedDesk, ticket: Lbticket): Fact | undefined {
  if (ticket.spec.lbtype === 'ingress') return byIngresses(desk, ticket);
  if ((ticket.spec.listners?.length ?? 0) === 0) return holds('NothingToProgram', 'the ticket has no listners');
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) return fails('missing', `Loadbalancer "${ticket.spec.loadbalancer}" does not exist`);
  const outline = desk.outlineOf(ticket, loadbalancer);
  if (!outline.ok) return failed(outline.problem);
  const name = ticketName(ticket);
  const key = configMapKey(ticket);
  const refusals = desk.refused.get(key);
  const refused = refusals?.byTicket.get(name);
  if (refused) return failed(refused);
  const configMap = configMapOf(desk, ticket);
  const isWritten = readEntries(configMap)[name]?.digest === outline.value.digest;
  const away = awayCluster(desk, loadbalancer);
  // What was there is there still, as far as anybody knows; an edit that waits is not.
  if (away) return (configMap ? isWritten : !isFalse(ticket)) ? unknown(away) : failed(away);
  if (refusals?.whole) return failed(refusals.whole);
  // Before the cluster was read nothing is known of its ConfigMaps, and what was said before may well be true.
  if (!isRead(desk.target(loadbalancer.spec.cluster))) return undefined;
  if (!configMap || !isWritten) return onItsWay(desk, ticket);
  const conflict = labelConflict(desk, ticket, configMap);
  if (conflict?.status === 'True') return fails('LabelConflict', conflict.message);
  if (loadbalancer.spec.cis.mode === 'external') {
    const { services } = desk.target(loadbalancer.spec.cluster)?.stores ?? {};
    const limits = cisLimits(outline.value, (service) =>
      services?.get({ namespace: ticket.spec.namespace, name: service }),
    );
    const said = ['written for the CIS of the cluster, which does not report back', ...limits].join('; ');
    const written = holds('Written', said);
    return throughLtm(desk, ticket, { loadbalancer, below: written });
  }
  const outcome = outcomeOf(configMap, name);
  if (outcome === 'programmed') {
    const lacks = [...ruleProblems(ticket, configMap), ...certificateProblems(ticket, configMap)];
    const without = lacks.find(({ code }) => code !== 'expired');
    if (without) return fails(without.code, without.message);
    const below = awayFact(desk, { loadbalancer, layer: 've' }) ?? holds('Programmed');
    return throughLtm(desk, ticket, { loadbalancer, below });
  }
  if (outcome !== 'pending') return wrongOn(desk, ticket, { loadbalancer, layer: 've', problem: outcome });
  // While a neighbour's edit is on its way, what this ticket has on the device stays as it was.
  return isTrue(ticket, 'Programmed') && !desk.pending.get(key).has(name) ? undefined : onItsWay(desk, ticket);
}

function byIngresses(desk: ProgrammedDesk, ticket: Lbticket): Fact | undefined {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  const away = loadbalancer && awayCluster(desk, loadbalancer);
  if (away) return unknown(away);
  const fact = ingressProgrammed(desk, ticket);
  if (fact?.reason === 'NothingToProgram') return leftOnLtm(desk, ticket) ?? fact;
  if (fact?.status !== 'True' || !loadbalancer) return fact;
  const isOnVe = fact.reason === 'Programmed';
  const below = (isOnVe ? awayFact(desk, { loadbalancer, layer: 've' }) : undefined) ?? fact;
  return throughLtm(desk, ticket, { loadbalancer, below });
}

const isFalse = (ticket: Lbticket): boolean => conditionOf(ticket, 'Programmed')?.status === 'False';

/** The cluster, when it has been away for long enough to say so. */
function awayCluster(desk: ProgrammedDesk, { spec: { cluster } }: Loadbalancer): Problem | undefined {
  const outage = desk.surroundings?.cluster(cluster);
  return outage && untilNews(desk, outage) <= 0 ? clusterOutage(cluster, outage) : undefined;
}

/** It was put there; while the device cannot be asked, nobody knows more. Undefined while it can. */
function awayFact(desk: ProgrammedDesk, on: On): Fact | undefined {
  const away = deviceAway(desk, on);
  return away && unknown(away);
}

/** A problem as it may stand in a report. */
type Wrong = Readonly<{ code: string; message: string }>;

/**
 *   the device           | the ticket was there | then
 *   ---------------------+----------------------+-------------------------------------------
 *   is away since long   | yes                  | Unknown: what is on it stays as it is
 *   is away since now    | yes                  | as it was said before (undefined)
 *   is away              | no                   | False: what is asked for is not there
 *   answers              | –                    | False: the device says what is wrong
 */
function wrongOn(desk: ProgrammedDesk, ticket: Lbticket, wrong: On & { problem: Wrong }): Fact | undefined {
  const { problem } = wrong;
  const said = wrong.layer === 'ltm' ? `LTM: ${problem.message}` : problem.message;
  const was = conditionOf(ticket, 'Programmed')?.status;
  const state = deviceState(desk, wrong);
  const isAway = typeof state === 'object' && state.problem.code === problem.code;
  if (!isAway || was === undefined || was === 'False') return fails(problem.code, said);
  return awayFact(desk, wrong);
}

/** `below`: what is to be said of the VE. Where the LTM is ours to configure, it has to lead there. */
function throughLtm(
  desk: ProgrammedDesk,
  ticket: Lbticket,
  { loadbalancer, below }: { loadbalancer: Loadbalancer; below: Fact },
): Fact | undefined {
  const state = desk.surroundings?.ltm?.(ticket) ?? 'none';
  if (state === 'none') return below;
  if (typeof state === 'object') return wrongOn(desk, ticket, { loadbalancer, layer: 'ltm', problem: state.problem });
  if (state !== 'programmed') return fails('pending', 'the LTM does not lead to the VE yet');
  return below.status === 'True' ? (awayFact(desk, { loadbalancer, layer: 'ltm' }) ?? below) : below;
}

/** What is left on the LTM: as long as it leads here, nothing behind it may go. */
function leftOnLtm(desk: ProgrammedDesk, ticket: Lbticket): Fact | undefined {
  const state = desk.surroundings?.ltm?.(ticket) ?? 'none';
  if (state === 'none' || state === 'clear') return undefined;
  if (typeof state === 'object') return fails(state.problem.code, `LTM: ${state.problem.message}`);
  return fails('pending', 'the LTM has not confirmed yet that it leads to the VE no longer');
}

/** What an enabled ticket's status says of the device. */
export function factsOf(desk: ProgrammedDesk, ticket: Lbticket): Facts {
  const configMap = configMapOf(desk, ticket);
  const Programmed = programmed(desk, ticket);
  const CertificatesValid = certificatesValid(ticket, configMap);
  const ServicesFound = servicesFound(desk, ticket);
  const LabelConflict = labelConflict(desk, ticket, configMap);
  return {
    ...(Programmed && { Programmed }),
    ...(CertificatesValid && { CertificatesValid }),
    ...(ServicesFound && { ServicesFound }),
    ...(LabelConflict && { LabelConflict }),
  };
}

/** Noted, so that the next report of the agent gives the ticket a turn. */
function onItsWay(desk: ProgrammedDesk, ticket: Lbticket): Fact {
  desk.pending.add(configMapKey(ticket), ticketName(ticket));
  return fails('pending', 'what is asked for is on its way to the device');
}

/** `fact`: for the condition `Programmed`; absent leaves it as it is. */
interface Clearance {
  isClear: boolean;
  fact?: Fact;
}

/** Did the agent confirm that nothing of the ticket is left? Then its addresses may go to someone else. */
export function clearanceOf(desk: ProgrammedDesk, ticket: Lbticket): Clearance {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) {
    const why = `Loadbalancer "${ticket.spec.loadbalancer}" does not exist; create it again, so that what the ticket left on its device can be removed`;
    return { isClear: false, fact: fails('missing', why) };
  }
  const left = leftOnLtm(desk, ticket);
  if (left) return { isClear: false, fact: left };
  const away = awayCluster(desk, loadbalancer);
  if (!isRead(desk.target(loadbalancer.spec.cluster)))
    return { isClear: false, ...(away ? { fact: unknown(away) } : {}) };
  const configMap = configMapOf(desk, ticket);
  if (ticket.spec.lbtype === 'ingress') {
    const left = loadbalancer.spec.cis.mode === 'external' ? undefined : ingressLeft(desk, ticket);
    if (left !== undefined) return { isClear: false, fact: away ? unknown(away) : fails('pending', left) };
  }
  // What is being written in this moment may have the ticket in it, and nobody tells when it has not.
  if (desk.writing.has(configMapKey(ticket))) {
    desk.queue.add(`ticket ${ticketName(ticket)}`, quick);
    return { isClear: false };
  }
  const isOut = !configMap || !(ticketName(ticket) in readEntries(configMap));
  if (isOut && loadbalancer.spec.cis.mode === 'external') {
    const why =
      'taken out of what the CIS of the cluster reads; it does not report back whether the device has done so';
    return { isClear: true, fact: fails('Withdrawn', why) };
  }
  if (isOut && (!configMap || isDone(configMap)))
    return { isClear: true, fact: fails('disabled', 'nothing of the ticket is on the device') };
  desk.pending.add(configMapKey(ticket), ticketName(ticket));
  if (away) return { isClear: false, fact: unknown(away) };
  return { isClear: false, fact: fails('pending', 'the device has not confirmed yet that the configuration is gone') };
}

function configMapOf(desk: ProgrammedDesk, ticket: Lbticket): ConfigMap | undefined {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) return undefined;
  const at = { name: configMapName(ticket.spec.loadbalancer), namespace: ticket.spec.namespace };
  return desk.target(loadbalancer.spec.cluster)?.configMaps.read(at);
}
