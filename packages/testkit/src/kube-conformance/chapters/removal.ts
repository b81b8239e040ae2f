// Deleting: preconditions, finalizers, grace, what becomes of dependents, and collections.
import {
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
  remove,
  type Tree,
} from '../case.ts';
import { changed, type Changes, configMap, deployment, labelled, pod } from '../objects.ts';

const options = (rest: Tree): Json => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...rest });
const made = (changes: Changes = {}): Ask =>
  arranged(post(core('configmaps'), changed(configMap('a'), changes)), {
    uid: 'metadata.uid',
    version: 'metadata.resourceVersion',
  });
const held = made({ 'metadata.finalizers': ['example.com/keep'] });
const running = arranged(post(core('pods'), pod('a', { 'spec.nodeName': 'node' })));
const whole = get(core('configmaps/a'));

const preconditions: Case[] = [
  {
    name: 'a delete for the right uid and version is done',
    steps: [
      made(),
      remove(core('configmaps/a'), options({ preconditions: { uid: '<uid>', resourceVersion: '<version>' } })),
    ],
  },
  {
    name: 'a delete for another uid is a Conflict',
    steps: [
      made(),
      remove(core('configmaps/a'), options({ preconditions: { uid: '01234567-0123-0123-0123-0123456789ab' } })),
    ],
  },
  {
    name: 'a delete for another version is a Conflict',
    steps: [made(), remove(core('configmaps/a'), options({ preconditions: { resourceVersion: '1' } })), whole],
  },
  {
    name: 'a delete of what is being deleted already answers it as it is',
    steps: [held, arranged(remove(core('configmaps/a'))), remove(core('configmaps/a'))],
  },
  {
    name: 'a negative grace is taken as the shortest',
    steps: [made(), remove(core('configmaps/a'), options({ gracePeriodSeconds: -5 }))],
  },
  {
    name: 'an unknown propagationPolicy is Invalid',
    steps: [made(), remove(core('configmaps/a'), options({ propagationPolicy: 'Sideways' }))],
  },
  {
    name: 'orphanDependents and propagationPolicy together are Invalid',
    steps: [made(), remove(core('configmaps/a'), options({ propagationPolicy: 'Orphan', orphanDependents: true }))],
  },
  {
    name: 'a dry run in the options leaves what was there',
    steps: [made(), remove(core('configmaps/a'), options({ dryRun: ['All'] })), whole],
  },
  {
    name: 'an unknown dry run in the options is Invalid',
    steps: [made(), remove(core('configmaps/a'), options({ dryRun: ['Some'] }))],
  },
  {
    name: 'an unknown field in the options is passed over',
    steps: [made(), remove(core('configmaps/a'), options({ nothing: true }))],
  },
];

const finalizers: Case[] = [
  {
    name: 'a delete of what a finalizer holds answers the object with its deletionTimestamp',
    steps: [held, remove(core('configmaps/a')), whole],
  },
  {
    name: 'a held object goes when its last finalizer does',
    steps: [
      held,
      arranged(remove(core('configmaps/a'))),
      patch('merge-patch', core('configmaps/a'), { metadata: { finalizers: [] } }),
      whole,
    ],
  },
  {
    name: 'a held object may change but gets no new finalizer',
    steps: [
      held,
      arranged(remove(core('configmaps/a'))),
      patch('merge-patch', core('configmaps/a'), { data: { b: '2' } }),
      patch('merge-patch', core('configmaps/a'), {
        metadata: { finalizers: ['example.com/keep', 'example.com/more'] },
      }),
    ],
  },
  {
    name: 'a deletionTimestamp once set cannot be taken off',
    steps: [
      held,
      arranged(remove(core('configmaps/a'))),
      patch('merge-patch', core('configmaps/a'), { metadata: { deletionTimestamp: null } }),
    ],
  },
  {
    name: 'a held object keeps its name: a create of it is AlreadyExists and says it is being deleted',
    steps: [held, arranged(remove(core('configmaps/a'))), post(core('configmaps'), configMap('a'))],
  },
  {
    name: 'finalizers of a living object may come and go',
    steps: [
      made(),
      patch('merge-patch', core('configmaps/a'), { metadata: { finalizers: ['example.com/x'] } }),
      patch('merge-patch', core('configmaps/a'), { metadata: { finalizers: null } }),
    ],
  },
];

const dependents: Case[] = [
  {
    name: 'a foreground delete leaves the object with the finalizer foregroundDeletion',
    steps: [held, remove(core('configmaps/a'), options({ propagationPolicy: 'Foreground' }))],
  },
  {
    name: 'an orphaning delete leaves the object with the finalizer orphan',
    steps: [held, remove(core('configmaps/a'), options({ propagationPolicy: 'Orphan' }))],
  },
  {
    name: 'propagationPolicy may be said in the query',
    steps: [held, remove(core('configmaps/a?propagationPolicy=Foreground'))],
  },
  {
    name: 'a background delete of a Deployment answers Success',
    steps: [
      arranged(post('/apis/apps/v1/namespaces/<ns>/deployments', deployment('d'))),
      remove('/apis/apps/v1/namespaces/<ns>/deployments/d', options({ propagationPolicy: 'Background' })),
    ],
  },
];

