// The roles every cluster starts with, for the kinds served here, and who has them: what administrators bind and users rely on.
import type { KubeObject, Tree } from '../object.ts';
import { rbacGroup } from './authorize.ts';

type Rule = [group: string, resources: string, verbs: string];

const read = 'get list watch';
const change = 'create delete deletecollection patch update';
const all = `${change} ${read}`;

/** What a viewer may see; no Secret and no role, which would let the viewer become more. */
const view: Rule[] = [
  [
    '',
    'configmaps endpoints events limitranges namespaces namespaces/status persistentvolumeclaims persistentvolumeclaims/status pods pods/log pods/status replicationcontrollers replicationcontrollers/scale replicationcontrollers/status resourcequotas resourcequotas/status serviceaccounts services services/status',
    read,
  ],
  ['discovery.k8s.io', 'endpointslices', read],
  [
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
    read,
  ],
  ['batch', 'cronjobs cronjobs/status jobs jobs/status', read],
  ['policy', 'poddisruptionbudgets poddisruptionbudgets/status', read],
  ['networking.k8s.io', 'ingresses ingresses/status', read],
];

const edit: Rule[] = [
  ['', 'secrets services/proxy', read],
  ['', 'serviceaccounts', 'impersonate'],
  ['', 'pods pods/attach pods/exec pods/portforward pods/proxy', change],
  ['', 'pods/eviction serviceaccounts/token', 'create'],
  [
    '',
    'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    change,
  ],
  [
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
    change,
  ],
  ['batch', 'cronjobs jobs', change],
  ['policy', 'poddisruptionbudgets', change],
  ['networking.k8s.io', 'ingresses', change],
  ['coordination.k8s.io', 'leases', all],
];

const admin: Rule[] = [
  ['authorization.k8s.io', 'localsubjectaccessreviews', 'create'],
  [rbacGroup, 'rolebindings roles', all],
];

const ruleOf = ([group, resources, verbs]: Rule): Tree => ({
  apiGroups: [group],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
});
const pathRule = (paths: string): Tree => ({ nonResourceURLs: paths.split(' '), verbs: ['get'] });

const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
const ours = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const aggregateTo = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`;

function role(name: string, rules: Tree[], into?: string): KubeObject {
  const labels = { ...ours, ...(into ? { [aggregateTo(into)]: 'true' } : {}) };
  return { apiVersion: `${rbacGroup}/v1`, kind: 'ClusterRole', metadata: { name, labels, annotations }, rules };
}

/** A role made of others: whatever carries the label `aggregate-to-<name>`. */
function sum(name: string, into?: string): KubeObject {
  const clusterRoleSelectors = [{ matchLabels: { [aggregateTo(name)]: 'true' } }];
  return { ...role(name, [], into), aggregationRule: { clusterRoleSelectors } };
}

function binding(name: string, ...groups: string[]): KubeObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: ours, annotations },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ apiGroup: rbacGroup, kind: 'Group', name: group })),
  };
}

/*
   admin = aggregate-to-admin + edit      edit = aggregate-to-edit + view      view = aggregate-to-view
*/
export const initialRoles = (): KubeObject[] => [
  role('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  sum('admin'),
  sum('edit', 'admin'),
  sum('view', 'edit'),
  role('system:aggregate-to-admin', admin.map(ruleOf), 'admin'),
  role('system:aggregate-to-edit', edit.map(ruleOf), 'edit'),
  role('system:aggregate-to-view', view.map(ruleOf), 'view'),
  role('system:auth-delegator', [
    ruleOf(['authentication.k8s.io', 'tokenreviews', 'create']),
    ruleOf(['authorization.k8s.io', 'subjectaccessreviews', 'create']),
  ]),
  role('system:basic-user', [
    ruleOf(['authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', 'create']),
    ruleOf(['authentication.k8s.io', 'selfsubjectreviews', 'create']),
  ]),
  role('system:discovery', [
    pathRule('/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'),
  ]),
  role('system:monitoring', [pathRule('/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*')]),
  role('system:public-info-viewer', [pathRule('/healthz /livez /readyz /version /version/')]),
  role('system:service-account-issuer-discovery', [
    pathRule('/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'),
  ]),
  binding('cluster-admin', 'system:masters'),
  binding('system:basic-user', 'system:authenticated'),
  binding('system:discovery', 'system:authenticated'),
  binding('system:monitoring', 'system:monitoring'),
  binding('system:public-info-viewer', 'system:authenticated', 'system:unauthenticated'),
  binding('system:service-account-issuer-discovery', 'system:serviceaccounts'),
];
