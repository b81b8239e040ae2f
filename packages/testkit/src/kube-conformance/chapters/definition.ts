// CustomResourceDefinitions: which are taken, which are refused and why, and what becomes of those that are taken.
import { arranged, type Case, type Chapter, get, type Json, patch, post, put, remove, type Tree } from '../case.ts';
import { type Changes, definition } from '../objects.ts';

const at = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = '<ns>.example.com';
const schema = 'spec.versions.0.schema.openAPIV3Schema';
const field = `${schema}.properties.spec`;

/** A definition in a group of the case's own. */
const own = (changes: Changes = {}, spec: Tree = { type: 'object' }): Tree =>
  definition(spec, { 'metadata.name': `widgets.${group}`, 'spec.group': group, ...changes });

const wrong: Record<string, Changes> = {
  'whose name is not plural and group': { 'metadata.name': `gadgets.${group}` },
  'without a group': { 'spec.group': '' },
  'with a group that is no domain': { 'spec.group': 'Example', 'metadata.name': 'widgets.Example' },
  'with an unknown scope': { 'spec.scope': 'Galaxy' },
  'without a kind': { 'spec.names.kind': '' },
  'with a kind that begins with a digit': { 'spec.names.kind': '1Widget' },
  'with a plural in capitals': { 'spec.names.plural': 'Widgets', 'metadata.name': `Widgets.${group}` },
  'with a short name in capitals': { 'spec.names.shortNames': ['WG'] },
  'with a category in capitals': { 'spec.names.categories': ['All'] },
  'whose list kind is its kind': { 'spec.names.listKind': 'Widget' },
  'without versions': { 'spec.versions': [] },
  'with a version that is no name': { 'spec.versions.0.name': 'V1' },
  'without a stored version': { 'spec.versions.0.storage': false },
  'without a schema': { 'spec.versions.0.schema': undefined },
  'that keeps unknown fields by preserveUnknownFields': { 'spec.preserveUnknownFields': true },
  'with a webhook conversion without a webhook': { 'spec.conversion': { strategy: 'Webhook' } },
  'with an unknown conversion': { 'spec.conversion': { strategy: 'Magic' } },
  'with a schema of no type': { [`${schema}.type`]: undefined },
  'with a schema that is no object': { [`${schema}.type`]: 'string', [`${schema}.properties`]: undefined },
  'with a field of no type': { [`${field}`]: { description: 'x' } },
  'with a field of an unknown type': { [`${field}.type`]: 'text' },
  'with an array without items': { [field]: { type: 'array' } },
  'with properties and additionalProperties': {
    [field]: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
  },
  'with a pattern that does not compile': { [field]: { type: 'string', pattern: '(' } },
  'with a given value of the wrong type': { [field]: { type: 'string', default: 1 } },
  'with a given value that is refused by its own rule': { [field]: { type: 'string', maxLength: 1, default: 'xx' } },
  'with a given value with unknown fields': { [field]: { type: 'object', default: { a: 1 } } },
  'with a list-map without keys': {
    [field]: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
  },
  'with a list-map key that is no field': {
    [field]: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['b'],
    },
  },
  'with a list-map key that may be absent': {
    [field]: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
  },
  'with an unknown list type': {
    [field]: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' },
  },
  'with a list type of what is no list': { [field]: { type: 'object', 'x-kubernetes-list-type': 'set' } },
  'with a map type of what is no object': { [field]: { type: 'string', 'x-kubernetes-map-type': 'atomic' } },
  'with uniqueItems': { [field]: { type: 'array', items: { type: 'string' }, uniqueItems: true } },
  'with a reference': { [field]: { $ref: '#/x' } },
  'with a type inside anyOf': { [field]: { type: 'string', anyOf: [{ type: 'string' }] } },
  'with metadata of other fields': {
    [`${schema}.properties.metadata`]: { type: 'object', properties: { labels: { type: 'object' } } },
  },
  'with a rule that does not compile': { [`${field}.x-kubernetes-validations`]: [{ rule: 'self.' }] },
  'with a rule of an unknown field': { [`${field}.x-kubernetes-validations`]: [{ rule: 'self.nothing == 1' }] },
  'with a rule that gives no truth': { [`${field}.x-kubernetes-validations`]: [{ rule: '1 + 1' }] },
  'with an empty rule': { [`${field}.x-kubernetes-validations`]: [{ rule: '' }] },
  'with a rule whose message has a line break': {
    [`${field}.x-kubernetes-validations`]: [{ rule: 'true', message: 'a\nb' }],
  },
  'with a rule of an unknown reason': { [`${field}.x-kubernetes-validations`]: [{ rule: 'true', reason: 'Bad' }] },
  'with a rule whose fieldPath is no field': {
    [`${field}.x-kubernetes-validations`]: [{ rule: 'true', fieldPath: '.nothing' }],
  },
  'with a rule over an unbounded list in a list': {
    [field]: {
      type: 'array',
      items: { type: 'array', items: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'self.all(x, x.all(y, self.all(z, z.all(w, w.contains(y)))))' }],
    },
  },
  'with a transition rule in an atomic list': {
    [field]: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
  },
  'with a column of no path': { 'spec.versions.0.additionalPrinterColumns': [{ name: 'A', type: 'string' }] },
  'with a column of a path that is none': {
    'spec.versions.0.additionalPrinterColumns': [{ name: 'A', type: 'string', jsonPath: 'spec.a' }],
  },
  'with a column of an unknown type': {
    'spec.versions.0.additionalPrinterColumns': [{ name: 'A', type: 'text', jsonPath: '.spec.a' }],
  },
  'with a column of an unknown format': {
    'spec.versions.0.additionalPrinterColumns': [{ name: 'A', type: 'string', format: 'bold', jsonPath: '.spec.a' }],
  },
  'with a scale whose paths are none': {
    'spec.versions.0.subresources': { scale: { specReplicasPath: 'x', statusReplicasPath: '.spec.y' } },
  },
  'with a selectable field that is no field': { 'spec.versions.0.selectableFields': [{ jsonPath: '.spec.nothing' }] },
  'with a selectable field twice': {
    [`${field}.properties`]: { a: { type: 'string' } },
    'spec.versions.0.selectableFields': [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }],
  },
  'with a selectable field in a list': {
    [`${field}.properties`]: { a: { type: 'array', items: { type: 'string' } } },
    'spec.versions.0.selectableFields': [{ jsonPath: '.spec.a[0]' }],
  },
  'in a group of Kubernetes without an approval': {
    'metadata.name': 'widgets.<ns>.k8s.io',
    'spec.group': '<ns>.k8s.io',
  },
};

