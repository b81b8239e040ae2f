// Subresources: status, scale, binding, eviction, tokens.
import {
  apps,
  arranged,
  type Ask,
  type Case,
  type Chapter,
  core,
  get,
  type Json,
  patch,
  post,
  put,
  type Tree,
} from '../case.ts';
import { budget, changed, configMap, daemonSet, deployment, pod, service, statefulSet } from '../objects.ts';

const d = apps('deployments/d');
const workload = arranged(post(apps('deployments'), deployment('d')), { version: 'metadata.resourceVersion' });
const generation = { only: ['metadata.generation', 'spec.replicas', 'status'] };

const status: Case[] = [
  { name: 'a workload begins with generation 1', steps: [post(apps('deployments'), deployment('d'), generation)] },
  {
    name: 'a change of the spec is a new generation',
    steps: [workload, patch('merge-patch', d, { spec: { replicas: 2 } }, generation)],
  },
  {
    name: 'a change of labels alone keeps the generation',
    steps: [workload, patch('merge-patch', d, { metadata: { labels: { a: 'b' } } }, generation)],
  },
  {
    name: 'a status sent with a create is passed over',
    steps: [post(apps('deployments'), deployment('d', { 'status.replicas': 7 }), generation)],
  },
  {
    name: 'a status sent with a replace is passed over',
    steps: [workload, put(d, deployment('d', { 'status.replicas': 7 }), generation)],
  },
  {
    name: 'a status is written through its subresource and keeps the generation',
    steps: [
      workload,
      patch('merge-patch', `${d}/status`, { status: { replicas: 7, observedGeneration: 1 } }, generation),
    ],
  },
  {
    name: 'a spec sent to the status is passed over',
    steps: [workload, put(`${d}/status`, deployment('d', { 'spec.replicas': 9, 'status.replicas': 3 }), generation)],
  },
  {
    name: 'labels sent to the status are passed over for a Deployment',
    steps: [
      workload,
      patch(
        'merge-patch',
        `${d}/status`,
        { metadata: { labels: { a: 'b' } }, status: { replicas: 1 } },
        { only: ['metadata.labels', 'status'] },
      ),
    ],
  },
  { name: 'a get of the status answers the whole object', steps: [workload, get(`${d}/status`)] },
  { name: 'a status of what is not there is NotFound', steps: [put(`${d}/status`, deployment('d'))] },
  {
    name: 'a status with more ready than replicas is Invalid',
    steps: [
      workload,
      patch('merge-patch', `${d}/status`, { status: { replicas: 1, readyReplicas: 2, availableReplicas: 3 } }),
    ],
  },
  {
    name: 'a status with a negative count is Invalid',
    steps: [workload, patch('merge-patch', `${d}/status`, { status: { replicas: -1 } })],
  },
  { name: 'a delete of a status is not allowed', steps: [workload, { method: 'DELETE', path: `${d}/status` }] },
  {
    name: 'the managers of a status write name the subresource',
    steps: [
      workload,
      patch(
        'merge-patch',
        `${d}/status?fieldManager=ctrl`,
        { status: { replicas: 1 } },
        { only: ['metadata.managedFields'], hasManagers: true },
      ),
    ],
  },
  {
    name: 'conditions of a status merge by their type in a strategic patch',
    steps: [
      workload,
      arranged(
        patch('strategic-merge-patch', `${d}/status`, { status: { conditions: [{ type: 'A', status: 'True' }] } }),
      ),
      patch(
        'strategic-merge-patch',
        `${d}/status`,
        { status: { conditions: [{ type: 'B', status: 'False' }] } },
        { only: ['status.conditions'] },
      ),
    ],
  },
  {
    name: 'a Service status takes an ingress address',
    steps: [
      arranged(post(core('services'), service('s', { 'spec.type': 'LoadBalancer' }))),
      patch(
        'merge-patch',
        core('services/s/status'),
        { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
        { only: ['status'] },
      ),
    ],
  },
  {
    name: 'a Service status with an address that is none is Invalid',
    steps: [
      arranged(post(core('services'), service('s', { 'spec.type': 'LoadBalancer' }))),
      patch('merge-patch', core('services/s/status'), { status: { loadBalancer: { ingress: [{ ip: 'nowhere' }] } } }),
    ],
  },
];

const replicas = (count: Json, rest: Tree = {}): Tree => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'd' },
  spec: { replicas: count },
  ...rest,
});

const scale: Case[] = [
  {
    name: 'a scale is the replicas, the selector as text, and the version of the workload',
    steps: [workload, get(`${d}/scale`)],
  },
  { name: 'a scale sets the replicas', steps: [workload, put(`${d}/scale`, replicas(4)), get(d, generation)] },
  { name: 'a scale to a negative number is Invalid', steps: [workload, put(`${d}/scale`, replicas(-1))] },
  {
    name: 'a scale of an older version is a Conflict',
    steps: [workload, put(`${d}/scale`, changed(replicas(4), { 'metadata.resourceVersion': '1' }))],
  },
  { name: 'a scale of another kind is a bad request', steps: [workload, put(`${d}/scale`, deployment('d'))] },
  { name: 'a scale by patch', steps: [workload, patch('merge-patch', `${d}/scale`, { spec: { replicas: 5 } })] },
  {
    name: 'a StatefulSet scales too',
    steps: [
      arranged(post(apps('statefulsets'), statefulSet('d'))),
      patch('merge-patch', apps('statefulsets/d/scale'), { spec: { replicas: 2 } }),
    ],
  },
  {
    name: 'a DaemonSet has no scale',
    steps: [arranged(post(apps('daemonsets'), daemonSet('d'))), get(apps('daemonsets/d/scale'))],
  },
];

