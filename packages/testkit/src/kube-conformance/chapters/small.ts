// The kinds with a few rules each: Secret, Ingress, Lease, PodDisruptionBudget, ServiceAccount, Node, Event, quotas.
import { arranged, type Case, type Chapter, core, get, type Json, of, patch, post, type Tree } from '../case.ts';
import { budget, type Changes, ingress, lease, secret } from '../objects.ts';

const b64 = (text: string): string => btoa(text);
const secretCases: [string, Tree][] = [
  [
    'a Secret is given the type Opaque, and stringData becomes data',
    secret('a', { data: { a: b64('1') }, stringData: { b: '2', a: '3' } }),
  ],
  ['a Secret whose data is not base64 is a bad request', secret('a', { data: { a: '%%' } })],
  ['a Secret key with a space is Invalid', secret('a', { data: { 'a b': '' } })],
  ['a TLS Secret without a certificate and key is Invalid', secret('a', { type: 'kubernetes.io/tls' })],
  [
    'a TLS Secret with both is taken',
    secret('a', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'y' } }),
  ],
  ['a basic-auth Secret without a user and password is Invalid', secret('a', { type: 'kubernetes.io/basic-auth' })],
  ['an SSH Secret without a key is Invalid', secret('a', { type: 'kubernetes.io/ssh-auth' })],
  [
    'a registry Secret that is no JSON is Invalid',
    secret('a', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } }),
  ],
  ['a registry Secret without its key is Invalid', secret('a', { type: 'kubernetes.io/dockerconfigjson' })],
  ['a token Secret without a ServiceAccount is Invalid', secret('a', { type: 'kubernetes.io/service-account-token' })],
];

const secrets: Case[] = [
  ...secretCases.map(([name, body]): Case => ({ name, steps: [post(core('secrets'), body)] })),
  {
    name: 'the type of a Secret may not change',
    steps: [
      arranged(post(core('secrets'), secret('a'))),
      patch('merge-patch', core('secrets/a'), { type: 'example.com/x' }),
    ],
  },
  {
    name: 'an immutable Secret keeps its data',
    steps: [
      arranged(post(core('secrets'), secret('a', { immutable: true, stringData: { a: '1' } }))),
      patch('merge-patch', core('secrets/a'), { stringData: { a: '2' } }),
    ],
  },
];

