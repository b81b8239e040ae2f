// A ticket and its rules as load balancers of the model: one per protocal, which becomes one AS3 application.
// Pure; `fairlead plan` and `fairlead explain` read tickets through it too.
import { applicationName, poolName, virtualName } from '@fairlead/as3';
import {
  conditionOf,
  monitorOf,
  type Lbcanary,
  type Lbrule,
  type Lbticket,
  type Listner,
  type Loadbalancer,
  type WeightedService,
} from '@fairlead/api';
import {
  fail,
  inEnglish,
  isEqual,
  ok,
  type Listener,
  type ListenerTls,
  type LoadBalancer,
  type Pool,
  type Problem,
  type Result,
  type Route,
  type WeightedPool,
} from '@fairlead/core';
import { shifted } from './canary/weights.ts';
import { configMapName, createdAt, tenantOf } from './names.ts';

export interface TicketQuestion {
  loadbalancer: Loadbalancer;
  ticket: Lbticket;
  /** In any order; those of other tickets or of unknown listners are left out. */
  rules: readonly Lbrule[];
  /** Those at work on the ticket, whose weights are in force. */
  canaries?: readonly Lbcanary[] | undefined;
}

/**
 * The applications of one ticket, without what its neighbours add. Empty for a ticket without listners.
 * Problems are `invalid` or `missing`, with the field of the ticket, or with the rule's name before it.
 */
export function applications(question: TicketQuestion): Result<LoadBalancer[]> {
  const { loadbalancer, ticket, rules } = shifted(question);
  const address = ticket.status?.veip ?? ticket.spec.veip;
  const listners = ticket.spec.listners ?? [];
  if (listners.length === 0) return ok([]);
  if (!address) return fail('missing', 'the ticket has no VE address yet', 'spec.veip');
  const byProtocal = new Map<string, LoadBalancer>();
  for (const [i, listner] of listners.entries()) {
    const path = `spec.listners[${i}]`;
    if (listner.protocal === 'https' && loadbalancer.spec.cis.mode === 'external') {
      const why = `a CIS of the cluster reads no Secrets of an AS3 ConfigMap, and a key may not stand in one; use cis.mode fairlead for listner "${listner.name}"`;
      return fail('invalid', why, `${path}.protocal`);
    }
    const own = orderedRules(rules.filter((rule) => isRuleOf(rule, ticket, listner)));
    const into = byProtocal.get(listner.protocal) ?? emptyApplication(loadbalancer, ticket, listner.protocal);
    byProtocal.set(listner.protocal, into);
    into.listeners.push(listener({ ticket, listner, address, rules: own }));
    const added = addPools(into.pools, ticket, { listner, rules: own, path });
    if (!added.ok) return added;
  }
  const all = [...byProtocal.values()].sort((a, b) => compare(a.key, b.key));
  for (const lb of all) {
    lb.listeners.sort((a, b) => compare(a.name, b.name));
    lb.pools.sort((a, b) => compare(a.name, b.name));
  }
  return ok(all);
}

const isRuleOf = (rule: Lbrule, ticket: Lbticket, listner?: Listner): boolean =>
  rule.metadata.namespace === ticket.metadata.namespace &&
  rule.spec.lbticket === ticket.metadata.name &&
  (listner === undefined || rule.spec.listner === listner.name);

/** Low priority number first, then older, then by name: the first match wins, so this order is what users see. */
const orderedRules = (rules: readonly Lbrule[]): Lbrule[] =>
  rules.toSorted(
    (a, b) =>
      a.spec.priority - b.spec.priority || createdAt(a) - createdAt(b) || compare(a.metadata.name, b.metadata.name),
  );

/**
 * The problem of a compiled application in the words of who wrote it:
 *
 *   listeners[0].persistence                                  spec.listners[1].session
 *   listeners[0].routes[1].conditions[0].tests[2].value       Lbrule canary: spec.rules[0].values[2].value
 *   pools[3].monitor.type                                     spec.listners[1].monitor.type
 */
