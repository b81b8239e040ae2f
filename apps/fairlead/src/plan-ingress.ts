// What F5 Ingresses would configure, ticket by ticket, for `fairlead plan`.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { compile, declaration } from '@fairlead/as3';
import { fail, type LoadBalancer, type Problem } from '@fairlead/core';
import { ticketName } from '@fairlead/tickets';
import type { Group } from './plan.ts';
import type { IngressReader } from './target-ingresses.ts';
import type { Wishes } from './wishes.ts';

/** One for each of `tickets` that has an address, has Ingresses, or cannot be told. */
export async function ingressGroups(
  reader: IngressReader,
  { loadbalancers }: Pick<Wishes, 'loadbalancers'>,
  tickets: readonly Lbticket[],
): Promise<Group[]> {
  const groups: Group[] = [];
  for (const ticket of tickets) {
    const loadbalancer = loadbalancers.get(ticket.spec.loadbalancer);
    groups.push(loadbalancer ? await groupOf(reader, ticket, loadbalancer) : homeless(ticket));
  }
  return groups;
}

const emptyGroup = ({ spec }: Lbticket, loadbalancer: Loadbalancer): Group => ({
  loadbalancer,
  layer: 've',
  namespace: spec.namespace,
  template: '{}',
  applications: [],
  problems: new Map(),
  notes: [],
});

function homeless(ticket: Lbticket): Group {
  const why = `Loadbalancer ${ticket.spec.loadbalancer} is not there`;
  const problems = new Map([[`Lbticket ${ticketName(ticket)}`, fail('missing', why, 'spec.loadbalancer').problem]]);
  return { ...emptyGroup(ticket, {} as Loadbalancer), problems };
}

async function groupOf(reader: IngressReader, ticket: Lbticket, loadbalancer: Loadbalancer): Promise<Group> {
  const empty = emptyGroup(ticket, loadbalancer);
  const read = await reader.read(ticket, loadbalancer, ticket.status?.veip ?? ticket.spec.veip ?? '');
  if (!read.ok) return { ...empty, problems: new Map([[`Lbticket ${ticketName(ticket)}`, read.problem]]) };
  const { balancer, problems, notes } = read.value;
  const nameOf = (ingress: string): string => `Ingress ${ticket.spec.namespace}/${ingress}`;
  const told = {
    problems: new Map([...problems].map(([ingress, problem]): [string, Problem] => [nameOf(ingress), problem])),
    notes: [...notes].flatMap(([ingress, all]) => all.map((note) => `${nameOf(ingress)}: ${note}`)),
  };
  if (!balancer) return { ...empty, ...told };
  const form = compile(balancer);
  if (!form.ok) return { ...empty, problems: told.problems.set(`Lbticket ${ticketName(ticket)}`, form.problem) };
  const name = balancer.key.slice(balancer.key.indexOf('/') + 1);
  const template = JSON.stringify(declaration({ [balancer.scope]: { [name]: form.value } }));
  return { ...empty, ...told, template, applications: [balancer] };
}

/** The objects of an application by name, whether it came as AS3 or is to become it. */
export function objectsOf(lb: LoadBalancer): [name: string, object: unknown][] {
  if (lb.native) return Object.entries(lb.native);
  const form = compile(lb);
  return form.ok ? Object.entries(form.value) : [];
}
