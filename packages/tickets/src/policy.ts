// The application for the network policy of a ticket: filed, asked about, taken back.
import type { Lbticket } from '@fairlead/api';
import { fail, ok, type Result } from '@fairlead/core';
import type { Application, Approver, PolicyAt } from './approver.ts';
import { laterTry, type Desk } from './desk.ts';
import { fails, failed, holds, onChange, said, stay, type Finding } from './finding.ts';
import { annotations, ticketName } from './names.ts';

/** A created ticket: the application is filed, and its id comes with the next state. */
export async function file(desk: Desk, ticket: Lbticket): Promise<Finding> {
  const name = ticketName(ticket);
  const wait = waiting(desk, name);
  if (wait > 0) return stay({}, { after: wait });
  const found = approverOf(desk, ticket);
  if (!found.ok) return stay({ NetworkPolicyOpen: failed(found.problem) }, { after: laterTry(desk, name) });
  // Noted before the call: an answer that is lost on the way leaves an application that nobody else knows of.
  desk.filing.add(name);
  const filed = await found.value.approver.file(
    found.value.at,
    applicationOf(found.value.cluster, ticket),
    keyOf(ticket),
  );
  if (filed.ok) {
    desk.tries.delete(name);
    const why = `application ${filed.value} is filed with approver ${found.value.at.provider}`;
    return {
      event: 'filed',
      why,
      facts: { NetworkPolicyOpen: fails('pending', why) },
      application: filed.value,
      next: onChange,
    };
  }
  // Only what is wrong with the application itself is the user's to mend; the rest is the approver's, or the platform's.
  if (filed.problem.code !== 'invalid')
    return stay({ NetworkPolicyOpen: failed(filed.problem) }, { after: laterTry(desk, name) });
  desk.filing.delete(name);
  const why = `approver ${found.value.at.provider} refused the application: ${said(filed.problem)}; edit the ticket to file again`;
  return { event: 'rejected', why, facts: { NetworkPolicyOpen: fails('rejected', why) }, next: onChange };
}

/** A ticket in `apply`: what did the approver decide? */
export async function askApprover(desk: Desk, ticket: Lbticket): Promise<Finding> {
  const name = ticketName(ticket);
  const found = approverOf(desk, ticket);
  const wait = isPollForced(desk, ticket) || (found.ok && found.value.approver.isLocal) ? 0 : waiting(desk, name);
  if (wait > 0) return stay({}, { after: wait });
  if (!found.ok) return stay({ NetworkPolicyOpen: failed(found.problem) }, { after: laterTry(desk, name) });
  const id = ticket.status?.application;
  if (id === undefined) throw new Error(`bug: ticket ${name} is in apply and has no application`);
  const answer = await found.value.approver.ask(found.value.at, id, ticket);
  if (!answer.ok && answer.problem.code === 'missing') {
    // Withdrawn in a turn that did not come to its end, or forgotten by the approver. Not at once: it may forget the next one too.
    laterTry(desk, name);
    return refile(`approver ${found.value.at.provider} does not know application ${id}; it is filed anew`);
  }
  if (!answer.ok) return stay({ NetworkPolicyOpen: failed(answer.problem) }, { after: laterTry(desk, name) });
  const { status, message, who } = answer.value;
  if (status === 'pending') {
    const facts = { NetworkPolicyOpen: fails('pending', message || `application ${id} is not decided yet`) };
    return stay(facts, { after: laterTry(desk, name) });
  }
  desk.tries.delete(name);
  if (status === 'opened') {
    const why = message || `application ${id} is opened`;
    return { event: 'opened', why, who, facts: { NetworkPolicyOpen: holds('Opened', why) }, next: onChange };
  }
  const why = `application ${id} is rejected${message ? `: ${message}` : ''}; edit the ticket to file again`;
  return { event: 'rejected', why, who, facts: { NetworkPolicyOpen: fails('rejected', why) }, next: onChange };
}

/** Whatever was filed is worth nothing any more, and there will be another. */
export const refile = (why: string): Finding => ({
  event: 'refile',
  why,
  facts: { NetworkPolicyOpen: fails('pending', 'no application is filed yet') },
  application: null,
  next: onChange,
});

/** Takes back whatever the approver may have of this ticket. Safe to repeat. */
export async function withdraw(desk: Desk, ticket: Lbticket): Promise<Result<void>> {
  const name = ticketName(ticket);
  const known = ticket.status?.application;
  if (known === undefined && !desk.filing.has(name)) return ok(undefined);
  const found = approverOf(desk, ticket);
  if (!found.ok) return found;
  const { approver, at, cluster } = found.value;
  // An application whose id was lost on the way: asking again with its key gives the id, and files nothing new.
  const id = known === undefined ? await approver.file(at, applicationOf(cluster, ticket), keyOf(ticket)) : ok(known);
  if (!id.ok) return id;
  const gone = await approver.withdraw(at, id.value);
  if (gone.ok) desk.filing.delete(name);
  return gone;
}

interface Found {
  approver: Approver;
  at: PolicyAt;
  cluster: string;
}

function approverOf(desk: Desk, ticket: Lbticket): Result<Found> {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer)
    return fail('missing', `Loadbalancer "${ticket.spec.loadbalancer}" does not exist`, 'spec.loadbalancer');
  const at = loadbalancer.spec.policy;
  const approver = desk.approvers[at.provider];
  if (approver) return ok({ approver, at, cluster: loadbalancer.spec.cluster });
  const why = `this controller has no approver "${at.provider}"; it has ${Object.keys(desk.approvers).join(', ') || 'none'}`;
  return fail('missing', `Loadbalancer ${loadbalancer.metadata.name}, spec.policy.provider: ${why}`);
}

/** Does nobody but us hear of its application? */
export function isAnsweredHere(desk: Desk, ticket: Lbticket): boolean {
  const found = approverOf(desk, ticket);
  return found.ok && found.value.approver.isLocal === true;
}

const applicationOf = (cluster: string, ticket: Lbticket): Application => ({
  ticket: ticketName(ticket),
  cluster,
  namespace: ticket.spec.namespace,
  veip: ticket.status?.veip ?? '',
  ltmip: ticket.status?.ltmip ?? '',
  claimer: ticket.spec.claimer ?? '',
});

/** One application per edit: UID and the generation that the addresses were found for. */
const keyOf = (ticket: Lbticket): string => `${ticket.metadata.uid ?? ''}-${ticket.status?.observedGeneration ?? 0}`;

const waiting = (desk: Desk, name: string): number => (desk.tries.get(name)?.at ?? 0) - desk.clock.now();

/** A new value of the annotation asks at once; the same value asks once. */
function isPollForced(desk: Desk, ticket: Lbticket): boolean {
  const asked = ticket.metadata.annotations?.[annotations.pollNow];
  if (asked === undefined || desk.polled.get(ticketName(ticket)) === asked) return false;
  desk.polled.set(ticketName(ticket), asked);
  return true;
}
