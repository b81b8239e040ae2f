// The Loadbalancers, Lbtickets, Lbrules and F5 Ingresses that `plan` and `explain` look at: those of the management cluster,
// with those of files in their place.
import {
  checkLbcanary,
  checkLbrule,
  checkLbticket,
  checkLoadbalancer,
  filled,
  ticketOfIngress,
  lbcanaries,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
  type World,
} from '@fairlead/api';
import { fail, ok, type Problem, type Result } from '@fairlead/core';
import { ingresses, type Ingress, type Kube, type KubeObject } from '@fairlead/kube';
import { type Manifest, readManifests } from './manifests.ts';

export interface Wishes {
  loadbalancers: Map<string, Loadbalancer>;
  /** By `namespace/name`, as are rules. */
  tickets: Map<string, Lbticket>;
  rules: Map<string, Lbrule>;
  canaries: Map<string, Lbcanary>;
  /** F5 Ingresses of files. */
  ingresses: Map<string, Ingress>;
  /** Tickets that files named, or whose rules, Ingresses or Loadbalancer they named. */
  edited: Set<string>;
}

/** `kube`: the management cluster, or undefined to read the files alone. Objects in files that are none of ours are left out. */
export async function readWishes(kube: Kube | undefined, files: readonly string[]): Promise<Result<Wishes>> {
  const wishes = nothing();
  if (kube) {
    const problem = await readCluster(kube, wishes);
    if (problem) return { ok: false, problem };
  }
  const manifests = readManifests(files);
  if (!manifests.ok) return manifests;
  for (const manifest of manifests.value) addManifest(wishes, manifest);
  const wrong = manifests.value.flatMap((manifest) => problemsOf(wishes, manifest));
  if (wrong.length > 0) return fail('invalid', wrong.join('\n'));
  if (wishes.tickets.size === 0)
    return fail('missing', kube ? `no Lbticket on ${kube.server}, nor in files` : 'no Lbticket in the files');
  return ok(wishes);
}

const nothing = (): Wishes => ({
  loadbalancers: new Map(),
  tickets: new Map(),
  rules: new Map(),
  canaries: new Map(),
  ingresses: new Map(),
  edited: new Set(),
});

/**
 * One ticket (`namespace/name`) of the management cluster with its Loadbalancer, and the rules and canaries of its namespace:
 * what a user bound there may read. `hidden`: the Loadbalancer may not be read, and is not in `wishes`.
 */
export async function readTicket(kube: Kube, name: string): Promise<Result<{ wishes: Wishes; hidden?: Problem }>> {
  const [namespace = '', ticketName = ''] = name.split('/');
  const [ticket, rules, canaries] = await Promise.all([
    kube.get(lbtickets, { name: ticketName, namespace }),
    kube.list(lbrules, { namespace }),
    kube.list(lbcanaries, { namespace }),
  ]);
  if (!ticket.ok) return ticket.problem.code === 'missing' ? noTicket(kube, { namespace, name }) : ticket;
  if (!rules.ok) return rules;
  if (!canaries.ok) return canaries;
  const wishes = nothing();
  wishes.tickets.set(name, ticket.value);
  for (const one of rules.value.items) wishes.rules.set(nameOf(one), one);
  for (const one of canaries.value.items) wishes.canaries.set(nameOf(one), one);
  const balancer = await kube.get(loadbalancers, { name: ticket.value.spec.loadbalancer });
  if (balancer.ok) wishes.loadbalancers.set(balancer.value.metadata.name, balancer.value);
  else if (balancer.problem.code === 'denied') return ok({ wishes, hidden: balancer.problem });
  else if (balancer.problem.code !== 'missing') return balancer;
  return ok({ wishes });
}

async function noTicket(kube: Kube, { namespace, name }: { namespace: string; name: string }): Promise<Result<never>> {
  const all = await kube.list(lbtickets, { namespace });
  if (!all.ok) return all;
  const there = all.value.items.map(nameOf).join(', ') || 'none';
  return fail('missing', `no ticket ${name}; in namespace ${namespace} there is: ${there}`);
}

export const nameOf = ({ metadata }: { metadata: { namespace?: string; name: string } }): string =>
  `${metadata.namespace ?? 'default'}/${metadata.name}`;

