// A first layer before the place (docs/adr/0018): what it may still lead to stays in the place. Pure.
import { portsReported } from '@fairlead/api';
import { fail, type LoadBalancer } from '@fairlead/core';
import type { Ingress } from '@fairlead/kube';
import type { Group, Ports } from './asked.ts';
import { keyOf, ticketIn } from './names.ts';

export interface Front {
  /** May it lead to a port of that ticket (`namespace/name`) that is none of `ports`? */
  leadsBeyond(ticket: string, ports: readonly number[]): boolean;
  /** Calls back with a ticket of which it may lead to fewer ports now. Returns the way to stop. */
  listen(listener: (ticket: string) => void): () => void;
}

/**
 *   what the place has | wanted now         | the front        | then
 *   -------------------+--------------------+------------------+-----------------------
 *   a port             | it too             | any              | as wanted
 *   a port             | not any longer     | leads no further | as wanted
 *   a port             | not any longer     | may lead there   | it stays as it is
 */
export function isHeld(
  front: Front | undefined,
  ticket: string,
  { had, wanted }: { had: Ports; wanted: Ports },
): boolean {
  if (!front || !had || !wanted || had.every((port) => wanted.includes(port))) return false;
  return front.leadsBeyond(ticket, wanted);
}

/** What the agent said last, also before a restart, that the place has of them. */
export const placedPorts = (all: readonly Ingress[]): number[] =>
  [...new Set(all.flatMap(portsReported))].sort((a, b) => a - b);

export const portsIn = (balancer: LoadBalancer | undefined): number[] =>
  balancer?.listeners.map(({ port }) => port) ?? [];

/** `waits`: what the place has stays, as the front may lead there yet. */
export function withPorts(group: Group, { had, waits }: { had: Ports; waits: boolean }): Group {
  if (!waits) return { ...group, ports: group.refusal ? had : portsIn(group.balancer) };
  const { origin, scope, balancer: _, ...rest } = group;
  const other = { ...origin, revision: `${origin.revision}-waits` };
  const problem = fail('busy', 'the LTM has not confirmed yet that it leads no longer to what goes').problem;
  const refusal = { origin: other, key: keyOf(scope, ticketIn(origin.name)), problem };
  return { ...rest, scope, origin: other, refusal, ports: had };
}
