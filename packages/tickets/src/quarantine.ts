// Addresses that a deleted ticket had rest for `spec.reclaimQuarantine`, so that who still knows them by a cached name
// does not meet a stranger there. The history of the deleted ticket says since when, over restarts too.
import type { Lbticket, LoadbalancerIp } from '@fairlead/api';
import type { Desk, Next } from './desk.ts';
import { ticketName } from './names.ts';
import { timeText } from './status.ts';

/** One quarantine: who holds the addresses meanwhile, and for whom they are shown. */
export interface Quarantine {
  holder: string;
  loadbalancer: string;
  ticket: string;
  /** Milliseconds since the epoch. */
  until: number;
}

/** Instead of releasing: the addresses of `ticket`, just deleted, rest. False: there is no quarantine. */
export function rest(desk: Desk, ticket: Lbticket): boolean {
  const quarantine = quarantineOf(desk, ticket);
  if (!quarantine) return false;
  desk.ledger.transfer(ticketName(ticket), quarantine.holder);
  begin(desk, ticket, quarantine);
  return true;
}

/** At start: is this deleted ticket still in quarantine? Then its addresses are. */
export function resume(desk: Desk, ticket: Lbticket): void {
  const quarantine = ticket.status?.process === 'deleted' ? quarantineOf(desk, ticket) : undefined;
  if (!quarantine) return;
  desk.ledger.claim(ticket.spec.loadbalancer, quarantine.holder, ticket.spec);
  begin(desk, ticket, quarantine);
}

/** The turn of a quarantine: it ends when its time has come. The queue's longest wait may be shorter than that. */
export function quarantineTurn(desk: Desk, holder: string): Next {
  const quarantine = desk.quarantines.get(holder);
  const left = (quarantine?.until ?? 0) - desk.clock.now();
  if (left > 0) return { after: left };
  desk.quarantines.delete(holder);
  desk.ledger.release(holder);
  if (quarantine) desk.queue.add(`loadbalancer ${quarantine.loadbalancer}`);
  return { after: 'change' };
}

/** As `status.ips` of the Loadbalancer shows them. */
export function resting(desk: Desk, loadbalancer: string): LoadbalancerIp[] {
  return [...desk.quarantines.values()].flatMap((one): LoadbalancerIp[] => {
    const { veip, ltmip } = desk.ledger.pairOf(loadbalancer, one.holder);
    if (one.loadbalancer !== loadbalancer || !veip || !ltmip) return [];
    return [{ veip, ltmip, status: 'quarantine', ticket: one.ticket }];
  });
}

function begin(desk: Desk, ticket: Lbticket, { holder, until }: { holder: string; until: number }): void {
  const { loadbalancer } = ticket.spec;
  desk.quarantines.set(holder, { holder, loadbalancer, ticket: ticketName(ticket), until });
  desk.queue.add(`quarantine ${holder}`, until - desk.clock.now());
}

function quarantineOf(desk: Desk, ticket: Lbticket): { holder: string; until: number } | undefined {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  const end = ticket.status?.history?.findLast(({ to }) => to === 'deleted');
  // Only a disabled ticket had addresses until then; what the spec of a failed one names was never its own.
  const since = end?.from === 'disabled' ? Date.parse(end.when) : NaN;
  if (!loadbalancer || Number.isNaN(since)) return undefined;
  const until = since + durationOf(loadbalancer.spec.reclaimQuarantine);
  if (until <= desk.clock.now()) return undefined;
  return { holder: `the quarantine of ${ticketName(ticket)} until ${timeText(until)}`, until };
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds; `1h30m` is 5,400,000. */
export function durationOf(text: string): number {
  const parts = [...text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, amount = '0', unit = 'ms']) => sum + Number(amount) * (units[unit] ?? 0), 0);
}
