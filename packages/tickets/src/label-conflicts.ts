// Labels that cannot be as they are wanted. With a CIS of somebody else's, a pool gets its members by labels alone
// (spec/f5.md §3.2): a Service that cannot carry those of two pools would leave one empty without a word.
import type { Lbticket } from '@fairlead/api';
import type { ConfigMap, KubeObject, Told } from '@fairlead/kube';
import { readEntries, readPools } from './configmap.ts';
import type { Desk } from './desk.ts';
import { fails, holds } from './finding.ts';
import { contestId, hasLabels, labelsFor, poolOfService } from './labels.ts';
import { tenantOf, ticketName } from './names.ts';
import { retold } from './news.ts';
import { conditionOf, type Fact } from './status.ts';

type LabelDesk = Pick<Desk, 'loadbalancers' | 'target' | 'contested'>;

/**
 * The condition `LabelConflict` of a ticket; undefined leaves it as it is, or absent where there never was one.
 *
 *   a Service behind a pool of the ticket     | conflict
 *   ------------------------------------------+-----------------------------------------------
 *   is to carry the labels of another pool    | with that pool
 *   carries one that somebody else has set    | with it: what others set stays theirs
 *   carries none of them, or not all, yet     | as it was: the write that is due brings them, or is refused
 *   is not there, or carries ours             | none
 *
 * And whoever serves the tickets, an agent finds namespaces by the labels of `nsselector`: a namespace that has one of
 * them with another value is found by nobody.
 */
export function labelConflict(desk: LabelDesk, ticket: Lbticket, configMap: ConfigMap | undefined): Fact | undefined {
  const ofServices = configMap ? problemsOf(desk, ticket, configMap) : [];
  const problems = [...namespaceProblems(desk, ticket), ...ofServices.filter((one) => one !== undefined)];
  const was = conditionOf(ticket, 'LabelConflict');
  if (problems.length > 0) return holds('LabelConflict', problems.join('; '));
  if (was && ofServices.includes(undefined)) return { status: was.status, reason: was.reason, message: was.message };
  return was ? fails('NoConflict', 'the labels are as they are wanted') : undefined;
}

function namespaceProblems(desk: LabelDesk, { spec }: Lbticket): string[] {
  const loadbalancer = desk.loadbalancers.get({ name: spec.loadbalancer });
  const space = loadbalancer && desk.target(loadbalancer.spec.cluster)?.stores.namespaces.get({ name: spec.namespace });
  if (!loadbalancer || !space) return [];
  return Object.entries(loadbalancer.spec.nsselector).flatMap(([key, wanted]) => {
    const present = space.metadata.labels?.[key];
    if (present === undefined || present === wanted) return [];
    return [
      `Loadbalancer ${loadbalancer.metadata.name} finds its namespaces by ${key}=${wanted}, and namespace ${spec.namespace} is labelled ${key}=${present} by somebody else; remove that label, or give the load balancers nsselectors with keys of their own`,
    ];
  });
}

/** Of each pool that is not as it should be: why; undefined while that is not known. */
function problemsOf(desk: LabelDesk, ticket: Lbticket, configMap: ConfigMap): (string | undefined)[] {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (loadbalancer?.spec.cis.mode !== 'external') return [];
  const { namespace } = ticket.spec;
  const services = desk.target(loadbalancer.spec.cluster)?.stores.services;
  const serviceOf = (name: string) => services?.get({ namespace, name });
  const tenant = tenantOf(loadbalancer, namespace);
  const pools = readPools(configMap);
  const items = readEntries(configMap)[ticketName(ticket)]?.items ?? {};
  return Object.entries(items)
    .flatMap(([application, names]) => names.map((name) => `${application}/${name}`))
    .toSorted()
    .flatMap((pool) => {
      const service = pools[pool]?.service;
      if (service === undefined) return [];
      const present = serviceOf(service);
      const holder = poolOfService(configMap, { tenant, name: service, present }) ?? pool;
      if (holder !== pool)
        return [
          `pool ${pool} stays empty: Service ${service} carries the labels of pool ${holder}, and can carry one; give the listner a Service of its own with the same selector`,
        ];
      const wanted = labelsFor(tenant, pool);
      if (!present || hasLabels(present, wanted)) return [];
      const contest = desk.contested.get(contestId(loadbalancer, { namespace, service }));
      const others = contest?.uid === present.metadata.uid ? foreign(present, wanted) : '';
      if (!contest || others === '') return [undefined];
      return [
        `pool ${pool} stays empty: somebody else has labelled Service ${service} with ${others}; remove these labels, or use another Service`,
      ];
    });
}

const foreign = ({ metadata: { labels = {} } }: KubeObject, wanted: Record<string, string>): string =>
  Object.entries(wanted)
    .flatMap(([key, value]) => (labels[key] === undefined || labels[key] === value ? [] : [`${key}=${labels[key]}`]))
    .join(', ');

/** An Event when pools stay empty, and one when they do no longer. */
export function labelNews(before: Lbticket, after: Lbticket): Told[] {
  const { is } = retold('LabelConflict', before, after) ?? {};
  if (!is) return [];
  const type = is.status === 'True' ? 'Warning' : 'Normal';
  return [{ type, reason: is.reason, message: is.message }];
}
