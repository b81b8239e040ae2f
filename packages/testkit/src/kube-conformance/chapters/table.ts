// Tables: the columns and cells that kubectl prints, by kind.
import { apps, arranged, type Ask, type Case, type Chapter, core, get, of, patch, post, type Tree } from '../case.ts';
import {
  binding,
  budget,
  configMap,
  daemonSet,
  deployment,
  endpointSlice,
  ingress,
  lease,
  pod,
  replicaSet,
  role,
  secret,
  service,
  statefulSet,
} from '../objects.ts';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const shown = { accept, only: ['kind', 'apiVersion', 'columnDefinitions', 'rows.*.cells', 'code', 'reason'] };

/** Each kind by the path of its collection, an object of it, and how its status comes about. */
const kinds: [string, string, Tree, Ask[]][] = [
  ['ConfigMap', core('configmaps'), configMap('a', { data: { a: '1', b: '2' } }), []],
  ['Secret', core('secrets'), secret('a', { stringData: { a: '1' } }), []],
  [
    'Service',
    core('services'),
    service('a', {
      'spec.clusterIP': '10.96.88.1',
      'spec.ports': [
        { name: 'a', port: 80 },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    }),
    [],
  ],
  [
    'ServiceAccount',
    // The namespace's own one is the work of a controller, which may be there or not.
    core('serviceaccounts?fieldSelector=metadata.name%3Da'),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } },
    [],
  ],
  ['Pod', core('pods'), pod('a', { 'spec.nodeName': 'n' }), []],
  [
    'running Pod',
    core('pods'),
    pod('a', { 'spec.nodeName': 'n', 'spec.readinessGates': [{ conditionType: 'x.io/y' }] }),
    [
      patch('strategic-merge-patch', core('pods/a/status'), {
        status: {
          phase: 'Running',
          podIP: '10.1.2.3',
          podIPs: [{ ip: '10.1.2.3' }],
          conditions: [{ type: 'x.io/y', status: 'True' }],
          containerStatuses: [
            { name: 'web', ready: true, restartCount: 2, image: 'nginx:1.27', imageID: '', state: { running: {} } },
          ],
        },
      }),
    ],
  ],
  [
    'waiting Pod',
    core('pods'),
    pod('a', { 'spec.nodeName': 'n' }),
    [
      patch('strategic-merge-patch', core('pods/a/status'), {
        status: {
          phase: 'Pending',
          containerStatuses: [
            {
              name: 'web',
              ready: false,
              restartCount: 0,
              image: 'x',
              imageID: '',
              state: { waiting: { reason: 'ImagePullBackOff' } },
            },
          ],
        },
      }),
    ],
  ],
  [
    'finished Pod',
    core('pods'),
    pod('a', { 'spec.nodeName': 'n' }),
    [
      patch('strategic-merge-patch', core('pods/a/status'), {
        status: {
          phase: 'Succeeded',
          containerStatuses: [
            {
              name: 'web',
              ready: false,
              restartCount: 0,
              image: 'x',
              imageID: '',
              state: { terminated: { exitCode: 0, reason: 'Completed' } },
            },
          ],
        },
      }),
    ],
  ],
  [
    'killed Pod',
    core('pods'),
    pod('a', { 'spec.nodeName': 'n' }),
    [
      patch('strategic-merge-patch', core('pods/a/status'), {
        status: {
          phase: 'Failed',
          containerStatuses: [
            {
              name: 'web',
              ready: false,
              restartCount: 0,
              image: 'x',
              imageID: '',
              state: { terminated: { exitCode: 0, signal: 9 } },
            },
          ],
        },
      }),
    ],
  ],
  [
    'Deployment',
    apps('deployments'),
    deployment('a', { 'spec.replicas': 3 }),
    [
      patch('merge-patch', apps('deployments/a/status'), {
        status: { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
      }),
    ],
  ],
  [
    'ReplicaSet',
    apps('replicasets'),
    replicaSet('a', { 'spec.replicas': 2 }),
    [patch('merge-patch', apps('replicasets/a/status'), { status: { replicas: 2, readyReplicas: 1 } })],
  ],
  [
    'StatefulSet',
    apps('statefulsets'),
    statefulSet('a', { 'spec.replicas': 2 }),
    [patch('merge-patch', apps('statefulsets/a/status'), { status: { replicas: 2, readyReplicas: 1 } })],
  ],
  [
    'DaemonSet',
    apps('daemonsets'),
    daemonSet('a', { 'spec.template.spec.nodeSelector': { disk: 'ssd' } }),
    [
      patch('merge-patch', apps('daemonsets/a/status'), {
        status: {
          desiredNumberScheduled: 3,
          currentNumberScheduled: 2,
          numberMisscheduled: 0,
          numberReady: 1,
          updatedNumberScheduled: 1,
          numberAvailable: 1,
        },
      }),
    ],
  ],
  [
    'Ingress',
    of('networking.k8s.io/v1', 'ingresses'),
    ingress('a', { 'spec.ingressClassName': 'c', 'spec.tls': [{ hosts: ['a.example.com'] }] }),
    [],
  ],
  ['EndpointSlice', of('discovery.k8s.io/v1', 'endpointslices'), endpointSlice('a'), []],
  [
    'Endpoints',
    core('endpoints'),
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'a' },
      subsets: [{ addresses: [{ ip: '10.1.2.3' }, { ip: '10.1.2.4' }], ports: [{ port: 80 }] }],
    },
    [],
  ],
  ['Lease', of('coordination.k8s.io/v1', 'leases'), lease('a', { holderIdentity: 'me' }), []],
  ['PodDisruptionBudget', of('policy/v1', 'poddisruptionbudgets'), budget('a', { minAvailable: '50%' }), []],
  ['Role', of('rbac.authorization.k8s.io/v1', 'roles'), role('a', []), []],
  ['RoleBinding', of('rbac.authorization.k8s.io/v1', 'rolebindings'), binding('a', 'r', 'joe'), []],
  [
    'ControllerRevision',
    apps('controllerrevisions'),
    { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'a' }, revision: 3, data: {} },
    [],
  ],
  [
    'Event',
    core('events'),
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a' },
      involvedObject: { kind: 'Pod', namespace: '<ns>', name: 'p' },
      reason: 'Started',
      message: 'it started',
      type: 'Normal',
      count: 2,
      firstTimestamp: '2020-01-01T00:00:00Z',
    },
    [],
  ],
];

