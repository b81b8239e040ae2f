// A Service carries one set of labels, so one ticket, with its rules, or one F5 Ingress may use it (spec/tickets.md §7).
import { type Refusal, refusal } from '@fairlead/core';
import type { Lbticket } from '../lbticket.ts';
import type { WeightedService } from '../services.ts';
import { type World, clusterOf, isSame, nameOf, rulesByTicket } from './world.ts';

/** Names of the Services of a rule or listner. */
export const servicesIn = ({ services }: { services: readonly WeightedService[] }): string[] =>
  services.map(({ service }) => service);

/** Names of the Services of the listners of a ticket. */
export const servicesOf = (ticket: Lbticket): string[] => (ticket.spec.listners ?? []).flatMap(servicesIn);

/** Who else uses these Services of the ticket's namespace, in its cluster, by Service. */
export function holdersOf(ticket: Lbticket, services: ReadonlySet<string>, world: World): Map<string, string> {
  const holders = new Map<string, string>();
  const cluster = services.size === 0 ? undefined : clusterOf(ticket, world);
  if (cluster === undefined) return holders;
  const note = (holder: string, used: readonly string[]): void =>
    used.forEach((service) => services.has(service) && holders.set(service, holder));
  const rules = rulesByTicket(world, ({ spec }) => servicesIn(spec).some((service) => services.has(service)));
  for (const other of world.lbtickets()) {
    const isElsewhere = other.spec.namespace !== ticket.spec.namespace || isSame(other, ticket);
    if (isElsewhere || other.status?.process === 'deleted' || clusterOf(other, world) !== cluster) continue;
    for (const rule of rules.get(nameOf(other)) ?? []) note(`Lbrule ${nameOf(rule)}`, servicesIn(rule.spec));
    note(`Lbticket ${nameOf(other)}`, servicesOf(other));
  }
  for (const ingress of world.ingresses?.() ?? []) {
    if (ingress.cluster !== cluster || ingress.namespace !== ticket.spec.namespace) continue;
    note(`Ingress ${ingress.namespace}/${ingress.name}`, ingress.services);
  }
  return holders;
}

/** The refusal of a Service that has a holder, none otherwise. */
export function takenBy(holders: ReadonlyMap<string, string>, service: string, path: string): Refusal[] {
  const holder = holders.get(service);
  if (holder === undefined) return [];
  const words = {
    en: `Service ${service} is used by ${holder} already: choose another, or remove it there`,
    zh: `Service ${service} 已被 ${holder} 使用:请选择其他 Service,或先在该处移除`,
  };
  return [refusal('taken', words, path)];
}