async function readCluster(kube: Kube, wishes: Wishes): Promise<Problem | undefined> {
  const [balancers, tickets, rules, canaries] = await Promise.all([
    kube.list(loadbalancers),
    kube.list(lbtickets),
    kube.list(lbrules),
    kube.list(lbcanaries),
  ]);
  for (const got of [balancers, tickets, rules, canaries]) if (!got.ok) return got.problem;
  if (balancers.ok) for (const one of balancers.value.items) wishes.loadbalancers.set(one.metadata.name, one);
  if (tickets.ok) for (const one of tickets.value.items) wishes.tickets.set(nameOf(one), one);
  if (rules.ok) for (const one of rules.value.items) wishes.rules.set(nameOf(one), one);
  if (canaries.ok) for (const one of canaries.value.items) wishes.canaries.set(nameOf(one), one);
  return undefined;
}

function addManifest(wishes: Wishes, { object }: Manifest): void {
  if (isKind<Loadbalancer>(object, loadbalancers)) {
    const present = wishes.loadbalancers.get(object.metadata.name);
    wishes.loadbalancers.set(object.metadata.name, over(present, filled(loadbalancers, object)));
    for (const [name, ticket] of wishes.tickets)
      if (ticket.spec.loadbalancer === object.metadata.name) wishes.edited.add(name);
  } else if (isKind<Lbticket>(object, lbtickets)) {
    const ticket = placed(object);
    wishes.tickets.set(nameOf(ticket), keepAddresses(wishes.tickets.get(nameOf(ticket)), filled(lbtickets, ticket)));
    wishes.edited.add(nameOf(ticket));
  } else if (isKind<Lbrule>(object, lbrules)) {
    const rule = placed(object);
    wishes.rules.set(nameOf(rule), over(wishes.rules.get(nameOf(rule)), filled(lbrules, rule)));
    wishes.edited.add(`${rule.metadata.namespace ?? 'default'}/${rule.spec.lbticket}`);
  } else if (isKind<Lbcanary>(object, lbcanaries)) {
    const canary = placed(object);
    wishes.canaries.set(nameOf(canary), over(wishes.canaries.get(nameOf(canary)), filled(lbcanaries, canary)));
  } else if (isKind<Ingress>(object, ingresses)) {
    const ingress = placed(object);
    wishes.ingresses.set(nameOf(ingress), ingress);
    const ticket = ticketOfIngress(ingress);
    if (ticket !== undefined) wishes.edited.add(ticket);
  }
}

/** What admission would say of an object in a file, with the file's line and the field. */
function problemsOf(wishes: Wishes, { at, object }: Manifest): string[] {
  const world: World = {
    loadbalancers: () => wishes.loadbalancers.values(),
    lbtickets: () => wishes.tickets.values(),
    lbrules: () => wishes.rules.values(),
    lbcanaries: () => wishes.canaries.values(),
  };
  const name = `${object.kind} ${object.metadata.name}`;
  const found: Problem[] = [];
  if (isKind<Loadbalancer>(object, loadbalancers))
    found.push(...checkLoadbalancer(filled(loadbalancers, object), undefined, world));
  else if (isKind<Lbticket>(object, lbtickets))
    found.push(...checkLbticket(filled(lbtickets, placed(object)), undefined, world));
  else if (isKind<Lbrule>(object, lbrules))
    found.push(...checkLbrule(filled(lbrules, placed(object)), undefined, world));
  else if (isKind<Lbcanary>(object, lbcanaries))
    found.push(...checkLbcanary(filled(lbcanaries, placed(object)), undefined, world));
  return found.map(({ path, message }) => `${at}: ${name}: ${path ? `${path}: ` : ''}${message}`);
}

/** The edit, with what only a server knows of the object it replaces. */
export function over<T extends { metadata: KubeObject['metadata']; status?: unknown }>(
  present: T | undefined,
  edit: T,
): T {
  if (!present) return edit;
  return { ...edit, metadata: { ...present.metadata, ...edit.metadata }, status: present.status };
}

/** Addresses once given stay given, though the user's file may leave them empty. */
function keepAddresses(present: Lbticket | undefined, edit: Lbticket): Lbticket {
  const merged = over(present, edit);
  const { veip, ltmip } = present?.spec ?? {};
  return {
    ...merged,
    spec: { ...merged.spec, veip: merged.spec.veip || (veip ?? null), ltmip: merged.spec.ltmip || (ltmip ?? null) },
  };
}

const placed = <T extends { metadata: KubeObject['metadata'] }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: object.metadata.namespace ?? 'default' },
});

function isKind<T extends object>(object: object, kind: { group: string; version: string; kind: string }): object is T {
  const { apiVersion, kind: name } = object as KubeObject;
  return name === kind.kind && apiVersion === `${kind.group}/${kind.version}`;
}
