// Lists: pages, versions, selectors.
import { arranged, type Ask, type Case, type Chapter, core, get, post } from '../case.ts';
import { labelled, pod, secret } from '../objects.ts';

const five = [1, 2, 3, 4, 5].map((n) =>
  arranged(
    post(
      core('configmaps'),
      labelled(`c${n}`, { n: String(n), odd: n % 2 ? 'yes' : 'no', ...(n > 3 ? { big: '' } : {}) }),
    ),
  ),
);
const names = { only: ['kind', 'metadata', 'items.*.metadata.name'] };
const list = (query: string): Ask => get(core(`configmaps?${query}`), names);
/** As the server writes them: base64 of URLs, without its padding. */
const token = (text: string): string => btoa(text).replaceAll('=', '');
const selected = (rule: string, selector: string): Case => ({
  name: rule,
  steps: [...five, list(`labelSelector=${encodeURIComponent(selector)}`)],
});
const byField = (rule: string, resource: string, selector: string): Case => ({
  name: rule,
  steps: [
    ...five,
    arranged(post(core('pods'), pod('p1', { 'spec.nodeName': 'one' }))),
    arranged(post(core('pods'), pod('p2'))),
    arranged(post(core('secrets'), secret('s1', { type: 'example.com/one' }))),
    get(core(`${resource}?fieldSelector=${encodeURIComponent(selector)}`), names),
  ],
});

const pages: Case[] = [
  { name: 'a list has its items in the order of their names', steps: [...five, get(core('configmaps'))] },
  {
    name: 'a list of nothing has no items and a version',
    steps: [get('/api/v1/namespaces/<ns>/secrets')],
  },
  { name: 'a limit gives a page, a continue token and how many remain', steps: [...five, list('limit=2')] },
  {
    name: 'a continue token gives the next page, and the last page has none',
    steps: [
      ...five,
      arranged(get(core('configmaps?limit=2')), { next: 'metadata.continue' }),
      { ...list('limit=2&continue=<next>'), keep: { last: 'metadata.continue' } },
      list('limit=2&continue=<last>'),
    ],
  },
  {
    name: 'pages are of the moment of the first: what is made in between is not in them',
    steps: [
      ...five,
      arranged(get(core('configmaps?limit=2')), { next: 'metadata.continue' }),
      arranged(post(core('configmaps'), labelled('c35', {}))),
      list('continue=<next>'),
    ],
  },
  {
    name: 'pages are of the moment of the first: what is removed in between is still in them',
    steps: [
      ...five,
      arranged(get(core('configmaps?limit=2')), { next: 'metadata.continue' }),
      arranged({ method: 'DELETE', path: core('configmaps/c4') }),
      list('continue=<next>'),
    ],
  },
  {
    name: 'a limit with a label selector does not say how many remain',
    steps: [...five, list('limit=1&labelSelector=odd%3Dyes')],
  },
  { name: 'a limit as great as the list gives it whole', steps: [...five, list('limit=5')] },
  { name: 'a limit of nought is no limit', steps: [...five, list('limit=0')] },
  { name: 'a limit that is no number is a bad request', steps: [list('limit=many')] },
  { name: 'a negative limit is no limit', steps: [...five, list('limit=-1')] },
  { name: 'a continue token that is none is a bad request', steps: [list('continue=nonsense')] },
  {
    name: 'a continue token of base64 that is no JSON is a bad request',
    steps: [list(`continue=${token('hello')}`)],
  },
  {
    name: 'a continue token with a resourceVersion beside it is a bad request',
    steps: [
      ...five,
      arranged(get(core('configmaps?limit=2')), { next: 'metadata.continue', version: 'metadata.resourceVersion' }),
      list('limit=2&continue=<next>&resourceVersion=<version>'),
    ],
  },
  {
    name: 'a continue token that begins with a path upwards is a bad request',
    steps: [list(`continue=${token('{"v":"meta.k8s.io/v1","rv":1,"start":"../../x"}')}`)],
  },
];

