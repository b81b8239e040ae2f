// Who may do what with our kinds: ClusterRoles for the people in spec/tickets.md.
import { lbcanaries } from './lbcanary.ts';
import { lbrules } from './lbrule.ts';
import { lbtickets } from './lbticket.ts';
import { loadbalancers } from './loadbalancer.ts';

/** A rbac.authorization.k8s.io/v1 ClusterRole. */
export interface ClusterRole {
  apiVersion: 'rbac.authorization.k8s.io/v1';
  kind: 'ClusterRole';
  metadata: { name: string; labels: Record<string, string>; annotations: { description: string } };
  rules: PolicyRule[];
}

export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

export const read = ['get', 'list', 'watch'];
const write = ['create', 'update', 'patch', 'delete', 'deletecollection'];

export const rule = (kind: { group: string; plural: string }, verbs: string[], subresource?: 'status'): PolicyRule => ({
  apiGroups: [kind.group],
  resources: [subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`],
  verbs,
});

const events: PolicyRule = { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: read };

/*
 *                     | Loadbalancer | Lbticket       | Lbrule | Lbcanary | bound by
 *   ------------------+--------------+----------------+--------+----------+--------------------
 *   platform-admin    | write        | write          | write  | write    | ClusterRoleBinding
 *   network-approver  | –            | read, status   | read   | read     | ClusterRoleBinding
 *   project-user      | –            | write          | write  | write    | RoleBinding
 *   release-manager   | –            | read           | read   | write    | RoleBinding
 *   viewer            | –            | read           | read   | read     | RoleBinding
 *   loadbalancer-viewer | read       | –              | –      | –        | ClusterRoleBinding
 *
 *  Admission moves credentials out of Loadbalancers into Secrets that none of these roles may read. Where admission is not
 *  served they stay in the clear, so that reading Loadbalancers is a role of its own, for an admin to give.
 *  Status is what the controller says, and for tickets of policy.provider `manual` the approver; no user writes it. Of an
 *  approver admission takes the answer alone (checks/answer.ts): it knows controllers by `patch` of loadbalancers/status, which
 *  must be in no role for people (docs/adr/0021).
 */
export const clusterRoles = (): ClusterRole[] => [
  role('platform-admin', 'Registers load balancers, and may do everything with tickets and rules.', [
    rule(loadbalancers, [...read, ...write]),
    rule(lbtickets, [...read, ...write]),
    rule(lbrules, [...read, ...write]),
    rule(lbcanaries, [...read, ...write]),
    events,
  ]),
  role(
    'network-approver',
    'Opens or rejects the network policy of tickets, by the condition NetworkPolicyOpen in their status.',
    [
      rule(lbtickets, read),
      rule(lbtickets, ['get', 'update', 'patch'], 'status'),
      rule(lbrules, read),
      rule(lbcanaries, read),
      events,
    ],
  ),
  role(
    'project-user',
    'Files tickets and writes rules in the namespaces where it is bound; part of edit and admin.',
    [
      rule(lbtickets, [...read, ...write]),
      rule(lbrules, [...read, ...write]),
      rule(lbcanaries, [...read, ...write]),
      events,
    ],
    ['edit', 'admin'],
  ),
  role(
    'release-manager',
    'Runs canaries in the namespaces where it is bound, and changes no ticket or rule: for pipelines.',
    [rule(lbtickets, read), rule(lbrules, read), rule(lbcanaries, [...read, ...write]), events],
  ),
  role(
    'viewer',
    'Sees tickets and rules in the namespaces where it is bound; part of view.',
    [rule(lbtickets, read), rule(lbrules, read), rule(lbcanaries, read), events],
    ['view'],
  ),
  role(
    'loadbalancer-viewer',
    'Sees load balancers, to choose one for a ticket. Give it where admission is served, which moves credentials out of them.',
    [rule(loadbalancers, read)],
  ),
];

/** `partOf`: the roles of Kubernetes that this one is added to. */
export function role(name: string, description: string, rules: PolicyRule[], partOf: string[] = []): ClusterRole {
  const labels: Record<string, string> = { 'app.kubernetes.io/part-of': 'fairlead' };
  for (const other of partOf) labels[`rbac.authorization.k8s.io/aggregate-to-${other}`] = 'true';
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `fairlead-${name}`, labels, annotations: { description } },
    rules,
  };
}
