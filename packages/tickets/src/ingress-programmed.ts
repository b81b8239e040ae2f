// Of a ticket for Ingresses: is what they ask for on the device, and is anything of them left there?
import { claimOf, reportOf, type Lbticket } from '@fairlead/api';
import type { Ingress } from '@fairlead/kube';
import type { Desk } from './desk.ts';
import { fails, holds } from './finding.ts';
import { ticketName } from './names.ts';
import type { Fact } from './status.ts';

type IngressDesk = Pick<Desk, 'loadbalancers' | 'target'>;

/** Ingresses that may have something of the ticket; undefined when nobody knows now. */
function claimants(desk: IngressDesk, ticket: Lbticket): Ingress[] | undefined {
  const cluster = desk.loadbalancers.get({ name: ticket.spec.loadbalancer })?.spec.cluster;
  const store = cluster === undefined ? undefined : desk.target(cluster)?.stores.ingresses;
  if (!store?.synced) return undefined;
  return [...store.by('ticket', ticketName(ticket))].filter((one) => claimOf(one)?.ticket === ticketName(ticket));
}

/** The condition `Programmed`; undefined leaves it as it is. */
export function ingressProgrammed(desk: IngressDesk, ticket: Lbticket): Fact | undefined {
  const all = claimants(desk, ticket);
  if (!all) return undefined;
  const wanted = all.filter((one) => claimOf(one)?.wanted);
  if (wanted.length === 0) return holds('NothingToProgram', 'no Ingress uses the ticket');
  if (desk.loadbalancers.get({ name: ticket.spec.loadbalancer })?.spec.cis.mode === 'external')
    return holds('Written', 'written for the CIS of the cluster, which does not report back');
  for (const ingress of wanted) {
    const name = `Ingress ${ingress.metadata.namespace}/${ingress.metadata.name}`;
    const report = reportOf(ingress);
    if (!report) return fails('pending', `what ${name} asks for is on its way to the device`);
    if (!report.ok) return fails(report.code ?? 'invalid', `${name}: ${report.message ?? ''}`);
  }
  return holds('Programmed');
}

/** Why its address may not go to someone else yet; undefined when nothing of it is left. */
export function ingressLeft(desk: IngressDesk, ticket: Lbticket): string | undefined {
  const all = claimants(desk, ticket);
  if (!all) return 'the Ingresses of the cluster are not read yet';
  const [first] = all;
  if (!first) return undefined;
  return `the device has not confirmed yet that Ingress ${first.metadata.namespace}/${first.metadata.name} is gone`;
}