export function inUsersWords(problem: Problem, lb: LoadBalancer, ticket: Lbticket): Problem {
  const found = /^(listeners|pools)\[(\d+)\](?:\.routes\[(\d+)\])?(.*)$/.exec(problem.path ?? '');
  if (!found) return inEnglish(problem);
  const [, list, nth = '', route, rest = ''] = found;
  const pool = list === 'pools' ? lb.pools[Number(nth)] : undefined;
  const listener = pool ? lb.listeners.find((one) => usesPool(one, pool.name)) : lb.listeners[Number(nth)];
  const tail = rest.replace(/\.(conditions|tests|pools|persistence|deviceRules)\b/g, (word) => words[word] ?? word);
  const rule = route === undefined ? undefined : listener?.routes[Number(route)];
  if (rule) return { code: problem.code, message: `Lbrule ${rule.name}: ${problem.message}`, path: `spec${tail}` };
  const at = (ticket.spec.listners ?? []).findIndex((one) => one.port === listener?.port && sameProtocal(one, lb));
  return inEnglish(at < 0 ? problem : { ...problem, path: `spec.listners[${at}]${tail}` });
}

const words: Record<string, string> = {
  '.conditions': '.rules',
  '.tests': '.values',
  '.pools': '.services',
  '.persistence': '.session',
  '.deviceRules': '.irules',
};

const usesPool = (listener: Listener, pool: string): boolean =>
  [listener.pools, ...listener.routes.map((route) => route.pools)].some((pools) =>
    pools.some((one) => one.pool === pool),
  );

const sameProtocal = (listner: Listner, lb: LoadBalancer): boolean => lb.key.endsWith(`_${listner.protocal}_app`);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function emptyApplication(loadbalancer: Loadbalancer, ticket: Lbticket, protocal: Listner['protocal']): LoadBalancer {
  const { namespace } = ticket.spec;
  const tenant = tenantOf(loadbalancer, namespace);
  const origin = {
    cluster: loadbalancer.spec.cluster,
    kind: 'ConfigMap',
    namespace,
    name: configMapName(loadbalancer.metadata.name),
    uid: ticket.metadata.uid ?? '',
    created: createdAt(ticket),
    revision: String(ticket.metadata.generation ?? 0),
  };
  return { key: `${tenant}/${applicationName(namespace, protocal)}`, scope: tenant, origin, listeners: [], pools: [] };
}

interface ListenerQuestion {
  ticket: Lbticket;
  listner: Listner;
  address: string;
  rules: Lbrule[];
}

const listener = ({ ticket, listner, address, rules }: ListenerQuestion): Listener => ({
  name: virtualName(ticket.metadata.name, listner.port),
  address,
  port: listner.port,
  protocol: listner.protocal,
  persistence: listner.session,
  routes: rules.map(route),
  pools: weightedPools(listner.services),
  // The defaults are left out, so that a listner from before there was a choice is the same wish as ever.
  ...(listner.pickBy === 'x-forwarded-for' ? { pickBy: listner.pickBy } : {}),
  ...(listner.stickiness !== 'source' ? { stickiness: listner.stickiness } : {}),
  ...(listner.tls ? { tls: certificates(listner.tls) } : {}),
  ...(listner.irules?.length ? { deviceRules: listner.irules } : {}),
});

const certificates = ({ secretName, sni = [] }: NonNullable<Listner['tls']>): ListenerTls =>
  sni.length === 0
    ? { secretName }
    : { secretName, sni: sni.map((one) => (one.host ? one : { secretName: one.secretName })) };

const route = (rule: Lbrule): Route => ({
  name: rule.metadata.name,
  match: rule.spec.match,
  conditions: rule.spec.rules.map(conditionOf),
  pools: weightedPools(rule.spec.services),
});

const weightedPools = (services: readonly WeightedService[]): WeightedPool[] =>
  services.map(({ service, port, weight }) => ({ pool: poolName(service, port), weight }));

/** Pools of the listner and of its rules; two uses of one Service port are one pool, and must agree on how. */
function addPools(
  pools: Pool[],
  ticket: Lbticket,
  { listner, rules, path }: { listner: Listner; rules: Lbrule[]; path: string },
): Result<void> {
  for (const { service, port } of [...listner.services, ...rules.flatMap((rule) => rule.spec.services)]) {
    const pool: Pool = {
      name: poolName(service, port),
      service: { namespace: ticket.spec.namespace, name: service, port },
      monitor: monitorOf(listner),
      balance: listner.balance,
    };
    const present = pools.find((one) => one.name === pool.name);
    if (!present) pools.push(pool);
    else if (!isEqual(present, pool)) {
      const why = `Service ${service} port ${port} is one pool, and another ${listner.protocal} listner of this ticket gives it another monitor or balance; make them equal`;
      return fail('invalid', why, path);
    }
  }
  return ok(undefined);
}
