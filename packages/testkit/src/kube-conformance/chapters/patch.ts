// Patches in JSON, by merge, and strategic ones, which know the keys of lists.
import { apps, arranged, type Ask, type Case, type Chapter, core, get, type Json, patch, post } from '../case.ts';
import { configMap, deployment, pod, service } from '../objects.ts';

const made = arranged(post(core('configmaps'), configMap('a', { data: { a: '1', b: '2' } })), {
  version: 'metadata.resourceVersion',
});
const at = core('configmaps/a');
const json = (rule: string, body: Json, more: Ask[] = []): Case => ({
  name: rule,
  steps: [made, patch('json-patch', at, body), ...more],
});
const merge = (rule: string, body: Json, more: Ask[] = []): Case => ({
  name: rule,
  steps: [made, patch('merge-patch', at, body), ...more],
});

const jsonPatches: Case[] = [
  json('a JSON patch adds, replaces and removes', [
    { op: 'add', path: '/data/c', value: '3' },
    { op: 'replace', path: '/data/a', value: '9' },
    { op: 'remove', path: '/data/b' },
  ]),
  json('a JSON patch copies and moves', [
    { op: 'copy', from: '/data/a', path: '/data/c' },
    { op: 'move', from: '/data/b', path: '/data/d' },
  ]),
  json('a JSON patch whose test holds is done', [
    { op: 'test', path: '/data/a', value: '1' },
    { op: 'replace', path: '/data/a', value: '2' },
  ]),
  json('a JSON patch whose test fails is Invalid', [{ op: 'test', path: '/data/a', value: '9' }], [get(at)]),
  json('a JSON patch that removes what is not there is Invalid', [{ op: 'remove', path: '/data/x' }]),
  json('a JSON patch that replaces what is not there adds it', [{ op: 'replace', path: '/data/x', value: '1' }]),
  json('a JSON patch that adds below what is not there is Invalid', [{ op: 'add', path: '/x/y', value: '1' }]),
  json('a JSON patch of an unknown operation is Invalid', [{ op: 'increment', path: '/data/a' }]),
  json('a JSON patch that is an object is a bad request', { op: 'add' }),
  json('a JSON patch without a path is Invalid', [{ op: 'add', value: '1' }]),
  json('an empty JSON patch changes nothing', []),
  json('a JSON patch escapes slashes and tildes', [
    { op: 'add', path: '/metadata/annotations', value: { 'a/b~c': '1' } },
    { op: 'replace', path: '/metadata/annotations/a~1b~0c', value: '2' },
  ]),
  json('a JSON patch that makes the object invalid is Invalid', [{ op: 'add', path: '/data/a b', value: '1' }]),
  json('a JSON patch that puts a number for a text is Invalid', [{ op: 'add', path: '/data/c', value: 1 }]),
  json(
    'a JSON patch of 10,001 operations is too large',
    Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' })),
  ),
  {
    name: 'a patch that is no JSON is a bad request',
    steps: [made, patch('json-patch', at, 'hello')],
  },
];

const mergePatches: Case[] = [
  merge('a merge patch sets and removes', { data: { a: null, c: '3' } }),
  merge('a merge patch of the same changes nothing and keeps the version', { data: { a: '1' } }, [get(at)]),
  merge('an empty merge patch changes nothing', {}),
  merge('a merge patch that is a list is a bad request', []),
  merge('a merge patch that is null is a bad request', null),
  merge('a merge patch with an older version is a Conflict', { metadata: { resourceVersion: '1' }, data: { a: '2' } }),
  merge('a merge patch with the present version is done', {
    metadata: { resourceVersion: '<version>' },
    data: { a: '2' },
  }),
  merge('a merge patch for another uid is Invalid', { metadata: { uid: '01234567-0123-0123-0123-0123456789ab' } }),
  merge('a merge patch that renames is a bad request', { metadata: { name: 'b' } }),
  merge('a merge patch into another namespace is a bad request', { metadata: { namespace: 'another' } }),
  merge('a merge patch that changes the kind is Invalid', { kind: 'Secret' }),
  merge('a merge patch that takes the kind away is passed over', { kind: null }),
  merge('a merge patch with a number for a text is Invalid', { data: { c: 1 } }),
  merge('a merge patch may empty the labels', { metadata: { labels: null } }),
  {
    name: 'a merge patch that breaks off is a bad request',
    steps: [made, patch('merge-patch', at, '{"data":')],
  },
  { name: 'a patch of what is not there is NotFound', steps: [patch('merge-patch', at, { data: {} })] },
  {
    name: 'a merge patch replaces lists whole',
    steps: [
      arranged(
        post(
          core('services'),
          service('a', {
            'spec.ports': [
              { name: 'x', port: 1 },
              { name: 'y', port: 2 },
            ],
          }),
        ),
      ),
      patch('merge-patch', core('services/a'), { spec: { ports: [{ name: 'z', port: 3 }] } }, { only: ['spec.ports'] }),
    ],
  },
  {
    name: 'a patch with a dry run changes nothing',
    steps: [made, patch('merge-patch', `${at}?dryRun=All`, { data: { a: '9' } }), get(at)],
  },
  {
    name: 'force is only for apply',
    steps: [made, patch('merge-patch', `${at}?force=true`, { data: { a: '9' } })],
  },
  {
    name: 'the managers of a patch are the patcher and the fields it changed',
    steps: [made, patch('merge-patch', `${at}?fieldManager=patcher`, { data: { c: '3' } }, { hasManagers: true })],
  },
];

