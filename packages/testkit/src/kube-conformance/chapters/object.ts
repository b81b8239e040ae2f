// Creating, reading, replacing and removing objects, shown on ConfigMaps.
import { arranged, type Case, type Chapter, core, get, post, put, remove, type Tree } from '../case.ts';
import { changed, type Changes, configMap } from '../objects.ts';

const made = (name: string, rest: Tree = {}) =>
  arranged(post(core('configmaps'), configMap(name, rest)), {
    version: 'metadata.resourceVersion',
    uid: 'metadata.uid',
  });

/** Creates with something about the metadata, and what is said of it. */
const metadata: Record<string, Changes> = {
  'a name with capitals is Invalid': { 'metadata.name': 'Big' },
  'a name with an underscore is Invalid': { 'metadata.name': 'a_b' },
  'a name of 254 letters is Invalid': { 'metadata.name': 'a'.repeat(254) },
  'a name of 253 letters is taken': { 'metadata.name': 'a'.repeat(253) },
  'an empty name is Invalid': { 'metadata.name': '' },
  'no metadata at all is Invalid for want of a name': { metadata: undefined },
  'a name that ends with a dash is Invalid': { 'metadata.name': 'a-' },
  'a name with a slash is Invalid': { 'metadata.name': 'a/b' },
  'the name .. is Invalid': { 'metadata.name': '..' },
  'a label key without a name is Invalid': { 'metadata.labels': { 'a/': 'b' } },
  'a label key with two slashes is Invalid': { 'metadata.labels': { 'a/b/c': 'b' } },
  'a label value with a space is Invalid': { 'metadata.labels': { a: 'b c' } },
  'a label value of 64 letters is Invalid': { 'metadata.labels': { a: 'b'.repeat(64) } },
  'an empty label value is taken': { 'metadata.labels': { a: '' } },
  'an annotation key with a space is Invalid': { 'metadata.annotations': { 'a b': 'c' } },
  'annotations of more than 256 KiB are Invalid': { 'metadata.annotations': { a: 'b'.repeat(262_144) } },
  'a finalizer without a domain is Invalid': { 'metadata.finalizers': ['x y'] },
  'a finalizer with a plain name is refused': { 'metadata.finalizers': ['plain'] },
  'an owner without a name is Invalid': {
    'metadata.ownerReferences': [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: 'u' }],
  },
  'an owner without uid, kind and version is Invalid in each': {
    'metadata.ownerReferences': [{ apiVersion: '', kind: '', name: 'a', uid: '' }],
  },
  'two controlling owners are Invalid': {
    'metadata.ownerReferences': [
      { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', controller: true },
      { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: '2', controller: true },
    ],
  },
  'an Event as owner is Invalid': {
    'metadata.ownerReferences': [{ apiVersion: 'v1', kind: 'Event', name: 'a', uid: '1' }],
  },
  'the same owner twice is taken with a warning': {
    'metadata.ownerReferences': [
      { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1' },
      { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1' },
    ],
  },
  'a namespace that is not the one of the path is a bad request': { 'metadata.namespace': 'another' },
  'a resourceVersion on a create is an internal error': { 'metadata.resourceVersion': '7' },
  'a uid, generation and moments sent with a create are passed over': {
    'metadata.uid': '01234567-0123-0123-0123-0123456789ab',
    'metadata.generation': 9,
    'metadata.creationTimestamp': '2001-01-01T00:00:00Z',
    'metadata.deletionTimestamp': '2001-01-01T00:00:00Z',
    'metadata.selfLink': '/x',
  },
};

const metadataCases: Case[] = Object.entries(metadata).map(([name, changes]) => ({
  name,
  steps: [post(core('configmaps'), changed(configMap('a'), changes))],
}));

export const object: Chapter = {
  name: 'object',
  cases: [
    ...metadataCases,
    {
      name: 'a create answers 201 with the object, its uid, version and moment of creation',
      steps: [post(core('configmaps'), configMap('a'))],
    },
    { name: 'a get answers what was made', steps: [made('a'), get(core('configmaps/a'))] },
    {
      name: 'a second create of a name is AlreadyExists',
      steps: [made('a'), post(core('configmaps'), configMap('a'))],
    },
    { name: 'a get of what is not there is NotFound', steps: [get(core('configmaps/a'))] },
    {
      name: 'a get of what is not there in a group names the group',
      steps: [get('/apis/apps/v1/namespaces/<ns>/deployments/a')],
    },
    {
      name: 'a replace of a ConfigMap that is not there is NotFound',
      steps: [put(core('configmaps/a'), configMap('a'))],
    },
    { name: 'a delete of what is not there is NotFound', steps: [remove(core('configmaps/a'))] },
    {
      name: 'a delete answers a Success status with the uid of what went',
      steps: [made('a'), remove(core('configmaps/a')), get(core('configmaps/a'))],
    },
    {
      name: 'a replace without a version replaces whatever is there',
      steps: [made('a'), put(core('configmaps/a'), configMap('a', { data: { b: '2' } }))],
    },
    {
      name: 'a replace of the present version answers a new version',
      steps: [
        made('a'),
        put(
          core('configmaps/a'),
          changed(configMap('a', { data: { b: '2' } }), { 'metadata.resourceVersion': '<version>' }),
        ),
        get(core('configmaps/a')),
      ],
    },
    {
      name: 'a replace of an older version is a Conflict',
      steps: [
        made('a'),
        arranged(put(core('configmaps/a'), configMap('a', { data: { b: '2' } }))),
        put(core('configmaps/a'), changed(configMap('a'), { 'metadata.resourceVersion': '<version>' })),
      ],
    },
    {
      name: 'a replace with a version that is no number is an internal error',
      steps: [made('a'), put(core('configmaps/a'), changed(configMap('a'), { 'metadata.resourceVersion': 'x' }))],
    },
    {
      name: 'a replace for another uid is a Conflict',
      steps: [
        made('a'),
        put(core('configmaps/a'), changed(configMap('a'), { 'metadata.uid': '01234567-0123-0123-0123-0123456789ab' })),
      ],
    },
    {
      name: 'a replace whose name is not that of the path is a bad request',
      steps: [made('a'), put(core('configmaps/a'), configMap('b'))],
    },
    {
      name: 'a replace without a name is a bad request',
      steps: [made('a'), put(core('configmaps/a'), changed(configMap('a'), { 'metadata.name': undefined }))],
    },
    {
      name: 'a replace in another namespace than the path says is a bad request',
      steps: [made('a'), put(core('configmaps/a'), changed(configMap('a'), { 'metadata.namespace': 'another' }))],
    },
    {
      name: 'a replace with nothing changed keeps the version',
      steps: [made('a'), put(core('configmaps/a'), configMap('a')), get(core('configmaps/a'))],
    },
    {
      name: 'a replace cannot move the moment of creation',
      steps: [
        made('a'),
        put(core('configmaps/a'), changed(configMap('a'), { 'metadata.creationTimestamp': '2001-01-01T00:00:00Z' })),
      ],
    },
    {
      name: 'a generated name is the given one with five letters more',
      steps: [
        post(
          core('configmaps'),
          changed(configMap('a'), { 'metadata.name': undefined, 'metadata.generateName': 'web-' }),
        ),
      ],
    },
    {
      name: 'a name wins over a generateName',
      steps: [post(core('configmaps'), changed(configMap('a'), { 'metadata.generateName': 'web-' }))],
    },
    {
      name: 'a generateName that cannot begin a name is Invalid',
      steps: [
        post(
          core('configmaps'),
          changed(configMap('a'), { 'metadata.name': undefined, 'metadata.generateName': 'Web_' }),
        ),
      ],
    },
    {
      name: 'a create in a namespace that is not there is NotFound',
      steps: [post('/api/v1/namespaces/no-such-namespace/configmaps', configMap('a'))],
    },
    {
      name: 'a list in a namespace that is not there is empty',
      steps: [get('/api/v1/namespaces/no-such-namespace/configmaps')],
    },
    {
      name: 'a create with a dry run answers 201 and leaves nothing',
      steps: [post(core('configmaps?dryRun=All'), configMap('a')), get(core('configmaps/a'))],
    },
    {
      name: 'a replace with a dry run leaves what was there',
      steps: [
        made('a'),
        put(core('configmaps/a?dryRun=All'), configMap('a', { data: { b: '2' } })),
        get(core('configmaps/a')),
      ],
    },
    {
      name: 'a delete with a dry run leaves what was there',
      steps: [made('a'), remove(core('configmaps/a?dryRun=All')), get(core('configmaps/a'))],
    },
    {
      name: 'a dry run in words other than All is Invalid',
      steps: [post(core('configmaps?dryRun=yes'), configMap('a'))],
    },
    {
      name: 'a create by its own name is not allowed',
      steps: [post(core('configmaps/a'), configMap('a'))],
    },
    {
      name: 'a replace of a collection is not allowed',
      steps: [put(core('configmaps'), configMap('a'))],
    },
    {
      name: 'the managers of a create are its client and the fields it set',
      steps: [post(core('configmaps'), configMap('a'), { hasManagers: true })],
    },
    {
      name: 'the managers of a replace share the fields by who changed them',
      steps: [
        made('a'),
        put(core('configmaps/a?fieldManager=second'), configMap('a', { data: { a: '1', b: '2' } }), {
          hasManagers: true,
        }),
      ],
    },
    {
      name: 'a field manager of 129 letters is Invalid',
      steps: [post(core(`configmaps?fieldManager=${'m'.repeat(129)}`), configMap('a'))],
    },
    {
      name: 'an object of managed fields emptied by its writer has none',
      steps: [
        made('a'),
        put(core('configmaps/a'), changed(configMap('a'), { 'metadata.managedFields': [{}] }), { hasManagers: true }),
      ],
    },
    {
      name: 'an immutable ConfigMap keeps its words',
      steps: [
        made('a', { immutable: true }),
        put(core('configmaps/a'), configMap('a', { immutable: true, data: { a: '2' } })),
      ],
    },
    {
      name: 'an immutable ConfigMap stays immutable',
      steps: [made('a', { immutable: true }), put(core('configmaps/a'), configMap('a', { immutable: false }))],
    },
    {
      name: 'an immutable ConfigMap may change its labels',
      steps: [
        made('a', { immutable: true }),
        put(core('configmaps/a'), changed(configMap('a', { immutable: true }), { 'metadata.labels': { a: 'b' } })),
      ],
    },
    {
      name: 'a ConfigMap key with a space is Invalid',
      steps: [post(core('configmaps'), configMap('a', { data: { 'a b': '1' } }))],
    },
    {
      name: 'a ConfigMap with one key in data and binaryData is Invalid',
      steps: [post(core('configmaps'), configMap('a', { data: { a: '1' }, binaryData: { a: 'YQ==' } }))],
    },
    {
      name: 'a ConfigMap of more than a MiB is Invalid',
      steps: [post(core('configmaps'), configMap('a', { data: { a: 'x'.repeat(1_048_577) } }))],
    },
  ],
};
