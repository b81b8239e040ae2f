// The application for the network policy of a ticket: filed, asked about, taken back.
import type { Lbticket } from '@fairlead/api';
import { ok, type Result } from '@fairlead/core';
import { laterTry, type Desk } from './desk.ts';
import { approverOf, filingNow, keyOf, noLoadbalancer } from './filing.ts';
import { fails, failed, holds, onChange, said, stay, type Finding } from './finding.ts';
import { annotations, ticketName } from './names.ts';

/** A created ticket: the application is filed, and its id comes with the next state. */
export async function file(desk: Desk, ticket: Lbticket): Promise<Finding> {
  const name = ticketName(ticket);
  const wait = isPollForced(desk, ticket) ? 0 : waiting(desk, name);
  if (wait > 0) return stay({}, { after: wait });
  const found = filingNow(desk, ticket) ? approverOf(desk, ticket) : noLoadbalancer(ticket);
  if (!found.ok) return stay({ NetworkPolicyOpen: failed(found.problem) }, { after: laterTry(desk, name) });
  // Noted before the call: an answer that is lost on the way leaves an application that nobody else knows of.
  const mayBeThere = desk.filing.has(name);
  desk.filing.add(name);
  const filed = await found.value.approver.file(found.value.at, found.value.application, keyOf(ticket));
  if (!filed.ok && filed.isUnheard && !mayBeThere) desk.filing.delete(name);
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
    // Withdrawn in a turn that did not come to its end, or forgotten by the approver. Not at once, and each time later: it may forget the next one too.
    laterTry(desk, refileKey(name));
    const why = `approver ${found.value.at.provider} does not know application ${id}; it is filed anew`;
    // No user did this, whoever edited the ticket last.
    return { ...refile(desk, ticket, why), who: '' };
  }
  if (!answer.ok) {
    const { problem } = found.value.explained(answer.problem);
    return stay({ NetworkPolicyOpen: failed(problem) }, { after: laterTry(desk, name) });
  }
  const { status, message, who } = answer.value;
  if (status === 'pending') {
    const facts = { NetworkPolicyOpen: fails('pending', message || `application ${id} is not decided yet`) };
    return stay(facts, { after: laterTry(desk, name) });
  }
  for (const key of [name, refileKey(name)]) desk.tries.delete(key);
  if (status === 'opened') {
    const why = message || `application ${id} is opened`;
    return { event: 'opened', why, who, facts: { NetworkPolicyOpen: holds('Opened', why) }, next: onChange };
  }
  const why = `application ${id} is rejected${message ? `: ${message}` : ''}; edit the ticket to file again`;
  return { event: 'rejected', why, who, facts: { NetworkPolicyOpen: fails('rejected', why) }, next: onChange };
}

/** Whatever was filed is worth nothing any more, and there will be another: polls of this one keep it from nothing. */
export function refile(desk: Desk, ticket: Lbticket, why: string): Finding {
  desk.tries.delete(ticketName(ticket));
  const facts = { NetworkPolicyOpen: fails('pending', 'no application is filed yet') };
  return { event: 'refile', why, facts, application: null, filing: filingNow(desk, ticket) ?? null, next: onChange };
}

/** Takes back whatever the approver may have of this ticket. Safe to repeat. */
export async function withdraw(desk: Desk, ticket: Lbticket): Promise<Result<void>> {
  const name = ticketName(ticket);
  const known = ticket.status?.application;
  if (known === undefined && !desk.filing.has(name)) return ok(undefined);
  const found = approverOf(desk, ticket);
  if (!found.ok) return found;
  const { approver, at, application, explained } = found.value;
  // An application whose id was lost on the way: asking again with its key gives the id, and files nothing new.
  const id = known === undefined ? await approver.file(at, application, keyOf(ticket)) : ok(known);
  // What was taken once is not refused under the same key: so nothing is there.
  const isNone = !id.ok && (id.problem.code === 'invalid' || id.problem.code === 'missing');
  const gone = isNone ? ok(undefined) : id.ok ? await approver.withdraw(at, id.value) : id;
  if (!gone.ok) return explained(gone.problem);
  desk.filing.delete(name);
  return gone;
}

/** Does nobody but us hear of its application? */
export function isAnsweredHere(desk: Desk, ticket: Lbticket): boolean {
  const found = approverOf(desk, ticket);
  return found.ok && found.value.approver.isLocal === true;
}

/** Waits after an application that was gone outlast the next filing: only an answer ends them. */
export const refileKey = (name: string): string => `refile ${name}`;

const waiting = ({ tries, clock }: Desk, name: string): number =>
  Math.max(tries.get(name)?.at ?? 0, tries.get(refileKey(name))?.at ?? 0) - clock.now();

/** A new value of the annotation asks at once; the same value asks once. */
function isPollForced(desk: Desk, ticket: Lbticket): boolean {
  const asked = ticket.metadata.annotations?.[annotations.pollNow];
  if (asked === undefined || desk.polled.get(ticketName(ticket)) === asked) return false;
  desk.polled.set(ticketName(ticket), asked);
  return true;
}
