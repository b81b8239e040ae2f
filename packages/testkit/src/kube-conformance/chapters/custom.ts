// Objects of kinds that a definition made: checking, defaulting, pruning, CEL rules, lists, columns, subresources.
import {
  apply,
  arranged,
  type Ask,
  type Case,
  type Chapter,
  get,
  patch,
  post,
  put,
  remove,
  type Tree,
} from '../case.ts';
import { changed } from '../objects.ts';
import { widgets } from '../widget.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = '/apis/<group>/v1/namespaces/<ns>/widgets';
const widget = (fields: Tree, rest: Tree = {}): Tree => ({
  apiVersion: '<group>/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec: fields,
  ...rest,
});
const made = (fields: Tree): Ask => arranged(post(at, widget(fields)));

/** One field each: what is put in it, and the rule that speaks. */
const checked: [string, Tree][] = [
  ['a text too short', { text: 'a' }],
  ['a text too long', { text: 'abcde' }],
  ['a text against its pattern', { word: 'A1' }],
  ['a value not in its enum', { color: 'blue' }],
  ['a date-time that is none', { moment: 'soon' }],
  ['a date that is none', { day: '2020-13-01' }],
  ['an IPv4 address that is none', { address: '1.2.3' }],
  ['an IPv6 address that is none', { address6: '1.2.3.4' }],
  ['a network that is none', { network: '10.0.0.0/33' }],
  ['a mail address that is none', { mail: 'a' }],
  ['a link that is none', { link: ':' }],
  ['a host name that is none', { host: '-a' }],
  ['a UUID that is none', { id: 'x' }],
  ['bytes that are no base64', { bytes: '%' }],
  ['a duration that is none', { time: '5 parsecs' }],
  ['a number below its minimum', { count: 0 }],
  ['a number above its maximum', { count: 11 }],
  ['a number at its excluded minimum', { above: 0 }],
  ['a number at its excluded maximum', { below: 1 }],
  ['a number that is no multiple', { even: 3 }],
  ['a fraction for an integer', { count: 1.5 }],
  ['a text for an integer', { count: '2' }],
  ['a number for a text', { text: 12 }],
  ['a text for a truth', { truth: 'true' }],
  ['a list for an object', { words: [] }],
  ['an object for a list', { set: {} }],
  ['a truth for an int-or-string', { either: true }],
  ['a value twice in a set', { set: ['a', 'b', 'a'] }],
  ['a key twice in a list-map', { map: [{ name: 'a' }, { name: 'a' }] }],
  ['a list-map element without its key', { map: [{ value: 'x' }] }],
  ['too few items', { few: [] }],
  ['too many items', { few: ['a', 'b', 'c'] }],
  ['too many properties', { words: { a: '1', b: '2', c: '3' } }],
  ['too few properties', { words: {} }],
  ['an additional property that is refused', { words: { a: 'long' } }],
  ['none of oneOf', { one: {} }],
  ['both of oneOf', { one: { a: '1', b: '2' } }],
  ['none of anyOf', { any: 5 }],
  ['what not forbids', { never: 'never' }],
  ['two required fields missing', { needs: {} }],
  ['an embedded object without a kind', { embedded: { metadata: { name: 'x' } } }],
  [
    'an embedded object with invalid metadata',
    { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b c' } } } },
  ],
  ['low above high, against a rule of its spec,', { low: 2, high: 1 }],
  ['what a rule with a message expression is against', { told: 'abc' }],
  ['what a rule with a field path and a reason is against', { placed: { a: 'bad' } }],
  ['a list against its rule', { unique: ['a', 'a'] }],
  ['a text that is no network, against its rule,', { net: '10.0.0.0/99' }],
  ['a quantity against its rule', { quantity: '20Gi' }],
  ['what its rule cannot evaluate', { faulty: [] }],
  ['a text against a rule with a pattern', { matched: 'b' }],
  ['a field of the wrong type, whose rules wait,', { low: 'x', high: 1 }],
];

/** One field each that looks wrong, and is taken by the rules. */
const tolerated: typeof checked = [
  ['a text of four characters of several bytes', { text: 'äöüß' }],
  ['anything for an unknown format', { odd: 'anything' }],
  ['an integer beyond 32 bits', { small: 3_000_000_000 }],
  ['a fraction of nought for an integer', { count: 2.0 }],
  ['null for what is not nullable', { text: null }],
  ['null for what is nullable', { perhaps: null }],
  ['a number and a text for an int-or-string', { either: 1 }],
  ['a value twice in an atomic list', { atomic: ['a', 'a'] }],
];

const taken: [string, Tree][] = [
  ['fields that are not there are given', {}],
  ['given fields go deep into what is there', { nested: {}, entries: [{}, { kind: 'own' }] }],
  ['null for a field with a given value is the given value', { size: null }],
  ['unknown fields are pruned, with a warning', { nothing: 1, nested: { nothing: 1 } }],
  ['unknown fields are kept where a schema preserves them', { open: { a: { b: [1] }, known: 'x' } }],
  ['great integers and fractions are kept', { real: 1.25, above: 9_007_199_254_740_991 }],
  ['a set without duplicates is taken', { set: ['b', 'a'] }],
  [
    'what every rule likes is taken',
    { low: 1, high: 2, told: 'xyz', unique: ['a', 'b'], net: '10.0.0.0/8', quantity: '1Gi', matched: 'aaa' },
  ],
];

const update = (name: string, before: Tree, after: Tree): Case => ({
  name,
  steps: [made(before), patch('merge-patch', `${at}/w`, { spec: after }, { only: ['spec', 'metadata.generation'] })],
});

const updates: Case[] = [
  update('a transition rule refuses a change', { fixed: 'a' }, { fixed: 'b' }),
  update('a transition rule does not speak when the field is new', {}, { fixed: 'a' }),
  update('a transition rule does not speak when the field goes', { fixed: 'a' }, { fixed: null }),
  update('a transition rule without a message tells the rule', { growing: 2 }, { growing: 1 }),
  update('a rule with an optional old value speaks at once', {}, { optional: 'a' }),
  update('a rule with an optional old value refuses a change', { optional: 'a' }, { optional: 'b' }),
  update('a change of the spec is a new generation of a custom object', { text: 'ab' }, { text: 'cd' }),
  update('a change that changes nothing keeps the generation', { text: 'ab' }, { text: 'ab' }),
  {
    name: 'a custom object is created with generation 1 and its managers',
    steps: [post(at, widget({ text: 'ab' }), { hasManagers: true })],
  },
  {
    name: 'a status of a custom object is written through its subresource alone',
    steps: [
      post(at, widget({}, { status: { phase: 'x' } }), { only: ['status'] }),
      patch('merge-patch', `${at}/w`, { status: { phase: 'y' } }, { only: ['status', 'metadata.generation'] }),
      patch(
        'merge-patch',
        `${at}/w/status`,
        { status: { phase: 'z' }, spec: { text: 'ab' } },
        { only: ['status', 'spec', 'metadata.generation'] },
      ),
    ],
  },
  {
    name: 'a status of a custom object is checked by its schema',
    steps: [made({}), patch('merge-patch', `${at}/w/status`, { status: { count: 'x' } })],
  },
  {
    name: 'a custom object scales by the paths of its definition',
    steps: [
      made({ count: 2 }),
      arranged(patch('merge-patch', `${at}/w/status`, { status: { count: 1, selector: 'a=b' } })),
      get(`${at}/w/scale`),
      patch('merge-patch', `${at}/w/scale`, { spec: { replicas: 4 } }),
      patch('merge-patch', `${at}/w/scale`, { spec: { replicas: 40 } }),
    ],
  },
  {
    name: 'a strategic patch of a custom object is UnsupportedMediaType',
    steps: [made({}), patch('strategic-merge-patch', `${at}/w`, { spec: { text: 'ab' } })],
  },
  {
    name: 'a custom object of another apiVersion than the path is a bad request',
    steps: [post(at, { ...widget({}), apiVersion: '<group>/v2' })],
  },
  { name: 'a custom object of another kind is Invalid', steps: [post(at, { ...widget({}), kind: 'Gadget' })] },
  {
    name: 'a custom object without a name is Invalid',
    steps: [post(at, changed(widget({}), { 'metadata.name': undefined }))],
  },
  {
    name: 'a custom object with an unknown field under Strict is a bad request',
    steps: [post(`${at}?fieldValidation=Strict`, widget({ nothing: 1 }))],
  },
  {
    name: 'a custom object with an unknown field under Ignore says nothing',
    steps: [post(`${at}?fieldValidation=Ignore`, widget({ nothing: 1 }), { only: ['spec'] })],
  },
  {
    name: 'a custom object with a field twice under Strict is a bad request',
    steps: [
      post(
        `${at}?fieldValidation=Strict`,
        '{"apiVersion":"<group>/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"text":"ab","text":"cd"}}',
      ),
    ],
  },
  {
    name: 'a custom object with metadata of the wrong type is a bad request',
    steps: [post(at, { ...widget({}), metadata: { name: 'w', labels: { a: 1 } } })],
  },
];

/** All but the hash of the storage version, which is of the group's name. */
const resourceFields = [
  'name',
  'singularName',
  'namespaced',
  'kind',
  'group',
  'version',
  'verbs',
  'shortNames',
  'categories',
].map((field) => `resources.*.${field}`);

const reads: Case[] = [
  {
    name: 'a custom object is read in another version of its definition',
    steps: [made({ color: 'red' }), get('/apis/<group>/v2/namespaces/<ns>/widgets/w')],
  },
  {
    name: 'a custom object written in another version is stored in the stored one',
    steps: [
      post('/apis/<group>/v2/namespaces/<ns>/widgets', { ...widget({ color: 'red' }), apiVersion: '<group>/v2' }),
      get(`${at}/w`),
    ],
  },
  {
    name: 'custom objects are printed in the columns of their definition',
    steps: [
      made({ color: 'red', count: 2, real: 1.5, map: [{ name: 'a', value: 'x' }, { name: 'b' }] }),
      get(at, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io', only: ['columnDefinitions', 'rows.*.cells'] }),
    ],
  },
  {
    name: 'custom objects are selected by a selectable field',
    steps: [
      made({ color: 'red' }),
      arranged(post(at, changed(widget({ color: 'green' }), { 'metadata.name': 'v' }))),
      get(`${at}?fieldSelector=spec.color%3Dgreen`, { only: ['items.*.metadata.name'] }),
    ],
  },
  { name: 'custom objects are not selected by another field', steps: [get(`${at}?fieldSelector=spec.text%3Da`)] },
  {
    name: 'custom objects are watched by a selectable field',
    steps: [
      {
        watch: `${at}?watch=true&resourceVersion=0&fieldSelector=spec.color%3Dred`,
        events: 2,
        during: [post(at, widget({ color: 'red' })), patch('merge-patch', `${at}/w`, { spec: { color: 'green' } })],
      },
    ],
  },
  {
    name: 'a watch from a version of long ago is told 410',
    steps: [{ watch: `${at}?watch=true&resourceVersion=1`, events: 1 }],
  },
  {
    name: 'discovery tells a kind with its short names, categories and subresources',
    steps: [get('/apis/<group>/v1', { only: resourceFields })],
  },
  { name: 'the list of a custom kind has its list kind', steps: [get(at)] },
  {
    name: 'a collection of a custom kind is deleted',
    steps: [made({}), remove(at, undefined, { only: ['kind', 'items.*.metadata.name'] })],
  },
  {
    name: 'a custom object is replaced only with its version',
    steps: [made({}), put(`${at}/w`, widget({ text: 'ab' }))],
  },
  {
    name: 'a custom object of another version is a Conflict',
    steps: [made({}), put(`${at}/w`, changed(widget({ text: 'ab' }), { 'metadata.resourceVersion': '1' }))],
  },
  {
    name: 'a kind in another namespace scope: a cluster-wide list goes over all namespaces',
    steps: [
      made({}),
      get('/apis/<group>/v1/widgets?fieldSelector=metadata.namespace%3D<ns>', { only: ['items.*.metadata.name'] }),
    ],
  },
];

const w = `${at}/w`;
const shown = { only: ['spec', 'metadata.managedFields'], hasManagers: true } as const;
const applied = (manager: string, fields: Tree): Ask => arranged(apply(manager, w, widget(fields)));

const applies: Case[] = [
  {
    name: 'an applied set is owned by its values',
    steps: [applied('one', { set: ['a', 'b'] }), apply('two', w, widget({ set: ['c'] }), shown)],
  },
  {
    name: 'a value of a set goes when its only owner no longer applies it',
    steps: [applied('one', { set: ['a', 'b'] }), apply('one', w, widget({ set: ['a'] }), shown)],
  },
  {
    name: 'an applied list-map is owned by its keys',
    steps: [
      applied('one', { map: [{ name: 'a', value: '1' }] }),
      apply('two', w, widget({ map: [{ name: 'b', value: '2' }] }), shown),
    ],
  },
  {
    name: 'a field of a list-map element is a Conflict by its key',
    steps: [
      applied('one', { map: [{ name: 'a', value: '1' }] }),
      apply('two', w, widget({ map: [{ name: 'a', value: '2' }] })),
    ],
  },
  {
    name: 'an atomic list is owned whole',
    steps: [applied('one', { atomic: ['a'] }), apply('two', w, widget({ atomic: ['a', 'b'] }))],
  },
  {
    name: 'an atomic object is owned whole',
    steps: [applied('one', { whole: { a: '1' } }), apply('two', w, widget({ whole: { b: '2' } }))],
  },
  {
    name: 'additional properties are owned one by one',
    steps: [applied('one', { words: { a: '1' } }), apply('two', w, widget({ words: { b: '2' } }), shown)],
  },
  {
    name: 'preserved unknown fields are owned one by one',
    steps: [applied('one', { open: { a: { b: 1 } } }), apply('two', w, widget({ open: { a: { c: 2 } } }), shown)],
  },
  {
    name: 'a key twice in an applied list-map is refused',
    steps: [apply('one', w, widget({ map: [{ name: 'a' }, { name: 'a' }] }))],
  },
  { name: 'a value twice in an applied set is refused', steps: [apply('one', w, widget({ set: ['a', 'a'] }))] },
  { name: 'an applied custom object is checked by its schema', steps: [apply('one', w, widget({ text: 'a' }))] },
  {
    name: 'an applied unknown field of a custom object is pruned',
    steps: [apply('one', w, widget({ nothing: 1 }), shown)],
  },
];

const established = { 'body.status.conditions[type=Established].status': 'True' };

export const customs: Chapter = {
  name: 'custom',
  before: [
    post(crds, widgets),
    { ...get(`${crds}/widgets.<group>`), until: established },
    { ...get('/apis/<group>/v1/widgets'), until: { status: 200 } },
    { ...get('/apis/<group>/v1'), until: { status: 200 } },
  ],
  cases: [
    ...checked.map(([what, fields]): Case => ({
      name: `a custom object with ${what} is refused`,
      steps: [post(at, widget(fields))],
    })),
    ...tolerated.map(([what, fields]): Case => ({
      name: `a custom object with ${what} is taken`,
      steps: [post(at, widget(fields))],
    })),
    ...taken.map(([name, fields]): Case => ({ name, steps: [post(at, widget(fields), { only: ['spec'] })] })),
    ...updates,
    ...reads,
    ...applies,
  ],
};