const versions: Case[] = [
  { name: 'a list at resourceVersion 0 answers any state', steps: [...five, list('resourceVersion=0')] },
  {
    name: 'a list not older than a version answers it or newer',
    steps: [
      ...five,
      arranged(get(core('configmaps')), { version: 'metadata.resourceVersion' }),
      list('resourceVersion=<version>&resourceVersionMatch=NotOlderThan'),
    ],
  },
  {
    name: 'a list at exactly a version answers the state it was',
    steps: [
      ...five,
      arranged(get(core('configmaps')), { version: 'metadata.resourceVersion' }),
      arranged({ method: 'DELETE', path: core('configmaps/c1') }),
      list('resourceVersion=<version>&resourceVersionMatch=Exact'),
    ],
  },
  {
    name: 'resourceVersionMatch without a version is Forbidden',
    steps: [list('resourceVersionMatch=Exact')],
  },
  {
    name: 'resourceVersionMatch Exact of version 0 is Forbidden',
    steps: [list('resourceVersionMatch=Exact&resourceVersion=0')],
  },
  {
    name: 'an unknown resourceVersionMatch is Unsupported',
    steps: [list('resourceVersionMatch=Newest&resourceVersion=1')],
  },
  {
    name: 'resourceVersionMatch with a continue token is Forbidden',
    steps: [
      ...five,
      arranged(get(core('configmaps?limit=2')), { next: 'metadata.continue' }),
      list('continue=<next>&resourceVersionMatch=NotOlderThan'),
    ],
  },
  { name: 'a list at a version that is no number is a bad request', steps: [list('resourceVersion=soon')] },
  {
    name: 'a version that is still to come is a timeout with the cause ResourceVersionTooLarge',
    steps: [list('resourceVersion=999999999&resourceVersionMatch=NotOlderThan')],
  },
  {
    name: 'a get at a version that is still to come is a timeout',
    steps: [...five, get(core('configmaps/c1?resourceVersion=999999999'))],
  },
  {
    name: 'a get at resourceVersion 0 answers the object',
    steps: [...five, get(core('configmaps/c1?resourceVersion=0'))],
  },
  {
    name: 'sendInitialEvents on a list is Forbidden',
    steps: [list('sendInitialEvents=true')],
  },
];

const labels: Case[] = [
  selected('a label selector by equality', 'n=3'),
  selected('a label selector with two equal signs', 'n==3'),
  selected('a label selector by inequality takes those without the label too', 'big!='),
  selected('a label selector by a set', 'n in (1,2,9)'),
  selected('a label selector by the absence from a set takes those without the label', 'big notin (x)'),
  selected('a label selector by existence', 'big'),
  selected('a label selector by absence', '!big'),
  selected('a label selector by greater than', 'n>3'),
  selected('a label selector by less than', 'n<3'),
  selected('label requirements are all to hold', 'odd=yes,big'),
  selected('a label selector with spaces', ' odd = yes , n in ( 1 , 3 ) '),
  selected('an empty label selector takes all', ''),
  selected('a label selector that breaks off is a bad request', 'n in (1'),
  selected('a label selector of an invalid key is a bad request', 'a b=c'),
  selected('a label selector of an invalid value is a bad request', 'a=b c'),
  selected('a label selector with a greater than that is no number is a bad request', 'n>x'),
  selected('a label selector of commas is a bad request', ',,'),
  selected('a label selector with three equal signs is a bad request', 'a===b'),
  selected('an empty set in a label selector is the empty value', 'big in ()'),
];

const fields: Case[] = [
  byField('a field selector by name', 'configmaps', 'metadata.name=c2'),
  byField('a field selector by another name than one', 'configmaps', 'metadata.name!=c2'),
  byField('a field selector by namespace', 'configmaps', 'metadata.namespace=elsewhere'),
  byField('two field requirements are both to hold', 'configmaps', 'metadata.name!=c1,metadata.name!=c2'),
  byField('a field that cannot be selected by is a bad request', 'configmaps', 'data.a=1'),
  byField('a field selector without a value is a bad request', 'configmaps', 'metadata.name'),
  byField('pods are selected by their node', 'pods', 'spec.nodeName=one'),
  byField('pods are selected by their phase', 'pods', 'status.phase=Pending'),
  byField('pods are selected by having no node', 'pods', 'spec.nodeName='),
  byField('pods are selected by their restart policy', 'pods', 'spec.restartPolicy=Always'),
  byField('pods are selected by not being in a phase', 'pods', 'status.phase!=Pending'),
  byField('a pod field without a selector is a bad request', 'pods', 'spec.hostname=x'),
  byField('secrets are selected by their type', 'secrets', 'type=example.com/one'),
];

export const lists: Chapter = { name: 'list', cases: [...pages, ...versions, ...labels, ...fields] };
