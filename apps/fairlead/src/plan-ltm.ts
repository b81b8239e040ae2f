// What tickets would configure on a LTM that is ours (`ltm.mode: as3`), for `fairlead plan`.
import type { Lbticket } from '@fairlead/api';
import { compile, declaration } from '@fairlead/as3';
import type { Problem } from '@fairlead/core';
import { ltmWish, ticketName } from '@fairlead/tickets';
import type { Group } from './plan.ts';
import type { Wishes } from './wishes.ts';

/**
 * One for each of `tickets` that the LTM is to lead to the VE. `portsOf`: of one for Ingresses, those they are served on;
 * undefined when they cannot be told, and then nothing is said of its LTM.
 */
export function ltmGroups(
  { loadbalancers }: Pick<Wishes, 'loadbalancers'>,
  tickets: readonly Lbticket[],
  portsOf: (ticket: Lbticket) => readonly number[] | undefined,
): Group[] {
  return tickets.flatMap((ticket): Group[] => {
    const loadbalancer = loadbalancers.get(ticket.spec.loadbalancer);
    if (loadbalancer?.spec.ltm.mode !== 'as3') return [];
    const { balancer } = ltmWish(loadbalancer, asEnabled(ticket), portsOf(ticket));
    if (!balancer) return [];
    const empty = { loadbalancer, layer: 'ltm' as const, namespace: ticket.spec.namespace, notes: [] };
    const form = compile(balancer);
    if (!form.ok) {
      const problems = new Map<string, Problem>([[`Lbticket ${ticketName(ticket)}`, form.problem]]);
      return [{ ...empty, template: '{}', applications: [], problems }];
    }
    const name = balancer.key.slice(balancer.scope.length + 1);
    const template = JSON.stringify(declaration({ [balancer.scope]: { [name]: form.value } }));
    return [{ ...empty, template, applications: [balancer], problems: new Map() }];
  });
}

/** As it is once it is enabled, with the addresses that it has or would get. */
function asEnabled(ticket: Lbticket): Lbticket {
  const veip = ticket.status?.veip ?? ticket.spec.veip;
  const ltmip = ticket.status?.ltmip ?? ticket.spec.ltmip;
  const status = { ...ticket.status, process: 'enabled' as const, ...(veip && { veip }), ...(ltmip && { ltmip }) };
  return { ...ticket, status };
}