const waiting: Ask = arranged(post(core('pods'), pod('p')));
const bind = (rest: Tree = {}): Tree => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name: 'p' },
  target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
  ...rest,
});

const binding: Case[] = [
  {
    name: 'a binding puts a pod on a node and makes it PodScheduled',
    steps: [
      waiting,
      post(core('pods/p/binding'), bind()),
      get(core('pods/p'), { only: ['spec.nodeName', 'status.conditions'] }),
    ],
  },
  {
    name: 'a second binding of a pod is a Conflict',
    steps: [waiting, arranged(post(core('pods/p/binding'), bind())), post(core('pods/p/binding'), bind())],
  },
  { name: 'a binding of a pod that is not there is NotFound', steps: [post(core('pods/p/binding'), bind())] },
  {
    name: 'a binding to nothing is an internal error',
    steps: [waiting, post(core('pods/p/binding'), bind({ target: { kind: 'Node', name: '' } }))],
  },
  {
    name: 'a binding to another kind than Node is an internal error',
    steps: [waiting, post(core('pods/p/binding'), bind({ target: { kind: 'Pod', name: 'x' } }))],
  },
  {
    name: 'a binding of the bindings resource works as well',
    steps: [waiting, post(core('bindings'), bind()), get(core('pods/p'), { only: ['spec.nodeName'] })],
  },
];

const evict = (rest: Tree = {}): Tree => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name: 'p' },
  ...rest,
});
const guarded = (allowed: number): Ask[] => [
  arranged(post(core('pods'), pod('p', { 'metadata.labels': { app: 'p' }, 'spec.nodeName': 'n' }))),
  arranged(
    patch('merge-patch', core('pods/p/status'), {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  ),
  arranged(post('/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets', budget('p', { minAvailable: 1 }))),
  arranged(
    patch('merge-patch', '/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets/p/status', {
      status: {
        observedGeneration: 1,
        disruptionsAllowed: allowed,
        currentHealthy: 1 + allowed,
        desiredHealthy: 1,
        expectedPods: 1 + allowed,
      },
    }),
  ),
];

const eviction: Case[] = [
  { name: 'an eviction of a pod without a budget is done', steps: [waiting, post(core('pods/p/eviction'), evict())] },
  { name: 'an eviction of a pod that is not there is NotFound', steps: [post(core('pods/p/eviction'), evict())] },
  {
    name: 'an eviction of another name is a bad request',
    steps: [waiting, post(core('pods/p/eviction'), evict({ metadata: { name: 'q' } }))],
  },
  {
    name: 'an eviction that the budget allows is done and counted',
    steps: [
      ...guarded(1),
      post(core('pods/p/eviction'), evict()),
      get('/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets/p', { only: ['status.disruptionsAllowed'] }),
    ],
  },
  {
    name: 'an eviction that the budget does not allow is TooManyRequests with the cause DisruptionBudget',
    steps: [...guarded(0), post(core('pods/p/eviction'), evict())],
  },
  {
    name: 'an eviction with a dry run leaves the pod',
    steps: [
      waiting,
      post(core('pods/p/eviction?dryRun=All'), evict()),
      get(core('pods/p'), { only: ['metadata.name'] }),
    ],
  },
];

const token = (spec: Tree): Tree => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
const account = arranged(
  post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }),
);

const others: Case[] = [
  {
    name: 'a token is made for a ServiceAccount',
    steps: [account, post(core('serviceaccounts/sa/token'), token({ expirationSeconds: 3600 }))],
  },
  {
    name: 'a token for less than ten minutes is Invalid',
    steps: [account, post(core('serviceaccounts/sa/token'), token({ expirationSeconds: 60 }))],
  },
  {
    name: 'a token for a ServiceAccount that is not there is NotFound',
    steps: [post(core('serviceaccounts/sa/token'), token({}))],
  },
  {
    name: 'a pod status takes conditions and a phase',
    steps: [
      waiting,
      patch(
        'strategic-merge-patch',
        core('pods/p/status'),
        {
          status: {
            phase: 'Running',
            podIP: '10.1.2.3',
            podIPs: [{ ip: '10.1.2.3' }],
            conditions: [{ type: 'Ready', status: 'True' }],
          },
        },
        { only: ['status'] },
      ),
    ],
  },
  { name: 'a log of a pod without a node is empty', steps: [waiting, get(core('pods/p/log'))] },
  {
    name: 'a log of a container that is not there is a bad request',
    steps: [waiting, get(core('pods/p/log?container=x'))],
  },
  { name: 'a log of a pod that is not there is NotFound', steps: [get(core('pods/p/log'))] },
  {
    name: 'a ConfigMap has no status',
    steps: [arranged(post(core('configmaps'), configMap('a'))), get(core('configmaps/a/status'))],
  },
];

export const subresources: Chapter = {
  name: 'subresource',
  needs: 'bare',
  cases: [...status, ...scale, ...binding, ...eviction, ...others],
};