/** What looks wrong, and a real server takes all the same. */
const tolerated: Record<string, Changes> = {
  'with an enum that its field cannot have': { [field]: { type: 'string', enum: [1] } },
  'with additionalProperties false': { [field]: { type: 'object', additionalProperties: false } },
  'with a field in allOf that its schema lacks': {
    [field]: { type: 'object', allOf: [{ properties: { a: { minimum: 1 } } }] },
  },
  'with an int-or-string of a type': { [field]: { type: 'string', 'x-kubernetes-int-or-string': true } },
  'with nullable beside a given null': { [field]: { type: 'string', default: null } },
};

const second: Json = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } };
const established = { 'body.status.conditions[type=Established].status': 'True' };
const url = `${at}/widgets.${group}`;
const made = (changes: Changes = {}) => [
  arranged(post(at, own(changes))),
  { ...arranged(get(url)), until: established },
];
const conditions = { only: ['status.conditions', 'status.acceptedNames', 'status.storedVersions'] };

const lives: Case[] = [
  {
    name: 'a definition is given its list kind, singular, conversion and a status',
    steps: [
      post(at, own({ 'spec.names': { plural: 'widgets', kind: 'Widget' } }), { only: ['spec', 'metadata.generation'] }),
    ],
  },
  {
    name: 'a definition comes to be NamesAccepted and Established',
    steps: [arranged(post(at, own())), get(url, { ...conditions, until: established })],
  },
  {
    name: 'a kind is served once it is established: lists, and an unknown object is NotFound',
    steps: [
      ...made(),
      get(`/apis/${group}/v1/namespaces/<ns>/widgets`, { until: { status: 200 } }),
      get(`/apis/${group}/v1/namespaces/<ns>/widgets/a`),
      get(`/apis/${group}/v1`, { until: { status: 200 }, only: ['kind', 'resources.*.name', 'resources.*.verbs'] }),
    ],
  },
  {
    name: 'a kind whose definition goes is served no longer',
    steps: [
      ...made(),
      arranged({ ...get(`/apis/${group}/v1/namespaces/<ns>/widgets`), until: { status: 200 } }),
      arranged(remove(url)),
      get(`/apis/${group}/v1/namespaces/<ns>/widgets`, { until: { status: 404 } }),
    ],
  },
  {
    name: 'a definition that is deleted has the finalizer of its objects',
    steps: [...made(), remove(url, undefined, { only: ['kind', 'metadata.finalizers'] })],
  },
  {
    name: 'two definitions that want one name: the later is not accepted',
    steps: [
      ...made({ 'spec.names.shortNames': ['wgt'] }),
      arranged(
        post(
          at,
          own({
            'metadata.name': `gadgets.${group}`,
            'spec.names': { plural: 'gadgets', singular: 'gadget', kind: 'Widget', listKind: 'WidgetList' },
          }),
        ),
      ),
      get(`${at}/gadgets.${group}`, {
        ...conditions,
        until: { 'body.status.conditions[type=NamesAccepted].status': 'False' },
      }),
    ],
  },
  {
    name: 'the group of a definition may not change',
    steps: [...made(), patch('merge-patch', url, { spec: { group: 'other.example.com' } })],
  },
  {
    name: 'the scope of an established definition may not change',
    steps: [...made(), patch('merge-patch', url, { spec: { scope: 'Cluster' } })],
  },
  {
    name: 'the kind of an established definition may not change',
    steps: [...made(), patch('merge-patch', url, { spec: { names: { kind: 'Gadget', listKind: 'GadgetList' } } })],
  },
  {
    name: 'a stored version may not be taken out of a definition',
    steps: [
      ...made(),
      patch('merge-patch', url, {
        spec: {
          versions: [{ name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      }),
    ],
  },
  {
    name: 'a stored version that changes is added to the stored versions',
    steps: [
      ...made(),
      arranged(
        patch('merge-patch', url, {
          spec: {
            versions: [
              { name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
              { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
            ],
          },
        }),
      ),
      get(url, { only: ['status.storedVersions', 'metadata.generation'] }),
    ],
  },
  {
    name: 'two stored versions are refused',
    steps: [
      post(
        at,
        own({
          'spec.versions.1': {
            name: 'v2',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        }),
      ),
    ],
  },
  {
    name: 'a version twice is refused',
    steps: [post(at, own({ 'spec.versions.1': { ...(second as Tree), name: 'v1' } }))],
  },
  {
    name: 'a deprecated version warns whoever uses it',
    steps: [
      ...made({ 'spec.versions.0.deprecated': true, 'spec.versions.0.deprecationWarning': 'use something else' }),
      get(`/apis/${group}/v1/namespaces/<ns>/widgets`, { until: { status: 200 } }),
    ],
  },
  {
    name: 'a version that is not served is a plain 404',
    steps: [
      ...made({ 'spec.versions.1': { ...(second as Tree), served: false } }),
      arranged({ ...get(`/apis/${group}/v1/namespaces/<ns>/widgets`), until: { status: 200 } }),
      get(`/apis/${group}/v2/namespaces/<ns>/widgets`),
    ],
  },
  {
    name: 'a definition in v1beta1 is a plain 404',
    steps: [post('/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions', own())],
  },
  {
    name: 'a definition with an unknown field warns, and the field is pruned',
    steps: [post(at, own({ 'spec.nothing': 1 }), { only: ['spec.nothing'] })],
  },
  {
    name: 'a definition is printed in its columns',
    steps: [
      ...made(),
      get(url, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        only: ['columnDefinitions.*.name', 'rows.*.cells.0'],
      }),
    ],
  },
  {
    name: 'a replace of a definition keeps its status',
    steps: [
      ...made(),
      arranged(get(url), { version: 'metadata.resourceVersion' }),
      put(url, own({ 'metadata.resourceVersion': '<version>', 'spec.names.shortNames': ['wd'] }), {
        only: ['metadata.generation', 'spec.names', 'status.storedVersions'],
      }),
    ],
  },
];

const widgetsAt = `/apis/${group}/v1/namespaces/<ns>/widgets`;
const widgetNamed = (name: string): Tree => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: { mode: 'old', note: 'a' },
});
const text = { type: 'string' };

/** Stored while nothing forbade it; then a rule at `place` comes, and is in force when it refuses a new object. */
const outlived = (place: string, rule: string): Case['steps'] => [
  ...made({ [field]: { type: 'object', properties: { mode: text, note: text } } }),
  { ...arranged(get(widgetsAt)), until: { status: 200 } },
  arranged(post(widgetsAt, widgetNamed('w'))),
  arranged(
    patch('json-patch', url, [
      {
        op: 'add',
        path: `/spec/versions/0/schema/openAPIV3Schema/properties/spec${place}/x-kubernetes-validations`,
        value: [{ rule, message: 'no longer' }],
      },
    ]),
  ),
  { ...post(`${widgetsAt}?dryRun=All`, widgetNamed('x')), until: { status: 422 } },
];
const spec = { only: ['spec'] };

const ratcheting: Case[] = [
  {
    name: 'a value that a later rule forbids may stay while another changes',
    steps: [
      ...outlived('/properties/mode', "self != 'old'"),
      patch('merge-patch', `${widgetsAt}/w`, { spec: { note: 'b' } }, spec),
    ],
  },
  {
    name: 'a value that a later rule forbids is not taken again once it was changed',
    steps: [
      ...outlived('/properties/mode', "self != 'old'"),
      patch('merge-patch', `${widgetsAt}/w`, { spec: { mode: 'new' } }, spec),
      patch('merge-patch', `${widgetsAt}/w`, { spec: { mode: 'old' } }),
    ],
  },
  {
    name: 'a later rule about the whole is asked when a part of it changes',
    steps: [...outlived('', "self.mode != 'old'"), patch('merge-patch', `${widgetsAt}/w`, { spec: { note: 'b' } })],
  },
  {
    name: 'a later rule about the whole is not asked when labels change',
    steps: [
      ...outlived('', "self.mode != 'old'"),
      patch('merge-patch', `${widgetsAt}/w`, { metadata: { labels: { a: 'b' } } }, spec),
    ],
  },
];

export const definitions: Chapter = {
  name: 'definition',
  cases: [
    ...Object.entries(wrong).map(([what, changes]): Case => ({
      name: `a definition ${what} is refused`,
      steps: [post(at, own(changes))],
    })),
    ...Object.entries(tolerated).map(([what, changes]): Case => ({
      name: `a definition ${what} is taken all the same`,
      steps: [post(at, own(changes))],
    })),
    ...lives,
    ...ratcheting,
  ],
};
