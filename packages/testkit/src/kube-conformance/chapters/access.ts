// Who may do what: tokens, roles, and how roles keep from growing.
import { arranged, type Case, type Chapter, core, get, of, post, put, remove } from '../case.ts';
import { allowed, bindingsAt, may, rolesAt } from '../grants.ts';
import { binding, changed, configMap, rbac, role } from '../objects.ts';

const made = arranged(post(core('configmaps'), configMap('a')));
const joe = { as: 'joe' };

const who: Case[] = [
  {
    name: 'whoever has no token is system:anonymous, and Forbidden',
    steps: [get(core('configmaps'), { as: 'nobody' })],
  },
  {
    name: 'a wrong token is Unauthorized',
    steps: [get(core('configmaps'), { headers: { authorization: 'Bearer wrong' } })],
  },
  {
    name: 'an authorization of another scheme counts as none',
    steps: [get(core('configmaps'), { headers: { authorization: 'Basic YTpi' } })],
  },
  { name: 'discovery without a token is Forbidden', steps: [get('/apis', { as: 'nobody' })] },
  { name: 'the version is told to everybody', steps: [get('/version', { as: 'nobody', only: ['major', 'minor'] })] },
  {
    name: 'a list that is not allowed is Forbidden and says who, what and where',
    steps: [get(core('configmaps'), joe)],
  },
  {
    name: 'a get that is not allowed is Forbidden whether the object is there or not',
    steps: [get(core('configmaps/a'), joe)],
  },
  { name: 'a create that is not allowed is Forbidden', steps: [post(core('configmaps'), configMap('a'), joe)] },
  { name: 'a delete that is not allowed is Forbidden', steps: [made, remove(core('configmaps/a'), undefined, joe)] },
  { name: 'a collection delete that is not allowed is Forbidden', steps: [remove(core('configmaps'), undefined, joe)] },
  { name: 'a watch that is not allowed is Forbidden', steps: [get(core('configmaps?watch=true'), joe)] },
  { name: 'a cluster-wide list that is not allowed says so', steps: [get('/api/v1/nodes', joe)] },
  { name: 'a list over all namespaces that is not allowed says so', steps: [get('/api/v1/configmaps', joe)] },
  {
    name: 'a subresource that is not allowed is named with its resource',
    steps: [get(of('apps/v1', 'deployments/a/scale'), joe)],
  },
  { name: 'a resource that is not there is Forbidden before it is NotFound', steps: [get(core('nothings'), joe)] },
  { name: 'a path that is not allowed is Forbidden', steps: [get('/metrics', joe)] },
  { name: 'discovery is for everybody known', steps: [get('/apis/apps', joe)] },
];