const grace: Case[] = [
  {
    name: 'a pod on a node is deleted with its grace and answered as it is',
    steps: [running, remove(core('pods/a'), undefined, { only: ['metadata', 'spec.terminationGracePeriodSeconds'] })],
  },
  {
    name: 'a pod on no node goes at once',
    steps: [
      arranged(post(core('pods'), pod('a'))),
      remove(core('pods/a'), undefined, { only: ['kind', 'metadata'] }),
      get(core('pods/a')),
    ],
  },
  {
    name: 'a pod deleted with a grace of nought goes at once',
    steps: [
      running,
      remove(core('pods/a?gracePeriodSeconds=0'), undefined, { only: ['metadata'] }),
      get(core('pods/a')),
    ],
  },
  {
    name: 'a shorter grace of a second delete counts',
    steps: [
      running,
      arranged(remove(core('pods/a'))),
      remove(core('pods/a?gracePeriodSeconds=3'), undefined, { only: ['metadata'] }),
      remove(core('pods/a?gracePeriodSeconds=0'), undefined, { only: ['metadata'] }),
      get(core('pods/a')),
    ],
  },
  {
    name: 'a longer grace of a second delete does not count',
    steps: [
      running,
      arranged(remove(core('pods/a?gracePeriodSeconds=5'))),
      remove(core('pods/a?gracePeriodSeconds=60'), undefined, { only: ['metadata'] }),
    ],
  },
  {
    name: 'a grace for a kind without one is passed over',
    steps: [made(), remove(core('configmaps/a?gracePeriodSeconds=30'))],
  },
];

const three = ['a', 'b', 'c'].map((name) => arranged(post(core('configmaps'), labelled(name, { name }))));
const left = get(core('configmaps'), { only: ['items.*.metadata.name'] });

const collections: Case[] = [
  {
    name: 'a collection delete answers what went and leaves nothing',
    steps: [...three, remove(core('configmaps'), undefined, { only: ['kind', 'items.*.metadata.name'] }), left],
  },
  {
    name: 'a collection delete takes what the label selector chooses',
    steps: [...three, arranged(remove(core('configmaps?labelSelector=name%20in%20(a,c)'))), left],
  },
  {
    name: 'a collection delete takes what the field selector chooses',
    steps: [...three, arranged(remove(core('configmaps?fieldSelector=metadata.name%3Db'))), left],
  },
  {
    name: 'a collection delete with a dry run leaves all',
    steps: [...three, arranged(remove(core('configmaps?dryRun=All'))), left],
  },
  {
    name: 'a collection delete of nothing answers an empty list',
    steps: [remove(core('secrets'))],
  },
  {
    name: 'a collection delete with an invalid selector deletes nothing',
    steps: [...three, remove(core('configmaps?labelSelector=a%20b')), left],
  },
  {
    name: 'namespaces cannot be deleted as a collection',
    steps: [remove('/api/v1/namespaces')],
  },
  {
    name: 'a held object of a collection delete stays, being deleted',
    steps: [held, ...three.slice(1), arranged(remove(core('configmaps'))), whole],
  },
];

const namespaces: Case[] = [
  {
    name: 'a namespace has the finalizer kubernetes, the phase Active and a label of its name',
    steps: [get('/api/v1/namespaces/<ns>')],
  },
  {
    name: 'a namespace that is being deleted is Terminating',
    steps: [
      held,
      remove('/api/v1/namespaces/<ns>', undefined, {
        only: ['kind', 'status.phase', 'metadata.deletionTimestamp', 'spec'],
      }),
    ],
  },
  {
    name: 'nothing can be made in a namespace that is Terminating',
    steps: [
      held,
      arranged(remove('/api/v1/namespaces/<ns>')),
      post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }),
    ],
  },
  {
    name: 'what is in a namespace that is Terminating can still be changed',
    steps: [
      held,
      arranged(remove('/api/v1/namespaces/<ns>')),
      patch('merge-patch', core('configmaps/a'), { data: { b: '1' } }, { only: ['data'] }),
    ],
  },
  {
    name: 'a namespace called default cannot be deleted',
    steps: [remove('/api/v1/namespaces/default')],
  },
  {
    name: 'a namespace called kube-system cannot be deleted',
    steps: [remove('/api/v1/namespaces/kube-system')],
  },
  {
    name: 'a namespace of 64 letters is Invalid',
    steps: [post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n'.repeat(64) } })],
  },
  {
    name: 'a namespace with a dot is Invalid',
    steps: [post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } })],
  },
  {
    name: 'the finalizers of a namespace are not changed by a replace',
    steps: [
      put('/api/v1/namespaces/<ns>', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '<ns>' },
        spec: { finalizers: [] },
      }),
    ],
  },
];

export const removal: Chapter = {
  name: 'removal',
  cases: [...preconditions, ...finalizers, ...dependents, ...grace, ...collections, ...namespaces],
};