const ingressesAt = of('networking.k8s.io/v1', 'ingresses');
const rule = 'spec.rules.0';
const wrongIngresses: Record<string, Changes> = {
  'neither rules nor a backend': { 'spec.rules': undefined },
  'a host with capitals': { [`${rule}.host`]: 'A.example.com' },
  'an address as host': { [`${rule}.host`]: '192.0.2.1' },
  'a wildcard in the middle of the host': { [`${rule}.host`]: 'a.*.example.com' },
  'a path that does not begin with a slash': { [`${rule}.http.paths.0.path`]: 'x' },
  'a path with two slashes': { [`${rule}.http.paths.0.path`]: '/a//b' },
  'a path without a type': { [`${rule}.http.paths.0.pathType`]: undefined },
  'an unknown path type': { [`${rule}.http.paths.0.pathType`]: 'Regex' },
  'a path without a backend': { [`${rule}.http.paths.0.backend`]: {} },
  'a backend without a port': { [`${rule}.http.paths.0.backend.service.port`]: {} },
  'a backend with a port by name and number': {
    [`${rule}.http.paths.0.backend.service.port`]: { name: 'http', number: 80 },
  },
  'a port number of 0': { [`${rule}.http.paths.0.backend.service.port`]: { number: 0 } },
  'a Service name with capitals': { [`${rule}.http.paths.0.backend.service.name`]: 'Web' },
  'no paths': { [`${rule}.http.paths`]: [] },
  'a TLS host with a space': { 'spec.tls': [{ hosts: ['a b'] }] },
  'a class by field that is no name': { 'spec.ingressClassName': 'a b' },
  'a class by field and by annotation': {
    'spec.ingressClassName': 'a',
    'metadata.annotations': { 'kubernetes.io/ingress.class': 'b' },
  },
};
const ingresses: Case[] = [
  ...Object.entries(wrongIngresses).map(([what, rest]): Case => ({
    name: `an Ingress with ${what} is refused`,
    steps: [post(ingressesAt, ingress('a', rest))],
  })),
  { name: 'an Ingress is taken as it is', steps: [post(ingressesAt, ingress('a'))] },
  {
    name: 'an Ingress with a wildcard host is taken',
    steps: [post(ingressesAt, ingress('a', { [`${rule}.host`]: '*.example.com' }), { only: ['spec'] })],
  },
  {
    name: 'the status of an Ingress takes addresses and ports',
    steps: [
      arranged(post(ingressesAt, ingress('a'))),
      patch(
        'merge-patch',
        `${ingressesAt}/a/status`,
        { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }] } } },
        { only: ['status', 'metadata.generation'] },
      ),
    ],
  },
  {
    name: 'an IngressClass without a controller is refused',
    steps: [
      post('/apis/networking.k8s.io/v1/ingressclasses', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'IngressClass',
        metadata: { name: '<ns>-class' },
      }),
    ],
  },
  {
    name: 'the controller of an IngressClass may not change',
    steps: [
      arranged(
        post('/apis/networking.k8s.io/v1/ingressclasses', {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'IngressClass',
          metadata: { name: '<ns>-class' },
          spec: { controller: 'example.com/a' },
        }),
      ),
      patch('merge-patch', '/apis/networking.k8s.io/v1/ingressclasses/<ns>-class', {
        spec: { controller: 'example.com/b' },
      }),
    ],
  },
];

const leasesAt = of('coordination.k8s.io/v1', 'leases');
const leases: Case[] = [
  {
    name: 'a Lease with its holder and times is taken as it is',
    steps: [
      post(
        leasesAt,
        lease('a', {
          holderIdentity: 'me',
          leaseDurationSeconds: 15,
          leaseTransitions: 0,
          renewTime: '2020-01-02T03:04:05.000006Z',
        }),
      ),
    ],
  },
  { name: 'a Lease of 0 seconds is Invalid', steps: [post(leasesAt, lease('a', { leaseDurationSeconds: 0 }))] },
  {
    name: 'a Lease with negative transitions is Invalid',
    steps: [post(leasesAt, lease('a', { leaseTransitions: -1 }))],
  },
  { name: 'a Lease renewed at no moment is a bad request', steps: [post(leasesAt, lease('a', { renewTime: 'now' }))] },
  {
    name: 'a Lease renewed at a moment without a fraction is a bad request',
    steps: [post(leasesAt, lease('a', { renewTime: '2020-01-02T03:04:05Z' }))],
  },
];

const budgetsAt = of('policy/v1', 'poddisruptionbudgets');
const budgets: Case[] = [
  {
    name: 'a budget with both limits is Invalid',
    steps: [post(budgetsAt, budget('a', { minAvailable: 1, maxUnavailable: 1 }))],
  },
  { name: 'a budget of a negative number is Invalid', steps: [post(budgetsAt, budget('a', { minAvailable: -1 }))] },
  { name: 'a budget of more than all is Invalid', steps: [post(budgetsAt, budget('a', { minAvailable: '101%' }))] },
  {
    name: 'a budget of a share that is none is Invalid',
    steps: [post(budgetsAt, budget('a', { minAvailable: 'half' }))],
  },
  {
    name: 'a budget is taken as it is, with an empty status',
    steps: [post(budgetsAt, budget('a', { maxUnavailable: '50%' }))],
  },
  {
    name: 'a budget with an unknown eviction policy is Invalid',
    steps: [post(budgetsAt, budget('a', { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'Never' }))],
  },
];

