// Which address an F5 Ingress gets from the ticket it names, or why it gets none (spec/tickets.md §8). Pure.
import { claimOf, ticketOfIngress, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { fail, type Problem } from '@fairlead/core';
import type { Ingress } from '@fairlead/kube';
import { partitionOf } from './names.ts';

export interface Vip {
  ticket: string;
  partition: string;
  ip: string;
}

/** Neither: it is no F5 Ingress, or it goes. */
export interface IngressWish {
  vip?: Vip | undefined;
  problem?: Problem | undefined;
}

export interface IngressQuestion {
  ingress: Ingress;
  cluster: string;
  /** The ticket that the Ingress names, and its Loadbalancer. */
  ticket: Lbticket | undefined;
  loadbalancer: Loadbalancer | undefined;
}

const field = 'metadata.annotations[fairlead.io/ticket]';

/**
 *   the ticket                                | the Ingress gets
 *   ------------------------------------------+----------------------------------
 *   is not there, or is no `namespace/name`   | nothing: missing, invalid
 *   is of another lbtype, namespace, cluster  | nothing: denied
 *   is not enabled                            | nothing yet: it is told the state
 *   is enabled                                | its VE address, and the partition
 */
export function wishOf({ ingress, cluster, ticket, loadbalancer }: IngressQuestion): IngressWish {
  const name = ticketOfIngress(ingress);
  if (name === undefined || ingress.metadata.deletionTimestamp !== undefined) return {};
  const refuse = (code: Problem['code'], why: string) => ({ problem: fail(code, why, field).problem });
  if (!/^[a-z0-9.-]+\/[a-z0-9.-]+$/.test(name))
    return refuse('invalid', `"${name.slice(0, 300)}" is not of the form namespace/name`);
  if (!ticket) return refuse('missing', `Lbticket ${name} does not exist; file it, or name another`);
  const { lbtype, namespace } = ticket.spec;
  if (lbtype !== 'ingress') return refuse('denied', `Lbticket ${name} is for listners; name one with lbtype ingress`);
  if (namespace !== ingress.metadata.namespace)
    return refuse(
      'denied',
      `Lbticket ${name} is for namespace ${namespace}, not for this one; name a ticket of your own`,
    );
  if (!loadbalancer)
    return refuse('missing', `the Loadbalancer "${ticket.spec.loadbalancer}" of Lbticket ${name} does not exist`);
  if (loadbalancer.spec.cluster !== cluster)
    return refuse('denied', `Lbticket ${name} is for cluster ${loadbalancer.spec.cluster}, not for this one`);
  const { process = 'new', veip } = ticket.status ?? {};
  if (process !== 'enabled' || ticket.spec.state !== 'enabled' || !veip) {
    const state =
      ticket.spec.state !== 'enabled' ? ticket.spec.state : process === 'failed' ? 'failed' : 'not enabled yet';
    return refuse('denied', `Lbticket ${name} is ${state}; its address comes once it is enabled`);
  }
  return {
    vip: { ticket: name, partition: partitionOf(loadbalancer, namespace), ip: veip },
  };
}

/** Is the address that the Ingress has been given still to be its? */
export function keepsClaim(question: IngressQuestion): boolean {
  const claim = claimOf(question.ingress);
  const { vip } = wishOf(question);
  if (!claim?.wanted || !vip) return false;
  return claim.ticket === vip.ticket && claim.partition === vip.partition && claim.ip === vip.ip;
}