const roles: Case[] = [
  {
    name: 'a role allows its verbs',
    steps: [
      made,
      ...allowed('joe', may(['get'], ['configmaps'])),
      get(core('configmaps/a'), joe),
      get(core('configmaps'), joe),
    ],
  },
  {
    name: 'a role with names allows those alone',
    steps: [
      made,
      ...allowed('joe', may(['get'], ['configmaps'], { resourceNames: ['a'] })),
      get(core('configmaps/a'), joe),
      get(core('configmaps/b'), joe),
    ],
  },
  {
    name: 'a role allows a subresource by its own name',
    steps: [
      ...allowed('joe', { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get'] }),
      get(of('apps/v1', 'deployments/a/scale'), joe),
      get(of('apps/v1', 'deployments/a'), joe),
    ],
  },
  {
    name: 'a role of stars allows everything in its namespace',
    steps: [
      made,
      ...allowed('joe', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
      remove(core('configmaps/a'), undefined, { ...joe, only: ['status'] }),
    ],
  },
  {
    name: 'a role in one namespace allows nothing in another',
    steps: [
      ...allowed('joe', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
      get('/api/v1/namespaces/default/configmaps', joe),
    ],
  },
  {
    name: 'a binding to a group allows its members',
    steps: [
      arranged(post(rolesAt, role('r', [may(['list'], ['configmaps'])]))),
      arranged(
        post(
          bindingsAt,
          changed(binding('b', 'r', 'x'), {
            subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'people' }],
          }),
        ),
      ),
      get(core('configmaps'), { ...joe, only: ['kind'], until: { status: 200 } }),
    ],
  },
  {
    name: 'a role that is gone allows nothing',
    steps: [
      ...allowed('joe', may(['list'], ['configmaps'])),
      arranged(remove(`${rolesAt}/r`)),
      get(core('configmaps'), { ...joe, until: { status: 403 } }),
    ],
  },
  {
    name: 'a role that grants more than its maker has is Forbidden',
    steps: [
      ...allowed('joe', { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }),
      post(rolesAt, role('more', [may(['get'], ['secrets'])]), joe),
    ],
  },
  {
    name: 'a role that grants what its maker has is taken',
    steps: [
      ...allowed(
        'joe',
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] },
        may(['get', 'list'], ['secrets']),
      ),
      post(rolesAt, role('less', [may(['get'], ['secrets'])]), joe),
    ],
  },
  {
    name: 'a binding to a role that its maker does not have is Forbidden',
    steps: [
      arranged(post(rolesAt, role('strong', [may(['get'], ['secrets'])]))),
      ...allowed('joe', { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create'] }),
      post(bindingsAt, binding('mine', 'strong', 'joe'), joe),
    ],
  },
  {
    name: 'the verb bind lets a binding be made',
    steps: [
      arranged(post(rolesAt, role('strong', [may(['get'], ['secrets'])]))),
      ...allowed(
        'joe',
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create'] },
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'], resourceNames: ['strong'] },
      ),
      post(bindingsAt, binding('mine', 'strong', 'joe'), joe),
    ],
  },
  {
    name: 'the verb escalate lets a role be made',
    steps: [
      ...allowed('joe', {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles'],
        verbs: ['create', 'escalate'],
      }),
      post(rolesAt, role('more', [may(['get'], ['secrets'])]), joe),
    ],
  },
  {
    name: 'a role without verbs is Invalid',
    steps: [post(rolesAt, role('r', [{ apiGroups: [''], resources: ['pods'], verbs: [] }]))],
  },
  {
    name: 'a role without resources is Invalid',
    steps: [post(rolesAt, role('r', [{ apiGroups: [''], verbs: ['get'] }]))],
  },
  {
    name: 'a role with paths is Invalid',
    steps: [post(rolesAt, role('r', [{ nonResourceURLs: ['/x'], verbs: ['get'] }]))],
  },
  {
    name: 'a binding without a role is Invalid',
    steps: [post(bindingsAt, changed(binding('b', 'r', 'joe'), { roleRef: undefined }))],
  },
  {
    name: 'a binding to an unknown kind of role is Invalid',
    steps: [post(bindingsAt, changed(binding('b', 'r', 'joe'), { 'roleRef.kind': 'Rule' }))],
  },
  {
    name: 'a binding of an unknown kind of subject is Invalid',
    steps: [post(bindingsAt, changed(binding('b', 'r', 'joe'), { 'subjects.0.kind': 'Robot' }))],
  },
  {
    name: 'a subject ServiceAccount needs a namespace',
    steps: [
      post(bindingsAt, changed(binding('b', 'r', 'joe'), { subjects: [{ kind: 'ServiceAccount', name: 'sa' }] })),
    ],
  },
  {
    name: 'a subject is given its API group',
    steps: [post(bindingsAt, changed(binding('b', 'r', 'joe'), { subjects: [{ kind: 'User', name: 'x' }] }))],
  },
  {
    name: 'the role of a binding may not change',
    steps: [arranged(post(bindingsAt, binding('b', 'r', 'joe'))), put(`${bindingsAt}/b`, binding('b', 'other', 'joe'))],
  },
  {
    name: 'the names of roles may hold colons',
    steps: [post(rolesAt, role('system:x', []), { only: ['metadata.name'] })],
  },
  {
    name: 'a ClusterRole with an aggregation is taken',
    steps: [
      post(
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        rbac('ClusterRole', '<ns>-role', {
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
          rules: [],
        }),
      ),
    ],
  },
  {
    name: 'a ClusterRole with paths and resources in one rule is Invalid',
    steps: [
      post(
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        rbac('ClusterRole', '<ns>-role', {
          rules: [{ nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''], verbs: ['get'] }],
        }),
      ),
    ],
  },
  {
    name: 'cluster-admin is there and allows everything',
    steps: [
      get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin', { only: ['metadata.labels', 'rules'] }),
    ],
  },
  {
    name: 'the role view is aggregated from labelled roles',
    steps: [
      get('/apis/rbac.authorization.k8s.io/v1/clusterroles/view', { only: ['metadata.labels', 'aggregationRule'] }),
    ],
  },
];

export const accesses: Chapter = { name: 'access', needs: 'bare', cases: [...who, ...roles] };
