// Watches: what is told, from when on, and how a stream begins and ends.
import {
  arranged,
  type Ask,
  type Case,
  type Chapter,
  core,
  get,
  patch,
  post,
  put,
  remove,
  type Watching,
} from '../case.ts';
import { configMap, labelled, pod } from '../objects.ts';

const made = (name: string, labels = {}) =>
  arranged(post(core('configmaps'), labelled(name, labels)), { version: 'metadata.resourceVersion' });
const listed = arranged(get(core('configmaps')), { version: 'metadata.resourceVersion' });
const gone = (name: string) => remove(core(`configmaps/${name}`));
const watch = (query: string, events: number | 'end', during: Ask[] = [], rest: Partial<Watching> = {}): Watching => ({
  watch: core(`configmaps?watch=true&${query}`),
  events,
  during,
  ...rest,
});
const relabelled = (name: string, labels: Record<string, string | null>) =>
  patch('merge-patch', core(`configmaps/${name}`), { metadata: { labels } });

const starts: Case[] = [
  {
    name: 'a watch without a version begins with what is there',
    steps: [made('a'), made('b'), watch('', 3, [post(core('configmaps'), configMap('c'))])],
  },
  {
    name: 'a watch from version 0 begins with what is there',
    steps: [made('a'), made('b'), watch('resourceVersion=0', 2)],
  },
  {
    name: 'a watch from a version tells what came after it',
    steps: [
      made('a'),
      listed,
      arranged(post(core('configmaps'), configMap('b'))),
      watch('resourceVersion=<version>', 3, [
        put(core('configmaps/b'), configMap('b', { data: { b: '2' } })),
        gone('a'),
      ]),
    ],
  },
  {
    name: 'a watch of one object by a field selector tells of it alone',
    steps: [
      made('a'),
      listed,
      watch('resourceVersion=<version>&fieldSelector=metadata.name%3Db', 2, [
        post(core('configmaps'), configMap('c')),
        post(core('configmaps'), configMap('b')),
        gone('c'),
        gone('b'),
      ]),
    ],
  },
  {
    name: 'an object that comes into a selector is ADDED, and DELETED when it goes out',
    steps: [
      made('a'),
      listed,
      watch('resourceVersion=<version>&labelSelector=in%3Dyes', 3, [
        relabelled('a', { in: 'yes' }),
        relabelled('a', { other: 'x' }),
        relabelled('a', { in: null }),
        relabelled('a', { other: 'y' }),
      ]),
    ],
  },
  {
    name: 'a change that changes nothing is not told',
    steps: [
      made('a'),
      listed,
      watch('resourceVersion=<version>', 1, [put(core('configmaps/a'), labelled('a', {})), gone('a')]),
    ],
  },
  {
    name: 'an object with a finalizer is MODIFIED at its delete, and DELETED when let go',
    steps: [
      arranged(
        post(core('configmaps'), { ...configMap('a'), metadata: { name: 'a', finalizers: ['example.com/keep'] } }),
        { version: 'metadata.resourceVersion' },
      ),
      watch('resourceVersion=<version>', 2, [
        gone('a'),
        patch('merge-patch', core('configmaps/a'), { metadata: { finalizers: null } }),
      ]),
    ],
  },
  {
    name: 'a collection delete is told one by one',
    steps: [made('a'), made('b'), watch('resourceVersion=<version>', 2, [remove(core('configmaps'))])],
  },
  {
    name: 'a watch by a path of its own tells as the query does',
    steps: [made('a'), { watch: '/api/v1/watch/namespaces/<ns>/configmaps?resourceVersion=0', events: 1 }],
  },
  {
    name: 'a get of one object that asks to watch is a get',
    steps: [made('a'), made('b'), get(core('configmaps/a?watch=true'))],
  },
];

const streams: Case[] = [
  {
    name: 'initial events end with a bookmark that says so',
    steps: [
      made('a'),
      made('b'),
      watch('sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan', 3),
    ],
  },
  {
    name: 'initial events of nothing are a bookmark',
    steps: [watch('sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan', 1)],
  },
  {
    name: 'initial events go on with what happens',
    steps: [
      made('a'),
      watch(
        'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=<version>',
        3,
        [gone('a')],
      ),
    ],
  },
  {
    name: 'sendInitialEvents false begins with the bookmark alone',
    steps: [
      made('a'),
      watch(
        'sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=<version>&timeoutSeconds=1',
        'end',
        [gone('a')],
      ),
    ],
  },
  {
    name: 'sendInitialEvents without resourceVersionMatch is Forbidden',
    steps: [watch('sendInitialEvents=true&allowWatchBookmarks=true', 1)],
  },
  {
    name: 'initial events without bookmarks end without a word',
    steps: [made('a'), watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1', 'end')],
  },
  {
    name: 'resourceVersionMatch Exact on a watch is Forbidden',
    steps: [watch('resourceVersionMatch=Exact&resourceVersion=1', 1)],
  },
  {
    name: 'resourceVersionMatch on a watch without sendInitialEvents is Forbidden',
    steps: [made('a'), watch('resourceVersionMatch=NotOlderThan&resourceVersion=<version>', 1)],
  },
  {
    name: 'a watch ends after timeoutSeconds, without a word',
    steps: [made('a'), watch('resourceVersion=<version>&timeoutSeconds=1', 'end', [gone('a')])],
  },
  {
    name: 'a timeoutSeconds that is no number is a bad request',
    steps: [get(core('configmaps?watch=true&timeoutSeconds=soon'))],
  },
  {
    name: 'a watch from a version that is no number is an internal error',
    steps: [watch('resourceVersion=soon', 1)],
  },
  {
    name: 'a watch as a Table tells each event as one, the columns with the first',
    steps: [
      made('a'),
      watch('resourceVersion=0', 2, [gone('a')], { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }),
    ],
  },
  {
    name: 'a watch as PartialObjectMetadata tells metadata alone',
    steps: [
      made('a'),
      watch('resourceVersion=0', 1, [], { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    ],
  },
  {
    name: 'a watch with an invalid label selector is a bad request',
    steps: [watch('labelSelector=a%20b', 1)],
  },
  {
    name: 'a watch with a field that cannot be selected by is a bad request',
    steps: [watch('fieldSelector=data.a%3D1', 1)],
  },
  {
    name: 'a watch of all namespaces by a field selector of pods tells of them',
    steps: [
      arranged(post(core('pods'), pod('p', { 'spec.nodeName': '<ns>-node' }))),
      { watch: '/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3D<ns>-node', events: 1 },
    ],
  },
  {
    name: 'a kind that can only be created cannot be watched',
    steps: [get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?watch=true')],
  },
];

export const watching: Chapter = { name: 'watch', cases: [...starts, ...streams] };
