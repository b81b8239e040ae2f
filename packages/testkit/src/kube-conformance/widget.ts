// The definition of Widget, with a field for each constraint that cases try.
import type { Json, Tree } from './case.ts';
import { definition } from './objects.ts';

const rule = (text: string, rest: Tree = {}): Json => [{ rule: text, ...rest }];

const strings: Tree = {
  text: { type: 'string', minLength: 2, maxLength: 4 },
  word: { type: 'string', pattern: '^[a-z]+$' },
  color: { type: 'string', enum: ['red', 'green'] },
  moment: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  address: { type: 'string', format: 'ipv4' },
  address6: { type: 'string', format: 'ipv6' },
  network: { type: 'string', format: 'cidr' },
  mail: { type: 'string', format: 'email' },
  link: { type: 'string', format: 'uri' },
  host: { type: 'string', format: 'hostname' },
  id: { type: 'string', format: 'uuid' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'duration' },
  odd: { type: 'string', format: 'nonsense' },
};
const numbers: Tree = {
  count: { type: 'integer', minimum: 1, maximum: 10 },
  above: { type: 'integer', minimum: 0, exclusiveMinimum: true },
  below: { type: 'number', maximum: 1, exclusiveMaximum: true },
  even: { type: 'integer', multipleOf: 2 },
  small: { type: 'integer', format: 'int32' },
  real: { type: 'number' },
  either: { 'x-kubernetes-int-or-string': true },
  truth: { type: 'boolean' },
};
const item: Tree = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, value: { type: 'string' } },
};
const lists: Tree = {
  set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  map: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  atomic: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
  few: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
};
const objects: Tree = {
  words: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 }, maxProperties: 2, minProperties: 1 },
  whole: {
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  },
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'string' } } },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  perhaps: { type: 'string', nullable: true },
  one: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  any: { type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 1 }] },
  never: { type: 'string', not: { enum: ['never'] } },
  needs: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
};
const given: Tree = {
  size: { type: 'string', default: 'medium' },
  nested: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 3 } } },
  entries: { type: 'array', items: { type: 'object', properties: { kind: { type: 'string', default: 'plain' } } } },
};
const rules: Tree = {
  low: { type: 'integer' },
  high: { type: 'integer' },
  fixed: { type: 'string', 'x-kubernetes-validations': rule('self == oldSelf', { message: 'fixed may not change' }) },
  growing: { type: 'integer', 'x-kubernetes-validations': rule('self >= oldSelf') },
  told: {
    type: 'string',
    maxLength: 20,
    'x-kubernetes-validations': rule("self.startsWith('x')", { messageExpression: "'not ' + self" }),
  },
  placed: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    'x-kubernetes-validations': rule("!has(self.a) || self.a != 'bad'", {
      fieldPath: '.a',
      reason: 'FieldValueForbidden',
      message: 'not that one',
    }),
  },
  unique: {
    type: 'array',
    maxItems: 10,
    items: { type: 'string', maxLength: 10 },
    'x-kubernetes-validations': rule('self.all(x, self.exists_one(y, x == y))', { message: 'each once' }),
  },
  net: {
    type: 'string',
    maxLength: 50,
    'x-kubernetes-validations': rule('isCIDR(self)', { message: 'must be a network' }),
  },
  quantity: {
    type: 'string',
    maxLength: 20,
    'x-kubernetes-validations': rule("quantity(self).isLessThan(quantity('10Gi'))", { message: 'less than 10Gi' }),
  },
  faulty: { type: 'array', maxItems: 3, items: { type: 'integer' }, 'x-kubernetes-validations': rule('self[0] > 0') },
  matched: {
    type: 'string',
    maxLength: 20,
    'x-kubernetes-validations': rule("self.matches('^a+$')", { message: 'only a' }),
  },
  optional: {
    type: 'string',
    'x-kubernetes-validations': rule('!oldSelf.hasValue() || oldSelf.value() == self', {
      optionalOldSelf: true,
      message: 'once set it stays',
    }),
  },
};

const spec: Tree = {
  type: 'object',
  properties: { ...strings, ...numbers, ...lists, ...objects, ...given, ...rules },
  'x-kubernetes-validations': rule('!has(self.low) || !has(self.high) || self.low <= self.high', {
    message: 'low must not exceed high',
  }),
};
export const widgets = definition(spec, {
  'spec.names.shortNames': ['wg'],
  'spec.names.categories': ['things'],
  'spec.versions.0.subresources': {
    status: {},
    scale: {
      specReplicasPath: '.spec.count',
      statusReplicasPath: '.status.count',
      labelSelectorPath: '.status.selector',
    },
  },
  'spec.versions.0.schema.openAPIV3Schema.properties.status': {
    type: 'object',
    properties: { count: { type: 'integer' }, selector: { type: 'string' }, phase: { type: 'string' } },
  },
  'spec.versions.0.selectableFields': [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.count' }],
  'spec.versions.0.additionalPrinterColumns': [
    { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'its colour' },
    { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
    { name: 'Names', type: 'string', jsonPath: '.spec.map[*].name' },
    { name: 'A', type: 'string', jsonPath: '.spec.map[?(@.name=="a")].value' },
    { name: 'Real', type: 'number', jsonPath: '.spec.real', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  'spec.versions.1': {
    name: 'v2',
    served: true,
    storage: false,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
      },
    },
  },
});
