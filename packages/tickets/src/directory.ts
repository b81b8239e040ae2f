// Which tickets a change concerns: indexes kept from what the stores tell, so that no change looks at all tickets.
import type { Lbcanary, Lbrule, Lbticket } from '@fairlead/api';
import { multimap } from './multimap.ts';
import { ticketName } from './names.ts';

/** The ConfigMap of a Loadbalancer in a namespace, as `<loadbalancer>/<namespace>`. */
export type ConfigMapKey = string;

export const configMapKey = (ticket: Lbticket): ConfigMapKey => `${ticket.spec.loadbalancer}/${ticket.spec.namespace}`;

export class Directory {
  readonly #byLoadbalancer = multimap<string>();
  readonly #byNamespace = multimap<string>();
  readonly #enabled = multimap<string>();
  /** Loadbalancers that have enabled tickets in a namespace, with how many. */
  readonly #inNamespace = new Map<string, Map<string, number>>();
  readonly #rules = new Map<string, Map<string, Lbrule>>();
  readonly #canaries = multimap<string>();

  /** What was true of `before` is forgotten, what is true of `after` noted. */
  ticketChanged(before: Lbticket | undefined, after: Lbticket | undefined): void {
    if (before) this.#index(before, 'remove');
    if (after) this.#index(after, 'add');
  }

  ruleChanged(before: Lbrule | undefined, after: Lbrule | undefined): void {
    if (before) {
      const rules = this.#rules.get(ticketOf(before));
      rules?.delete(before.metadata.name);
      if (rules?.size === 0) this.#rules.delete(ticketOf(before));
    }
    if (!after) return;
    const rules = this.#rules.get(ticketOf(after)) ?? new Map<string, Lbrule>();
    this.#rules.set(ticketOf(after), rules.set(after.metadata.name, after));
  }

  canaryChanged(before: Lbcanary | undefined, after: Lbcanary | undefined): void {
    if (before) this.#canaries.remove(ticketOf(before), nameOf(before));
    if (after) this.#canaries.add(ticketOf(after), nameOf(after));
  }

  /** By `namespace/name`. */
  canariesOf(ticket: string): ReadonlySet<string> {
    return this.#canaries.get(ticket);
  }

  ofLoadbalancer(name: string): ReadonlySet<string> {
    return this.#byLoadbalancer.get(name);
  }

  /** Of that namespace in whatever cluster. */
  ofNamespace(name: string): ReadonlySet<string> {
    return this.#byNamespace.get(name);
  }

  /** Enabled tickets with listners: those whose parts are in the ConfigMap. */
  programmed(key: ConfigMapKey): ReadonlySet<string> {
    return this.#enabled.get(key);
  }

  /** Loadbalancers with something programmed in namespaces of that name. */
  loadbalancersIn(namespace: string): Iterable<string> {
    return this.#inNamespace.get(namespace)?.keys() ?? [];
  }

  rulesOf(ticket: string): Lbrule[] {
    return [...(this.#rules.get(ticket)?.values() ?? [])];
  }

  #index(ticket: Lbticket, act: 'add' | 'remove'): void {
    const name = ticketName(ticket);
    this.#byLoadbalancer[act](ticket.spec.loadbalancer, name);
    this.#byNamespace[act](ticket.spec.namespace, name);
    if (!isProgrammed(ticket)) return;
    this.#enabled[act](configMapKey(ticket), name);
    this.#count(ticket.spec, act === 'add' ? 1 : -1);
  }

  #count({ namespace, loadbalancer }: Lbticket['spec'], by: number): void {
    const counts = this.#inNamespace.get(namespace) ?? new Map<string, number>();
    const count = (counts.get(loadbalancer) ?? 0) + by;
    if (count > 0) counts.set(loadbalancer, count);
    else counts.delete(loadbalancer);
    if (counts.size > 0) this.#inNamespace.set(namespace, counts);
    else this.#inNamespace.delete(namespace);
  }
}

/** Does the ticket have a part in a ConfigMap? */
export const isProgrammed = (ticket: Lbticket | undefined): boolean =>
  ticket?.status?.process === 'enabled' && (ticket.spec.listners?.length ?? 0) > 0;

const nameOf = ({ metadata }: Lbcanary): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** The ticket that a rule or canary belongs to, as `namespace/name`. */
export const ticketOf = (rule: Lbrule | Lbcanary): string => `${rule.metadata.namespace ?? ''}/${rule.spec.lbticket}`;
