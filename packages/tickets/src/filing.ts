// Where the application of a ticket is filed and what it says, as its status has it: the Loadbalancer may name another approver by now.
import type { Filing, Lbticket } from '@fairlead/api';
import { fail, isEqual, type Problem, type Result } from '@fairlead/core';
import type { Application, Approver, PolicyAt } from './approver.ts';
import type { Desk } from './desk.ts';
import { ticketName } from './names.ts';

type FilingDesk = Pick<Desk, 'loadbalancers' | 'approvers'>;

/** What would be filed now, and where; undefined without a Loadbalancer. */
export function filingNow({ loadbalancers }: FilingDesk, { spec }: Lbticket): Filing | undefined {
  const loadbalancer = loadbalancers.get({ name: spec.loadbalancer });
  if (!loadbalancer) return undefined;
  const { cluster, policy } = loadbalancer.spec;
  return {
    loadbalancer: spec.loadbalancer,
    ...placeOf(policy),
    cluster,
    namespace: spec.namespace,
    ...(spec.claimer ? { claimer: spec.claimer } : {}),
  };
}

/** Only an approver over HTTP has a URL. */
const placeOf = ({ provider, url }: PolicyAt): Pick<Filing, 'provider' | 'url'> =>
  provider === 'http' && url !== undefined ? { provider, url } : { provider };

/** Would it be filed elsewhere, or say something else? */
export function isFiledOtherwise(desk: FilingDesk, ticket: Lbticket): boolean {
  const now = filingNow(desk, ticket);
  return now !== undefined && !isEqual(now, ticket.status?.filing);
}

/** Does the application say what the ticket no longer says? */
export function isSaidOtherwise(desk: FilingDesk, ticket: Lbticket): boolean {
  const [now, then] = [filingNow(desk, ticket), ticket.status?.filing];
  return now !== undefined && then !== undefined && !isEqual(wordsOf(now), wordsOf(then));
}

const wordsOf = ({ cluster, namespace, claimer }: Filing) => ({ cluster, namespace, claimer });

export const noLoadbalancer = ({ spec }: Lbticket) =>
  fail('missing', `Loadbalancer "${spec.loadbalancer}" does not exist`, 'spec.loadbalancer');

export interface Found {
  approver: Approver;
  at: PolicyAt;
  application: Application;
  /** Says of a problem what the platform has to do with it, if anything. */
  explained: (problem: Problem) => { ok: false; problem: Problem };
}

/** Who has the application of the ticket, or will get it. */
export function approverOf(desk: FilingDesk, ticket: Lbticket): Result<Found> {
  const filing = ticket.status?.filing ?? filingNow(desk, ticket);
  if (!filing) return noLoadbalancer(ticket);
  const { loadbalancer, provider, url } = filing;
  const approver = desk.approvers[provider];
  if (!approver) {
    const why = `this controller has no approver "${provider}"; it has ${Object.keys(desk.approvers).join(', ') || 'none'}`;
    return fail('missing', `Loadbalancer ${loadbalancer}, spec.policy.provider: ${why}`);
  }
  const policy = desk.loadbalancers.get({ name: loadbalancer })?.spec.policy;
  const isThere = policy !== undefined && isEqual(placeOf(policy), placeOf(filing));
  // A token is for the place that its Loadbalancer names it for, and for no other.
  const at: PolicyAt = isThere ? policy : { provider, ...(url === undefined ? {} : { url }) };
  const explained = ({ code, message, path }: Problem) =>
    isThere ? fail(code, message, path) : fail(code, `${message}; ${estranged(filing)}`, path);
  return { ok: true, value: { approver, at, application: applicationOf(ticket, filing), explained } };
}

const estranged = ({ loadbalancer, provider, url }: Filing): string =>
  `the application was filed with approver ${[provider, url].filter(Boolean).join(' ')} of Loadbalancer ${loadbalancer}, whose spec.policy names another by now, so no token is sent: let it name that one until this is settled`;

const applicationOf = (ticket: Lbticket, { cluster, namespace, claimer = '' }: Filing): Application => ({
  ticket: ticketName(ticket),
  cluster,
  namespace,
  veip: ticket.status?.veip ?? '',
  ltmip: ticket.status?.ltmip ?? '',
  claimer,
});

/**
 * One application per edit: UID and the generation that the addresses were found for. One that is filed anew without an
 * edit has another key: an approver gives for a key it knows the first id, though that application be gone.
 */
export function keyOf({ metadata, status }: Lbticket): string {
  const key = `${metadata.uid ?? ''}-${status?.observedGeneration ?? 0}`;
  return status?.refiled ? `${key}-${status.refiled}` : key;
}
