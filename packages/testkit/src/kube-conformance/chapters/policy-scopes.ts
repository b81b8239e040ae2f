// Which writes policies judge, and what they see of them.
import { arranged, type Ask, core, patch, post, put, remove } from '../case.ts';
import { deployment, pod } from '../objects.ts';
import { condition, rules, telling, told, type Trials, validations } from '../policy-trial.ts';
import { judge, judged, policiesAt, policy, rule } from '../policies.ts';

export const scopes: Trials = {
  created: {
    rule: 'a policy sees no old object on create',
    policy: telling('string(oldObject == null)'),
  },
  updated: {
    rule: 'a policy sees the old object and the new on update',
    policy: { ...rules({ ...rule, operations: ['UPDATE'] }), ...telling("oldObject.data.a + ' -> ' + object.data.a") },
    steps: [
      arranged(judge('updated', '1')),
      put(core('configmaps/a'), judged('updated', '2')),
      patch('merge-patch', core('configmaps/a'), { data: { a: '3' } }),
    ],
  },
  deleted: {
    rule: 'a policy sees the old object alone on delete',
    policy: {
      // Whoever empties the namespace afterwards is not to be kept from it.
      ...condition("!request.userInfo.username.startsWith('system:')"),
      ...rules({ ...rule, operations: ['DELETE'] }),
      ...telling("string(object == null) + ' ' + oldObject.data.a + ' ' + request.name"),
    },
    steps: [arranged(judge('deleted')), remove(core('configmaps/a')), remove(core('configmaps'))],
  },
  leaving: {
    rule: 'a policy judges an object that leaves its selector',
    policy: rules({ ...rule, operations: ['UPDATE'] }),
    steps: [
      arranged(judge('leaving')),
      patch('merge-patch', core('configmaps/a'), { metadata: { labels: { policy: null } } }),
    ],
  },
  other: { rule: 'a policy does not judge what another label is on', steps: [judge('another')] },
  operations: { rule: 'a policy does not judge other operations', policy: rules({ ...rule, operations: ['UPDATE'] }) },
  resources: { rule: 'a policy does not judge other resources', policy: rules({ ...rule, resources: ['secrets'] }) },
  scoped: { rule: 'a policy does not judge other scopes', policy: rules({ ...rule, scope: 'Cluster' }) },
  named: {
    rule: 'a policy with resource names judges those only',
    policy: rules({ ...rule, resourceNames: ['b'] }),
    steps: [judge('named'), judge('named', '2', { 'metadata.name': 'b' })],
  },
  excluded: {
    rule: 'a policy does not judge what its exclusions name',
    policy: { 'spec.matchConstraints.excludeResourceRules': [{ ...rule, resourceNames: ['a'] }] },
    steps: [judge('excluded'), judge('excluded', '2', { 'metadata.name': 'b' })],
  },
  spaced: {
    rule: 'a policy judges what is in namespaces of its selector',
    policy: { 'spec.matchConstraints.namespaceSelector': { matchLabels: { tier: 'gold' } } },
    steps: [
      judge('spaced'),
      arranged(patch('merge-patch', '/api/v1/namespaces/<ns>', { metadata: { labels: { tier: 'gold' } } })),
      {
        ...arranged(post(core('configmaps?dryRun=All'), judged('spaced', '3'))),
        until: { status: 422 },
        mayFail: true,
      },
      judge('spaced', '2', { 'metadata.name': 'b' }),
    ],
  },
  narrow: {
    rule: 'a binding may narrow what a policy judges',
    binding: { 'spec.matchResources': { objectSelector: { matchLabels: { narrow: 'yes' } } } },
    steps: [judge('narrow'), judge('narrow', '2', { 'metadata.name': 'b', 'metadata.labels.narrow': 'yes' })],
  },
  numbers: {
    rule: 'a policy reckons with the numbers of an object, and its defaults',
    policy: {
      ...rules({ ...rule, apiGroups: ['apps'], resources: ['deployments'] }),
      ...validations({
        expression: 'object.spec.replicas <= 2 && object.spec.revisionHistoryLimit == 10',
        messageExpression: "'too many: ' + string(object.spec.replicas)",
      }),
    },
    steps: [
      post(
        '/apis/apps/v1/namespaces/<ns>/deployments',
        deployment('d', { 'metadata.labels': { policy: 'numbers' }, 'spec.replicas': 3 }),
      ),
      post(
        '/apis/apps/v1/namespaces/<ns>/deployments?dryRun=All',
        deployment('d', { 'metadata.labels': { policy: 'numbers' } }),
      ),
    ].map((ask): Ask => ({ ...ask, only: ['metadata.name'] })),
  },
  scale: {
    rule: 'a policy about a subresource sees what is written to it',
    policy: {
      ...rules({ ...rule, apiGroups: ['apps'], resources: ['deployments/scale'] }),
      'spec.matchConstraints.objectSelector': undefined,
      ...condition("request.namespace.startsWith('policy-')"),
      ...telling(
        told(
          'object.kind',
          'object.spec.replicas',
          'oldObject.spec.replicas',
          'request.subResource',
          'request.kind.kind',
          'request.name',
        ),
      ),
    },
    steps: [
      arranged(post('/apis/apps/v1/namespaces/<ns>/deployments', deployment('d'))),
      patch('merge-patch', '/apis/apps/v1/namespaces/<ns>/deployments/d/scale', { spec: { replicas: 2 } }),
    ],
  },
  space: {
    rule: 'a policy about namespaces sees no namespace of theirs',
    policy: {
      ...rules({ ...rule, resources: ['namespaces'] }),
      ...telling(
        "(has(request.namespace) ? request.namespace : 'none') + ' ' + request.name + ' ' + string(namespaceObject == null)",
      ),
    },
    steps: [
      post('/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '<ns>-more', labels: { policy: 'space' } },
      }),
      patch('merge-patch', '/api/v1/namespaces/<ns>', { metadata: { labels: { policy: 'space' } } }),
    ],
  },
  evicted: {
    rule: 'a policy about evictions sees the eviction',
    policy: {
      ...rules({ ...rule, resources: ['pods/eviction'] }),
      'spec.matchConstraints.objectSelector': undefined,
      ...condition("request.namespace.startsWith('policy-')"),
      ...telling(
        told(
          'object.kind',
          'object.metadata.name',
          'request.subResource',
          'request.kind.kind',
          'request.name',
          'request.operation',
        ),
      ),
    },
    steps: [
      arranged(post(core('pods'), pod('p'))),
      post(core('pods/p/eviction'), { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
    ],
  },
  itself: {
    rule: 'policies do not judge policies and bindings',
    policy: rules({ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }),
    steps: [
      {
        ...post(policiesAt, policy('<ns>', { 'metadata.labels': { policy: 'itself' } })),
        only: ['kind'],
      },
    ],
  },
  equivalent: {
    rule: 'a policy about another version of a kind sees the object in that',
    policy: {
      ...rules({ ...rule, apiGroups: ['<group>'], apiVersions: ['v1'], resources: ['widgets'] }),
      ...telling(
        told('object.apiVersion', 'request.kind.version', 'request.requestKind.version', 'request.resource.version'),
      ),
    },
    steps: [
      post('/apis/<group>/v2/namespaces/<ns>/widgets', {
        apiVersion: '<group>/v2',
        kind: 'Widget',
        metadata: { name: 'w', labels: { policy: 'equivalent' } },
      }),
    ],
  },
  exact: {
    rule: 'a policy about another version of a kind is out where it matches exactly',
    policy: {
      ...rules({ ...rule, apiGroups: ['<group>'], apiVersions: ['v1'], resources: ['widgets'] }),
      'spec.matchConstraints.matchPolicy': 'Exact',
      ...telling('string(object.apiVersion)'),
    },
    steps: [
      post('/apis/<group>/v2/namespaces/<ns>/widgets', {
        apiVersion: '<group>/v2',
        kind: 'Widget',
        metadata: { name: 'w', labels: { policy: 'exact' } },
      }),
    ],
  },
};
