// What `fairlead run` itself may do: roles in the management cluster, in its own namespace there, and in target clusters.
// The test of the environment (apps/fairlead/src/up/) runs the controllers with these and nothing else.
import { lbcanaries } from './lbcanary.ts';
import { lbrules } from './lbrule.ts';
import { lbtickets } from './lbticket.ts';
import { loadbalancers } from './loadbalancer.ts';
import { type ClusterRole, type PolicyRule, read, role, rule } from './roles.ts';

/** A rbac.authorization.k8s.io/v1 Role. */
export interface NamespacedRole extends Omit<ClusterRole, 'kind' | 'metadata'> {
  kind: 'Role';
  metadata: ClusterRole['metadata'] & { namespace: string };
}

/** Of the shipped Role; `--namespace` of the controller has to say the same. */
export const controllerNamespace = 'fairlead-system';

const core = (resources: string[], verbs: string[]): PolicyRule => ({ apiGroups: [''], resources, verbs });

/** The recorder makes an Event, reads one that is there, and counts on. */
const tells = core(['events'], ['get', 'create', 'patch']);

const webhooks = (verbs: string[]): PolicyRule => ({
  apiGroups: ['admissionregistration.k8s.io'],
  resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  verbs,
});

/*
 *                          | where              | what it may write
 *   -----------------------+--------------------+------------------------------------------------------------------
 *   controller             | management         | tickets (addresses, finalizers), status of our kinds, Events, the two
 *                          |                    | webhook configurations named fairlead
 *   controller-own         | its own namespace  | Secrets (of clusters, credentials, the webhooks' certificate), the Lease
 *   target                 | each target cluster| ConfigMaps, labels of Services and Namespaces, Ingresses, Events
 *   target-certificates    | there, by namespace| nothing; reads Secrets of https listners and of Ingresses
 */
export const programRoles = (): (ClusterRole | NamespacedRole)[] => [
  role('controller', 'The controller, in the management cluster. Bind it by a ClusterRoleBinding.', [
    rule(loadbalancers, read),
    rule(loadbalancers, ['patch'], 'status'),
    rule(lbtickets, [...read, 'patch']),
    rule(lbtickets, ['patch'], 'status'),
    rule(lbrules, read),
    rule(lbrules, ['patch'], 'status'),
    rule(lbcanaries, read),
    rule(lbcanaries, ['patch'], 'status'),
    // Whether what is removed goes with its namespace.
    core(['namespaces'], ['get']),
    // Whether who writes a status is a controller.
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    tells,
    webhooks(['create']),
    { ...webhooks(['patch']), resourceNames: ['fairlead'] },
  ]),
  own('controller-own', 'The controller, in its own namespace of the management cluster. Bind it by a RoleBinding.', [
    core(['secrets'], [...read, 'create', 'update', 'patch', 'delete']),
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'update'],
      resourceNames: ['fairlead'],
    },
  ]),
  role('target', 'The controller and its agents, in a target cluster. Bind it by a ClusterRoleBinding.', [
    core(['namespaces', 'services'], [...read, 'patch']),
    core(['configmaps'], [...read, 'create', 'patch', 'delete']),
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: [...read, 'patch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['patch'] },
    tells,
  ]),
  role(
    'target-certificates',
    'Reads certificates. Bind it by a RoleBinding in the namespaces of https listners and of Ingresses with TLS.',
    [core(['secrets'], read)],
  ),
];

/** For people, in the controllers' own namespace: Secrets cannot be granted by label, so it is all of those there. */
export const adminRoles = (): NamespacedRole[] => [
  own(
    'cluster-admin',
    'Registers target clusters and writes credentials of devices: it sees all Secrets there. Bind it by a RoleBinding.',
    [core(['secrets'], [...read, 'create', 'update', 'patch', 'delete'])],
  ),
];

function own(name: string, description: string, rules: PolicyRule[]): NamespacedRole {
  const { apiVersion, metadata } = role(name, description, rules);
  const { name: full, ...more } = metadata;
  return { apiVersion, kind: 'Role', metadata: { name: full, namespace: controllerNamespace, ...more }, rules };
}
