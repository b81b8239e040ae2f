// Server-side apply: who owns which field, and what becomes of a field that its owner no longer applies.
import {
  apply,
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
import { changed, configMap, deployment, service } from '../objects.ts';

const map = (words: Tree, rest: Tree = {}): Tree => configMap('a', { data: words, ...rest });
const bare: Tree = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const at = core('configmaps/a');
const applied = (manager: string, words: Tree): Ask => arranged(apply(manager, at, map(words)));
const owners = { hasManagers: true } as const;

const ownership: Case[] = [
  { name: 'an apply of what is not there makes it, with 201', steps: [apply('one', at, map({ a: '1' }), owners)] },
  {
    name: 'an apply of what is there changes it, with 200',
    steps: [applied('one', { a: '1' }), apply('one', at, map({ a: '2' }), owners)],
  },
  {
    name: 'an apply of the same keeps the version',
    steps: [apply('one', at, map({ a: '1' })), apply('one', at, map({ a: '1' })), get(at)],
  },
  {
    name: 'two appliers of different fields own their own',
    steps: [applied('one', { a: '1' }), apply('two', at, map({ b: '2' }), owners)],
  },
  {
    name: 'two appliers of the same value share the field',
    steps: [applied('one', { a: '1' }), apply('two', at, map({ a: '1' }), owners)],
  },
  {
    name: 'an apply of another value is a Conflict that names the manager and the field',
    steps: [applied('one', { a: '1' }), apply('two', at, map({ a: '2' }))],
  },
  {
    name: 'a Conflict names every field',
    steps: [applied('one', { a: '1', b: '1' }), apply('two', at, map({ a: '2', b: '2' }))],
  },
  {
    name: 'a Conflict names every manager',
    steps: [
      applied('one', { a: '1' }),
      applied('two', { b: '1' }),
      apply('three', at, map({ a: '2', b: '2' }), { unordered: 'details.causes' }),
    ],
  },
  {
    name: 'a Conflict with an updater says what it used and when',
    steps: [
      applied('one', { a: '1' }),
      arranged(patch('merge-patch', `${at}?fieldManager=editor`, { data: { a: '2' } })),
      apply('one', at, map({ a: '3' })),
    ],
  },
  {
    name: 'force takes the field over',
    steps: [applied('one', { a: '1' }), apply('two', `${at}?force=true`, map({ a: '2' }), owners)],
  },
  {
    name: 'a field its only owner applies no longer goes',
    steps: [applied('one', { a: '1', b: '2' }), apply('one', at, map({ a: '1' }), owners)],
  },
  {
    name: 'a field another owns too stays',
    steps: [applied('one', { a: '1', b: '2' }), applied('two', { b: '2' }), apply('one', at, map({ a: '1' }), owners)],
  },
  {
    name: 'a field that was made by an update stays when an apply does not have it',
    steps: [
      arranged(post(`${core('configmaps')}?fieldManager=maker`, map({ a: '1', b: '2' }))),
      apply('one', at, map({ a: '1' }), owners),
    ],
  },
  {
    name: 'an apply over what a create made of another value is a Conflict',
    steps: [
      arranged(post(`${core('configmaps')}?fieldManager=maker`, map({ a: '1' }))),
      apply('one', at, map({ a: '2' })),
    ],
  },
  {
    name: 'an update of an applied field takes it over',
    steps: [applied('one', { a: '1' }), put(`${at}?fieldManager=editor`, map({ a: '2' }), owners)],
  },
  {
    name: 'a manager that applies and updates is two managers',
    steps: [applied('one', { a: '1' }), patch('merge-patch', `${at}?fieldManager=one`, { data: { b: '2' } }, owners)],
  },
  {
    name: 'labels and annotations are owned one by one',
    steps: [
      arranged(apply('one', at, changed(bare, { 'metadata.labels': { a: '1' }, 'metadata.annotations': { x: '1' } }))),
      apply('two', at, changed(bare, { 'metadata.labels': { b: '2' } }), owners),
    ],
  },
  {
    name: 'finalizers are a set, owned one by one',
    steps: [
      arranged(apply('one', at, changed(bare, { 'metadata.finalizers': ['example.com/a'] }))),
      apply('two', at, changed(bare, { 'metadata.finalizers': ['example.com/b'] }), owners),
      apply('two', at, bare, owners),
    ],
  },
];

const requests: Case[] = [
  { name: 'an apply without a field manager is Invalid', steps: [patch('apply-patch', at, map({ a: '1' }))] },
  {
    name: 'an apply of another name than the path is a bad request',
    steps: [apply('one', core('configmaps/b'), map({ a: '1' }))],
  },
  { name: 'an apply of another kind is a bad request', steps: [apply('one', at, { ...map({}), kind: 'Secret' })] },
  {
    name: 'an apply without a kind is a bad request',
    steps: [apply('one', at, { apiVersion: 'v1', metadata: { name: 'a' } })],
  },
  {
    name: 'an apply without an apiVersion is a bad request',
    steps: [apply('one', at, { kind: 'ConfigMap', metadata: { name: 'a' } })],
  },
  {
    name: 'an apply without a name takes the name of the path',
    steps: [apply('one', at, { apiVersion: 'v1', kind: 'ConfigMap' })],
  },
  {
    name: 'an apply in YAML is read',
    steps: [apply('one', at, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1"}\n')],
  },
  { name: 'an apply that is no YAML is a bad request', steps: [apply('one', at, 'a: b: c')] },
  {
    name: 'an apply with managedFields is a bad request',
    steps: [
      apply(
        'one',
        at,
        changed(bare, {
          'metadata.managedFields': [
            { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
          ],
        }),
      ),
    ],
  },
  {
    name: 'an apply with an unknown field is refused under Strict too',
    steps: [apply('one', `${at}?fieldValidation=Strict`, { ...map({}), dta: {} })],
  },
  {
    name: 'an apply with an unknown field is refused for want of a schema',
    steps: [apply('one', at, { ...map({}), dta: {} })],
  },
  { name: 'an apply of a number for a text is refused', steps: [apply('one', at, map({ a: 1 }))] },
  {
    name: 'an apply with a version that is not the present one is a Conflict',
    steps: [
      applied('one', { a: '1' }),
      apply('one', at, changed(map({ a: '2' }), { 'metadata.resourceVersion': '1' })),
    ],
  },
  {
    name: 'an apply with a version of what is not there makes it',
    steps: [apply('one', at, changed(bare, { 'metadata.resourceVersion': '1' }))],
  },
  {
    name: 'an apply with a uid of what is not there is a Conflict',
    steps: [apply('one', at, changed(bare, { 'metadata.uid': '01234567-0123-0123-0123-0123456789ab' }))],
  },
  {
    name: 'an apply with a dry run makes nothing',
    steps: [apply('one', `${at}?dryRun=All`, map({ a: '1' })), get(at)],
  },
  { name: 'an apply of an invalid object is Invalid', steps: [apply('one', at, map({ 'a b': '1' }))] },
  {
    name: 'an apply in a namespace that is not there is NotFound',
    steps: [apply('one', '/api/v1/namespaces/no-such-namespace/configmaps/a', map({}))],
  },
];

const containers = (...list: Json[]): Tree => deployment('d', { 'spec.template.spec.containers': list });
const web = (rest: Tree = {}): Tree => ({ name: 'web', image: 'nginx:1', ...rest });
const d = apps('deployments/d');
const shown = {
  only: [
    'spec.template.spec.containers.*.name',
    'spec.template.spec.containers.0.env',
    'spec.replicas',
    'metadata.managedFields',
  ],
  hasManagers: true,
} as const;

const lists: Case[] = [
  {
    name: 'containers are owned by their names',
    steps: [
      arranged(apply('one', d, containers(web()))),
      apply('two', d, containers({ name: 'side', image: 'side:1' }), shown),
    ],
  },
  {
    name: 'an applied container that is applied no longer goes',
    steps: [
      arranged(apply('one', d, containers(web(), { name: 'side', image: 'side:1' }))),
      apply('one', d, containers(web()), shown),
    ],
  },
  {
    name: 'environment variables are owned by their names',
    steps: [
      arranged(apply('one', d, containers(web({ env: [{ name: 'A', value: '1' }] })))),
      apply('two', d, containers(web({ env: [{ name: 'B', value: '2' }] })), shown),
    ],
  },
  {
    name: 'a container twice in an apply is refused',
    steps: [apply('one', d, containers(web(), web()))],
  },
  {
    name: 'args are atomic: whoever applies them owns the list',
    steps: [
      arranged(apply('one', d, containers(web({ args: ['a'] })))),
      apply('two', d, containers(web({ args: ['a', 'b'] }))),
    ],
  },
  {
    name: 'replicas that scale has changed are a Conflict for an apply',
    steps: [
      arranged(apply('one', d, deployment('d', { 'spec.replicas': 1 }))),
      arranged(patch('merge-patch', `${d}/scale?fieldManager=scaler`, { spec: { replicas: 3 } })),
      apply('one', d, deployment('d', { 'spec.replicas': 1 })),
    ],
  },
  {
    name: 'replicas that nobody applies any longer stay what scale made them',
    steps: [
      arranged(apply('one', d, deployment('d', { 'spec.replicas': 1 }))),
      arranged(patch('merge-patch', `${d}/scale?fieldManager=scaler`, { spec: { replicas: 3 } })),
      apply('one', d, deployment('d'), shown),
    ],
  },
  {
    name: 'service ports are owned by port and protocol',
    steps: [
      arranged(
        apply('one', core('services/s'), service('s', { 'spec.ports': [{ name: 'a', port: 80, protocol: 'TCP' }] })),
      ),
      apply('two', core('services/s'), service('s', { 'spec.ports': [{ name: 'b', port: 81, protocol: 'TCP' }] }), {
        only: ['spec.ports', 'metadata.managedFields'],
        ...owners,
      }),
    ],
  },
  {
    name: 'an apply to the status is owned there',
    steps: [
      arranged(post(apps('deployments'), deployment('d'))),
      apply(
        'one',
        `${d}/status`,
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 1 } },
        {
          only: ['status', 'metadata.managedFields'],
          ...owners,
        },
      ),
    ],
  },
];

export const applying: Chapter = { name: 'apply', needs: 'bare', cases: [...ownership, ...requests, ...lists] };