const printed = kinds.map(([kind, path, object, later]): Case => ({
  name: `a ${kind} is printed in its columns`,
  steps: [arranged(post(path, object)), ...later.map((step) => arranged(step)), get(path, shown)],
}));

const made = arranged(post(core('configmaps'), configMap('a')));
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: '<ns>-node', labels: { 'node-role.kubernetes.io/worker': '' } },
};

const others: Case[] = [
  {
    name: 'a Node is printed in its columns',
    steps: [arranged(post('/api/v1/nodes', node)), get('/api/v1/nodes/<ns>-node', shown)],
  },
  { name: 'a Namespace is printed in its columns', steps: [get('/api/v1/namespaces/<ns>', shown)] },
  { name: 'one object is a table of one row, with its metadata', steps: [made, get(core('configmaps/a'), { accept })] },
  {
    name: 'rows hold whole objects when asked to',
    steps: [made, get(core('configmaps?includeObject=Object'), { accept })],
  },
  {
    name: 'rows hold no objects when asked not to',
    steps: [made, get(core('configmaps?includeObject=None'), { accept })],
  },
  {
    name: 'an unknown includeObject is refused',
    steps: [made, get(core('configmaps?includeObject=Some'), { accept })],
  },
  { name: 'a table of nothing has columns and no rows', steps: [get(core('configmaps'), { accept })] },
  {
    name: 'a table has the continue token of its list',
    steps: [
      made,
      arranged(post(core('configmaps'), configMap('b'))),
      get(core('configmaps?limit=1'), { accept, only: ['metadata', 'rows.*.cells'] }),
    ],
  },
  { name: 'a failure is a Status even when a table is asked for', steps: [get(core('configmaps/a'), { accept })] },
  { name: 'a create can be answered as a table', steps: [post(core('configmaps'), configMap('a'), { accept })] },
  {
    name: 'a delete answered as a table is a table of the status',
    steps: [made, { method: 'DELETE', path: core('configmaps/a'), accept }],
  },
  {
    name: 'a table of version v1beta1 is answered as asked',
    steps: [made, get(core('configmaps'), { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' })],
  },
];

export const tables: Chapter = { name: 'table', needs: 'bare', cases: [...printed, ...others] };
