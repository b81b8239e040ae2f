// Addresses that a deleted ticket had rest for `spec.reclaimQuarantine`, so that who still knows them by a cached name
// does not meet a stranger there. Over restarts the history of the deleted ticket says since when, and once its object is
// removed, the status of the Loadbalancer until when.
import type { Lbticket, Loadbalancer, LoadbalancerIp, LoadbalancerStatus } from '@fairlead/api';
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
  /** Does the Loadbalancer's status say so? Then who comes after us knows it without the ticket. */
  isShown: boolean;
}

/** Instead of releasing: the addresses of `ticket`, just deleted, rest. False: there is no quarantine. */
export function rest(desk: Desk, ticket: Lbticket): boolean {
  const quarantine = quarantineOf(desk, ticket);
  if (!quarantine) return false;
  desk.ledger.transfer(ticketName(ticket), quarantine.holder);
  begin(desk, { ...quarantine, isShown: false });
  return true;
}

/** At start: is this deleted ticket still in quarantine? Then its addresses are. */
export function resume(desk: Desk, ticket: Lbticket): void {
  const quarantine = ticket.status?.process === 'deleted' ? quarantineOf(desk, ticket) : undefined;
  if (!quarantine) return;
  if (desk.quarantines.has(quarantine.holder)) return;
  desk.ledger.claim(ticket.spec.loadbalancer, quarantine.holder, ticket.spec);
  begin(desk, { ...quarantine, isShown: false });
}

/** At start, once all are noted who show an address: what the status says to be in quarantine is, whatever became of its ticket. */
export function resumeShown(desk: Desk, { metadata: { name }, status }: Loadbalancer): void {
  for (const { ticket = '', until: end, veip, ltmip, ...ip } of status?.ips ?? []) {
    const until = ip.status === 'quarantine' ? Date.parse(end ?? '') : NaN;
    if (Number.isNaN(until) || until <= desk.clock.now()) continue;
    const holder = holderOf(ticket, until);
    desk.ledger.claim(name, holder, { veip, ltmip });
    begin(desk, { holder, loadbalancer: name, ticket, until, isShown: true });
  }
}

/** The object of a deleted ticket has to stay until something else tells of its quarantine. */
export function isNeeded(desk: Desk, ticket: Lbticket): boolean {
  const quarantine = quarantineOf(desk, ticket);
  return quarantine !== undefined && desk.quarantines.get(quarantine.holder)?.isShown === false;
}

/** `status` is written: the tickets of quarantines that it now shows are needed no longer. */
export function wakeShown(desk: Desk, { ips = [] }: LoadbalancerStatus): void {
  for (const { ticket = '', until, status } of ips) {
    const known = status === 'quarantine' ? desk.quarantines.get(holderOf(ticket, Date.parse(until ?? ''))) : undefined;
    if (!known || known.isShown) continue;
    known.isShown = true;
    desk.queue.add(`ticket ${ticket}`);
  }
}

/** The turn of a quarantine: it ends when its time has come. The queue's longest wait may be shorter than that. */
export function quarantineTurn(desk: Desk, holder: string): Next {
  const quarantine = desk.quarantines.get(holder);
  const left = (quarantine?.until ?? 0) - desk.clock.now();
  if (left > 0) return { after: left };
  desk.quarantines.delete(holder);
  desk.ledger.release(holder);
  if (quarantine) {
    desk.queue.add(`loadbalancer ${quarantine.loadbalancer}`);
    desk.queue.add(`ticket ${quarantine.ticket}`);
  }
  return { after: 'change' };
}

/** As `status.ips` of the Loadbalancer shows them, in the order in which they began. */
export function resting(desk: Desk, loadbalancer: string): LoadbalancerIp[] {
  return [...desk.quarantines.values()].flatMap((one): LoadbalancerIp[] => {
    const { veip, ltmip } = desk.ledger.pairOf(loadbalancer, one.holder);
    if (one.loadbalancer !== loadbalancer || !veip || !ltmip) return [];
    return [{ veip, ltmip, status: 'quarantine', ticket: one.ticket, until: timeText(one.until) }];
  });
}

function begin(desk: Desk, quarantine: Quarantine): void {
  desk.quarantines.set(quarantine.holder, quarantine);
  desk.queue.add(`quarantine ${quarantine.holder}`, quarantine.until - desk.clock.now());
}

function quarantineOf(desk: Desk, ticket: Lbticket): Omit<Quarantine, 'isShown'> | undefined {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  const end = ticket.status?.history?.findLast(({ to }) => to === 'deleted');
  // Only a disabled ticket had addresses until then; what the spec of a failed one names was never its own.
  const since = end?.from === 'disabled' ? Date.parse(end.when) : NaN;
  if (!loadbalancer || Number.isNaN(since)) return undefined;
  const until = since + durationOf(loadbalancer.spec.reclaimQuarantine);
  if (until <= desk.clock.now()) return undefined;
  const name = ticketName(ticket);
  return { holder: holderOf(name, until), loadbalancer: loadbalancer.metadata.name, ticket: name, until };
}

const holderOf = (ticket: string, until: number): string =>
  `the quarantine of ${ticket} until ${Number.isNaN(until) ? '' : timeText(until)}`;

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds; `1h30m` is 5,400,000. */
export function durationOf(text: string): number {
  const parts = [...text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, amount = '0', unit = 'ms']) => sum + Number(amount) * (units[unit] ?? 0), 0);
}