const workload = arranged(
  post(
    apps('deployments'),
    deployment('a', {
      'spec.template.spec.containers': [
        {
          name: 'web',
          image: 'nginx:1',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
          ports: [{ containerPort: 80 }],
        },
        { name: 'side', image: 'side:1', args: ['x', 'y'] },
      ],
      'spec.template.spec.tolerations': [{ key: 'a', operator: 'Exists' }],
      'metadata.finalizers': ['example.com/a', 'example.com/b'],
    }),
  ),
);
const only = {
  only: ['spec.template.spec.containers.*.name', 'spec.template.spec', 'spec.strategy', 'metadata.finalizers'],
};
const strategic = (rule: string, body: Json): Case => ({
  name: rule,
  steps: [workload, patch('strategic-merge-patch', apps('deployments/a'), body, only)],
});
const inPod = (spec: Json): Json => ({ spec: { template: { spec } } });

const strategicPatches: Case[] = [
  strategic(
    'a strategic patch merges containers by their name',
    inPod({ containers: [{ name: 'web', image: 'nginx:2' }] }),
  ),
  strategic(
    'a strategic patch adds a container of a new name',
    inPod({ containers: [{ name: 'new', image: 'new:1' }] }),
  ),
  strategic('$patch: delete takes an element away', inPod({ containers: [{ name: 'side', $patch: 'delete' }] })),
  strategic(
    '$patch: replace in a list replaces it whole',
    inPod({ containers: [{ $patch: 'replace' }, { name: 'only', image: 'only:1' }] }),
  ),
  strategic('$patch: replace in an object replaces it whole', {
    spec: { strategy: { $patch: 'replace', type: 'Recreate' } },
  }),
  strategic('$patch: delete of an object takes it away', { spec: { strategy: { $patch: 'delete' } } }),
  strategic(
    '$setElementOrder orders the elements',
    inPod({
      '$setElementOrder/containers': [{ name: 'side' }, { name: 'web' }],
      containers: [{ name: 'web', image: 'nginx:3' }],
    }),
  ),
  strategic('$retainKeys keeps the named keys alone', {
    spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
  }),
  strategic('$deleteFromPrimitiveList takes values from a list', {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
  }),
  strategic('a list of values that merges gets new values', { metadata: { finalizers: ['example.com/c'] } }),
  strategic('a list without a merge key is replaced whole', inPod({ tolerations: [{ key: 'b', operator: 'Exists' }] })),
  strategic('args are replaced whole', inPod({ containers: [{ name: 'side', args: ['z'] }] })),
  strategic(
    'env merges by name',
    inPod({
      containers: [
        {
          name: 'web',
          env: [
            { name: 'B', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ],
    }),
  ),
  strategic(
    'env goes by $patch: delete',
    inPod({ containers: [{ name: 'web', env: [{ name: 'A', $patch: 'delete' }] }] }),
  ),
  strategic('ports merge by containerPort', inPod({ containers: [{ name: 'web', ports: [{ containerPort: 81 }] }] })),
  strategic('null takes a field away', inPod({ containers: [{ name: 'web', env: null }] })),
  strategic('an element without its merge key is an internal error', inPod({ containers: [{ image: 'nginx:2' }] })),
  strategic(
    'an unknown $patch directive is an internal error',
    inPod({ containers: [{ name: 'web', $patch: 'explode' }] }),
  ),
  {
    name: 'a strategic patch of a Service merges its ports by port',
    steps: [
      arranged(
        post(
          core('services'),
          service('a', {
            'spec.ports': [
              { name: 'x', port: 1 },
              { name: 'y', port: 2 },
            ],
          }),
        ),
      ),
      patch(
        'strategic-merge-patch',
        core('services/a'),
        {
          spec: {
            ports: [
              { port: 2, name: 'z' },
              { port: 3, name: 'w' },
            ],
          },
        },
        { only: ['spec.ports'] },
      ),
    ],
  },
  {
    name: 'a strategic patch of a pod that may not change is Invalid',
    steps: [
      arranged(post(core('pods'), pod('a'))),
      patch('strategic-merge-patch', core('pods/a'), { spec: { restartPolicy: 'Never' } }),
    ],
  },
  {
    name: 'a strategic patch of a pod may change an image',
    steps: [
      arranged(post(core('pods'), pod('a'))),
      patch(
        'strategic-merge-patch',
        core('pods/a'),
        { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } },
        { only: ['spec.containers.0.image', 'metadata.generation'] },
      ),
    ],
  },
];

export const patches: Chapter = {
  name: 'patch',
  cases: [...jsonPatches, ...mergePatches, ...strategicPatches],
};