const node = (spec: Tree = {}): Tree => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: '<ns>-node' }, spec });
const event = (rest: Tree = {}): Tree => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e' },
  involvedObject: { kind: 'Pod', namespace: '<ns>', name: 'p' },
  reason: 'Started',
  message: 'it started',
  type: 'Normal',
  ...rest,
});
const newEvent = (rest: Tree = {}): Tree => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'e' },
  eventTime: '2020-01-02T03:04:05.000006Z',
  action: 'Starting',
  reason: 'Started',
  type: 'Normal',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  regarding: { kind: 'Pod', namespace: '<ns>', name: 'p' },
  note: 'it started',
  ...rest,
});
const eventsAt = of('events.k8s.io/v1', 'events');
const tainted = (taint: Json): Tree => node({ taints: [taint] });

const others: Case[] = [
  { name: 'a Node is taken with an empty status', steps: [post('/api/v1/nodes', node())] },
  {
    name: 'a Node with an unknown taint effect is Invalid',
    steps: [post('/api/v1/nodes', tainted({ key: 'a', effect: 'Never' }))],
  },
  { name: 'a Node with a pod range that is none is Invalid', steps: [post('/api/v1/nodes', node({ podCIDR: 'x' }))] },
  {
    name: 'the pod range of a Node may not change',
    steps: [
      arranged(post('/api/v1/nodes', node({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] }))),
      patch('merge-patch', '/api/v1/nodes/<ns>-node', { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } }),
    ],
  },
  {
    name: 'the status of a Node takes conditions, addresses and capacity',
    steps: [
      arranged(post('/api/v1/nodes', node())),
      patch(
        'strategic-merge-patch',
        '/api/v1/nodes/<ns>-node/status',
        {
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            addresses: [{ type: 'InternalIP', address: '10.9.8.7' }],
            capacity: { cpu: '4000m', pods: '110' },
          },
        },
        { only: ['status'] },
      ),
    ],
  },
  {
    name: 'a ServiceAccount is taken as it is',
    steps: [post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })],
  },
  { name: 'an Event is taken as it is', steps: [post(core('events'), event())] },
  {
    name: 'an Event about another namespace is Invalid',
    steps: [post(core('events'), event({ involvedObject: { kind: 'Pod', namespace: 'other', name: 'p' } }))],
  },
  {
    name: 'an Event of events.k8s.io is one of the core group too',
    steps: [post(eventsAt, newEvent()), get(core('events/e'))],
  },
  {
    name: 'an Event of events.k8s.io without its time is Invalid',
    steps: [post(eventsAt, newEvent({ eventTime: null }))],
  },
  {
    name: 'an Event of events.k8s.io without reason, action and reporter is Invalid in each',
    steps: [post(eventsAt, newEvent({ reason: '', action: '', reportingController: '', reportingInstance: '' }))],
  },
  {
    name: 'an Event of events.k8s.io of an unknown type is Invalid',
    steps: [post(eventsAt, newEvent({ type: 'Bad' }))],
  },
  {
    name: 'Events are selected by what they are about',
    steps: [
      arranged(post(core('events'), event())),
      get(core('events?fieldSelector=involvedObject.name%3Dp,reason%3DStarted'), { only: ['items.*.metadata.name'] }),
      get(core('events?fieldSelector=involvedObject.name%3Dq'), { only: ['items'] }),
    ],
  },
  {
    name: 'a ControllerRevision may not change its data',
    steps: [
      arranged(
        post(of('apps/v1', 'controllerrevisions'), {
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          metadata: { name: 'r' },
          revision: 1,
          data: { a: 1 },
        }),
      ),
      patch('merge-patch', of('apps/v1', 'controllerrevisions/r'), { data: { a: 2 } }),
    ],
  },
  {
    name: 'a ControllerRevision with a negative revision is Invalid',
    steps: [
      post(of('apps/v1', 'controllerrevisions'), {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'r' },
        revision: -1,
        data: { a: 1 },
      }),
    ],
  },
];

export const small: Chapter = {
  name: 'small',
  needs: 'bare',
  cases: [...secrets, ...ingresses, ...leases, ...budgets, ...others],
};
