// Webhooks: who is asked, what they may do to a write, and what becomes of it when they do not answer well.
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
import { changed, type Changes, configMap, definition, deployment } from '../objects.ts';

const registrations = '/apis/admissionregistration.k8s.io/v1';
type Sort = 'Mutating' | 'Validating';

const rule: Tree = { operations: ['*'], apiGroups: ['', 'apps'], apiVersions: ['v1'], resources: ['*/*'] };
const clientOf = (path: string): Tree => ({ url: `<hook>${path}`, caBundle: '<ca>' });
const hook = (path: string, changes: Changes = {}): Tree =>
  changed(
    {
      name: `${path.slice(1)}.example.com`,
      clientConfig: clientOf(path),
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } },
      objectSelector: { matchExpressions: [{ key: 'seen', operator: 'DoesNotExist' }] },
    },
    changes,
  );

/** Refuses what is labelled so, which shows that the server has seen the configuration: it does so in its own time. */
const seen = hook('/deny', { name: 'seen.example.com', objectSelector: { matchLabels: { seen: 'yet' } } });

const configuration = (sort: Sort, webhooks: Json[], name = 'hooks'): Tree => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${sort}WebhookConfiguration`,
  metadata: { name: `<ns>-${name}` },
  webhooks,
});
const at = (sort: Sort): string => `${registrations}/${sort.toLowerCase()}webhookconfigurations`;

const seenYet: Ask = {
  ...arranged(post(core('configmaps?dryRun=All'), changed(configMap('seen'), { 'metadata.labels': { seen: 'yet' } }))),
  until: { status: 400 },
  mayFail: true,
};
/** A configuration of the webhooks, seen by the server. Hooks validate unless they are said to mutate. */
const hooked = (sort: Sort, ...webhooks: Tree[]): Ask[] => [
  arranged(post(at(sort), configuration(sort, [...webhooks, seen]))),
  seenYet,
];
const create = (name = 'a', changes: Changes = {}): Ask => post(core('configmaps'), changed(configMap(name), changes));

const validating = (name: string, path: string, changes: Changes = {}, asks: Ask[] = [create()]): Case => ({
  name,
  steps: [...hooked('Validating', hook(path, changes)), ...asks],
});
const mutating = (name: string, path: string, changes: Changes = {}, asks: Ask[] = [create()]): Case => ({
  name,
  steps: [...hooked('Mutating', hook(path, changes)), ...asks],
});
const made = (changes: Changes = {}): Ask => arranged(post(core('configmaps'), changed(configMap('made'), changes)));

const answers: Case[] = [
  validating('a webhook that allows lets a write pass', '/allow'),
  validating('the warnings of a webhook reach the client', '/warn'),
  validating('a webhook that denies without a word is refused', '/deny'),
  validating('a webhook that denies with a message tells it', '/deny-word'),
  validating('a webhook that denies with a code and a reason sets both', '/deny-code'),
  validating('a webhook that answers for another request fails', '/other-uid'),
  validating('a webhook that answers without a response fails', '/no-response'),
  validating('a webhook that answers something else fails', '/other-kind'),
  validating('a webhook that answers no JSON fails', '/garbage'),
  validating('a webhook that answers 500 fails', '/fail'),
  validating('a webhook that answers 404 fails', '/missing'),
  validating('a webhook that hangs fails after its timeout', '/hang', { timeoutSeconds: 1 }),
  validating('a webhook that fails is passed over with failurePolicy Ignore', '/fail', { failurePolicy: 'Ignore' }),
  validating('a webhook that hangs is passed over with failurePolicy Ignore', '/hang', {
    timeoutSeconds: 1,
    failurePolicy: 'Ignore',
  }),
  validating('a webhook that denies is heard with failurePolicy Ignore', '/deny-word', { failurePolicy: 'Ignore' }),
  mutating('a mutating webhook changes what is written', '/patch'),
  mutating('a mutating webhook whose patch does not fit fails', '/bad-patch'),
  mutating('a mutating webhook with a patch of no type fails', '/patch-type'),
  mutating('a mutating webhook whose patch makes the object invalid is Invalid', '/spoil'),
  mutating('a mutating webhook may deny', '/deny-word'),
  {
    name: 'a validating webhook that patches changes nothing',
    steps: [...hooked('Validating', hook('/patch')), create()],
  },
  {
    name: 'mutating webhooks come one after the other, each seeing what the one before did',
    steps: [...hooked('Mutating', hook('/count'), hook('/count', { name: 'again.example.com' })), create()],
  },
  {
    name: 'a webhook is asked again when a later one changed the object, if it wants',
    steps: [...hooked('Mutating', hook('/count', { reinvocationPolicy: 'IfNeeded' }), hook('/patch')), create()],
  },
  {
    name: 'a webhook is not asked again when it does not want',
    steps: [...hooked('Mutating', hook('/count'), hook('/patch')), create()],
  },
];

const reviews: Case[] = [
  validating('a review of a create says who, what and how', '/echo', {}, [create()]),
  validating('a review of a dry run says so', '/echo', {}, [post(core('configmaps?dryRun=All'), configMap('a'))]),
  validating('a review names the field manager and its validation in the options', '/echo', {}, [
    post(core('configmaps?fieldManager=me&fieldValidation=Strict'), configMap('a')),
  ]),
  validating('a review of another user names that user', '/echo', {}, [
    { ...create(), headers: { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' } },
  ]),
  {
    name: 'a review of an update has the old object and the new',
    steps: [
      made(),
      ...hooked('Validating', hook('/old')),
      put(core('configmaps/made'), configMap('made', { data: { a: '2' } })),
    ],
  },
  {
    name: 'a review of a patch is an update',
    steps: [
      made(),
      ...hooked('Validating', hook('/echo')),
      patch('merge-patch', core('configmaps/made'), { data: { a: '2' } }),
    ],
  },
  {
    name: 'a review of a delete has the old object alone',
    steps: [made(), ...hooked('Validating', hook('/old')), remove(core('configmaps/made'))],
  },
  {
    name: 'a review of a delete says which options it has',
    steps: [
      made(),
      ...hooked('Validating', hook('/echo')),
      remove(core('configmaps/made'), { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 5 }),
    ],
  },
  {
    name: 'a review of a subresource names it',
    steps: [
      arranged(post('/apis/apps/v1/namespaces/<ns>/deployments', deployment('d'))),
      ...hooked('Validating', hook('/echo')),
      patch('merge-patch', '/apis/apps/v1/namespaces/<ns>/deployments/d/scale', { spec: { replicas: 2 } }),
    ],
  },
  {
    name: 'a review of a generated name has it',
    steps: [
      ...hooked('Validating', hook('/echo')),
      post(
        core('configmaps'),
        changed(configMap('a'), { 'metadata.name': undefined, 'metadata.generateName': 'gen-' }),
      ),
    ],
  },
];

const choices: Case[] = [
  validating('a webhook is not asked about other operations', '/deny', { 'rules.0.operations': ['DELETE'] }),
  validating('a webhook is not asked about other resources', '/deny', { 'rules.0.resources': ['secrets'] }),
  validating('a webhook is not asked about subresources unless it says so', '/deny', { 'rules.0.resources': ['pods'] }),
  validating('a webhook is not asked about other groups', '/deny', { 'rules.0.apiGroups': ['apps'] }),
  validating('a webhook is not asked about other scopes', '/deny', { 'rules.0.scope': 'Cluster' }),
  validating('a webhook is not asked about namespaces its selector does not choose', '/deny', {
    namespaceSelector: { matchLabels: { a: 'b' } },
  }),
  validating('a webhook is not asked about objects its selector does not choose', '/deny', {
    objectSelector: { matchLabels: { a: 'b' } },
  }),
  validating(
    'a webhook is asked about an object that leaves its selector',
    '/echo',
    { objectSelector: { matchLabels: { a: 'b' } } },
    [create('a', { 'metadata.labels': { a: 'b' } })],
  ),
  validating('a match condition that does not hold keeps a webhook out', '/deny', {
    matchConditions: [{ name: 'big', expression: "object.metadata.name == 'big'" }],
  }),
  validating('a match condition that holds lets a webhook be asked', '/deny', {
    matchConditions: [{ name: 'a', expression: "object.metadata.name == 'a' && request.operation == 'CREATE'" }],
  }),
  validating('a match condition that fails to evaluate is a failure of the webhook', '/allow', {
    matchConditions: [{ name: 'fails', expression: "object.data.nothing == 'x'" }],
  }),
  validating('a match condition that fails is passed over with failurePolicy Ignore', '/deny', {
    failurePolicy: 'Ignore',
    matchConditions: [{ name: 'fails', expression: "object.data.nothing == 'x'" }],
  }),
  validating('a match condition may ask what the user may do', '/deny-word', {
    matchConditions: [
      {
        name: 'may',
        expression:
          "authorizer.requestResource.check('create').allowed() && !authorizer.serviceAccount('<ns>', 'x').path('/metrics').check('get').allowed()",
      },
    ],
  }),
  {
    name: 'a dry run asks a webhook that has no side effects then',
    steps: [
      ...hooked('Validating', hook('/allow', { sideEffects: 'NoneOnDryRun', name: 'fine.example.com' })),
      post(core('configmaps?dryRun=All'), configMap('a')),
    ],
  },
  {
    name: 'an update that changes nothing is asked about all the same',
    steps: [
      made(),
      ...hooked('Validating', hook('/deny-word')),
      patch('merge-patch', core('configmaps/made'), { data: { a: '1' } }),
    ],
  },
  {
    name: 'a webhook that refuses to see a thing deleted keeps it',
    steps: [
      made(),
      ...hooked('Validating', hook('/deny-word', { 'rules.0.operations': ['DELETE'] })),
      remove(core('configmaps')),
      get(core('configmaps/made')),
    ],
  },
  {
    name: 'an object is decoded and named before webhooks are asked',
    steps: [...hooked('Validating', hook('/deny-word')), create('A b')],
  },
];

const wrong: Record<string, Changes> = {
  'a name that is no domain': { 'webhooks.0.name': 'short' },
  'no client': { 'webhooks.0.clientConfig': {} },
  'a url and a service': {
    'webhooks.0.clientConfig': { url: 'https://a.example.com/x', service: { namespace: 'a', name: 'b' } },
  },
  'a url without https': { 'webhooks.0.clientConfig': { url: 'http://a.example.com/x' } },
  'a url with a query': { 'webhooks.0.clientConfig': { url: 'https://a.example.com/x?y=z' } },
  'a url with a user': { 'webhooks.0.clientConfig': { url: 'https://me@a.example.com/x' } },
  'no side effects said': { 'webhooks.0.sideEffects': undefined },
  'side effects of v1beta1': { 'webhooks.0.sideEffects': 'Some' },
  'no review versions': { 'webhooks.0.admissionReviewVersions': undefined },
  'no review version we know': { 'webhooks.0.admissionReviewVersions': ['v9'] },
  'a timeout of 0': { 'webhooks.0.timeoutSeconds': 0 },
  'a timeout of 31': { 'webhooks.0.timeoutSeconds': 31 },
  'an unknown failure policy': { 'webhooks.0.failurePolicy': 'Shrug' },
  'an unknown match policy': { 'webhooks.0.matchPolicy': 'Roughly' },
  'an unknown operation': { 'webhooks.0.rules': [{ ...rule, operations: ['READ'] }] },
  'a star beside an operation': { 'webhooks.0.rules': [{ ...rule, operations: ['*', 'CREATE'] }] },
  'no resources': { 'webhooks.0.rules': [{ ...rule, resources: [] }] },
  'a resource that another covers': { 'webhooks.0.rules': [{ ...rule, resources: ['*', 'pods'] }] },
  'an unknown scope': { 'webhooks.0.rules': [{ ...rule, scope: 'Galaxy' }] },
  'a match condition that does not compile': { 'webhooks.0.matchConditions': [{ name: 'a', expression: 'object.' }] },
  'two match conditions of one name': {
    'webhooks.0.matchConditions': [
      { name: 'a', expression: 'true' },
      { name: 'a', expression: 'true' },
    ],
  },
  'a match condition that gives no truth': { 'webhooks.0.matchConditions': [{ name: 'a', expression: '1' }] },
  'a match condition of a field that requests lack': {
    'webhooks.0.matchConditions': [{ name: 'a', expression: "request.object.kind == 'Pod'" }],
  },
  'a match condition of parameters': { 'webhooks.0.matchConditions': [{ name: 'a', expression: 'params == null' }] },
  'a selector that is none': { 'webhooks.0.objectSelector': { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
  'an unknown reinvocation': { 'webhooks.0.reinvocationPolicy': 'Always' },
};

/** What looks wrong, and a real server takes all the same. */
const tolerated: Record<string, Changes> = {
  'an authority that is none': { 'webhooks.0.clientConfig': { url: 'https://a.example.com/x', caBundle: 'aGVsbG8=' } },
};

const plain = (changes: Changes = {}): Tree =>
  changed(
    configuration('Mutating', [
      {
        name: 'a.example.com',
        clientConfig: { url: 'https://a.example.com/x' },
        rules: [],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ]),
    changes,
  );

const registration: Case[] = [
  {
    name: 'a webhook is given its policies, selectors, timeout and scope',
    steps: [
      post(
        at('Mutating'),
        plain({ 'webhooks.0.rules': [rule], 'webhooks.0.namespaceSelector': { matchLabels: { never: 'true' } } }),
      ),
    ],
  },
  {
    name: 'two webhooks of one name in one configuration are Invalid',
    steps: [post(at('Validating'), configuration('Validating', [hook('/allow'), hook('/allow')]))],
  },
  {
    name: 'a configuration without webhooks is taken',
    steps: [post(at('Validating'), configuration('Validating', []))],
  },
  ...Object.entries(wrong).map(([what, changes]): Case => ({
    name: `a webhook with ${what} is refused`,
    steps: [post(at('Mutating'), plain(changes))],
  })),
  ...Object.entries(tolerated).map(([what, changes]): Case => ({
    name: `a webhook with ${what} is taken all the same`,
    steps: [post(at('Mutating'), plain(changes))],
  })),
];

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = '<ns>.example.com';
const converting = (path: string): Ask[] => [
  arranged(
    post(
      crds,
      definition(
        { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        {
          'metadata.name': `widgets.${group}`,
          'spec.group': group,
          'spec.versions.1': {
            name: 'v2',
            served: true,
            storage: false,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
              },
            },
          },
          'spec.conversion': {
            strategy: 'Webhook',
            webhook: { conversionReviewVersions: ['v1'], clientConfig: clientOf(path) },
          },
        },
      ),
    ),
  ),
  { ...arranged(get(`/apis/${group}/v1/namespaces/<ns>/widgets`)), until: { status: 200 } },
  arranged(
    post(`/apis/${group}/v1/namespaces/<ns>/widgets`, {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { a: 1 },
    }),
  ),
];

const v2 = `/apis/${group}/v2/namespaces/<ns>/widgets`;
const conversions: Case[] = [
  {
    name: 'an object is converted by its webhook when it is read in another version',
    steps: [...converting('/convert'), get(`${v2}/w`)],
  },
  { name: 'a list is converted by its webhook', steps: [...converting('/convert'), get(v2)] },
  {
    name: 'an object written in another version is converted to the stored one',
    steps: [
      ...converting('/convert'),
      post(v2, { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: 'x' }, spec: { b: 2 } }),
      get(`/apis/${group}/v1/namespaces/<ns>/widgets/x`),
    ],
  },
  {
    name: 'a conversion that is refused fails the read and tells why',
    steps: [...converting('/convert-fail'), get(`${v2}/w`)],
  },
  { name: 'a conversion whose webhook fails tells how', steps: [...converting('/fail'), get(`${v2}/w`)] },
  {
    name: 'an object in the stored version needs no conversion',
    steps: [...converting('/fail'), get(`/apis/${group}/v1/namespaces/<ns>/widgets/w`)],
  },
];

export const webhooks: Chapter = {
  name: 'webhook',
  needs: 'hook',
  cases: [...answers, ...reviews, ...choices, ...registration, ...conversions],
};
