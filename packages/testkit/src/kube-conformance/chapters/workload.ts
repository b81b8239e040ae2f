// Deployments, ReplicaSets, StatefulSets and DaemonSets: given fields, refusals, and what may not change.
import { apps, arranged, type Case, type Chapter, get, type Json, patch, post, type Tree } from '../case.ts';
import { type Changes, daemonSet, deployment, replicaSet, statefulSet } from '../objects.ts';

interface Kind {
  plural: string;
  make(name: string, changes?: Changes): Tree;
}

const kinds: Record<string, Kind> = {
  Deployment: { plural: 'deployments', make: deployment },
  ReplicaSet: { plural: 'replicasets', make: replicaSet },
  StatefulSet: { plural: 'statefulsets', make: statefulSet },
  DaemonSet: { plural: 'daemonsets', make: daemonSet },
};
const kindOf = (name: string): Kind => kinds[name] ?? { plural: '', make: deployment };

const given = Object.entries(kinds).map(([kind, { plural, make }]): Case => ({
  name: `a ${kind} is given its strategy, its history and its pods' fields`,
  steps: [post(apps(plural), make('a'))],
}));

const everyKind: Record<string, Changes> = {
  'without a selector': { 'spec.selector': undefined },
  'with an empty selector': { 'spec.selector': {} },
  'whose selector does not choose its own pods': { 'spec.selector': { matchLabels: { app: 'other' } } },
  'whose selector has an unknown operator': {
    'spec.selector': { matchExpressions: [{ key: 'a', operator: 'Near', values: ['x'] }] },
  },
  'whose pods restart on failure only': { 'spec.template.spec.restartPolicy': 'OnFailure' },
  'whose pods have no containers': { 'spec.template.spec.containers': [] },
  'without a template': { 'spec.template': undefined },
  'without a spec': { spec: undefined },
};

const wrongEverywhere = Object.entries(everyKind).flatMap(([what, rest]) =>
  Object.entries(kinds).map(([kind, { plural, make }]): Case => ({
    name: `a ${kind} ${what} is refused`,
    steps: [post(apps(plural), make('a', rest))],
  })),
);

const wrong: [string, string, Changes][] = [
  ['Deployment', 'a negative number of replicas', { 'spec.replicas': -1 }],
  ['Deployment', 'an unknown strategy', { 'spec.strategy': { type: 'Slowly' } }],
  [
    'Deployment',
    'a rolling update of Recreate',
    { 'spec.strategy': { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
  ],
  [
    'Deployment',
    'neither surge nor unavailable pods',
    { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
  ],
  [
    'Deployment',
    'more than all pods unavailable',
    { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '101%' } } },
  ],
  [
    'Deployment',
    'a surge that is no share',
    { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'much' } } },
  ],
  ['Deployment', 'a negative surge', { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: -1 } } }],
  ['Deployment', 'negative seconds of readiness', { 'spec.minReadySeconds': -1 }],
  [
    'Deployment',
    'a deadline shorter than its readiness',
    { 'spec.minReadySeconds': 10, 'spec.progressDeadlineSeconds': 5 },
  ],
  ['Deployment', 'a negative history', { 'spec.revisionHistoryLimit': -1 }],
  ['StatefulSet', 'an unknown pod management', { 'spec.podManagementPolicy': 'Anyhow' }],
  ['StatefulSet', 'an unknown update strategy', { 'spec.updateStrategy': { type: 'Slowly' } }],
  [
    'StatefulSet',
    'a negative partition',
    { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } },
  ],
  ['StatefulSet', 'a negative number of replicas', { 'spec.replicas': -1 }],
  ['StatefulSet', 'negative ordinals', { 'spec.ordinals': { start: -1 } }],
  ['DaemonSet', 'an unknown update strategy', { 'spec.updateStrategy': { type: 'Slowly' } }],
  [
    'DaemonSet',
    'neither surge nor unavailable pods',
    { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
  ],
  [
    'DaemonSet',
    'surge and unavailable pods at once',
    { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
  ],
  ['ReplicaSet', 'a negative number of replicas', { 'spec.replicas': -1 }],
];

const wrongOnes = wrong.map(([kind, what, rest]): Case => ({
  name: `a ${kind} with ${what} is told`,
  steps: [post(apps(kindOf(kind).plural), kindOf(kind).make('a', rest))],
}));

const update = (kind: string, rule: string, spec: Json): Case => {
  const { plural, make } = kindOf(kind);
  return {
    name: rule,
    steps: [
      arranged(post(apps(plural), make('a'))),
      patch('merge-patch', apps(`${plural}/a`), { spec }, { only: ['spec', 'metadata.generation'] }),
    ],
  };
};
const relabelled = { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } };

const changes: Case[] = [
  ...Object.keys(kinds).map((kind) => update(kind, `the selector of a ${kind} may not change`, relabelled)),
  update('StatefulSet', 'the service of a StatefulSet may not change', { serviceName: 'other' }),
  update('StatefulSet', 'the pod management of a StatefulSet may not change', { podManagementPolicy: 'Parallel' }),
  update('StatefulSet', 'the replicas of a StatefulSet may change', { replicas: 3 }),
  update('Deployment', 'the template of a Deployment may change', {
    template: { spec: { terminationGracePeriodSeconds: 5 } },
  }),
  update('Deployment', 'a strategy changed to Recreate must lose its rolling update', {
    strategy: { type: 'Recreate' },
  }),
  update('Deployment', 'a strategy changed to Recreate without its rolling update is taken', {
    strategy: { type: 'Recreate', rollingUpdate: null },
  }),
  update('Deployment', 'a Deployment may be paused', { paused: true }),
  update('Deployment', 'percentages of a rolling update are kept as they are', {
    strategy: { rollingUpdate: { maxSurge: '30%', maxUnavailable: '10%' } },
  }),
  {
    name: 'a Deployment named with 63 letters is taken, and one with a dot too',
    steps: [
      post(
        apps('deployments'),
        deployment('a'.repeat(63), { 'spec.selector.matchLabels.app': 'a', 'spec.template.metadata.labels.app': 'a' }),
        { only: ['metadata.name'] },
      ),
      post(apps('deployments'), deployment('a.b'), { only: ['metadata.name'] }),
    ],
  },
  {
    name: 'a get of a Deployment in an old API group is a plain 404',
    steps: [get('/apis/extensions/v1beta1/namespaces/<ns>/deployments')],
  },
];

export const workloads: Chapter = {
  name: 'workload',
  needs: 'bare',
  cases: [...given, ...wrongEverywhere, ...wrongOnes, ...changes],
};
