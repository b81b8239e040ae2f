// What is in a request besides the object: its syntax, its fields, its media types, its method, its size.
import { arranged, type Case, type Chapter, core, get, patch, post, put, remove } from '../case.ts';
import { configMap, deployment } from '../objects.ts';

const raw = (body: string, query = '') => post(core(`configmaps${query}`), body);
const made = arranged(post(core('configmaps'), configMap('a')));
const head = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}';

const malformed: Record<string, string> = {
  'JSON that breaks off is a bad request': `{${head},"data":`,
  'a body that is no JSON is a bad request': 'hello',
  'an empty body is a bad request': '',
  'a list as body is a bad request': '[]',
  'a text as body is a bad request': '"hello"',
  'null as body is an object without a name': 'null',
  'an empty object lacks a name, not a kind': '{}',
  'a body without a kind is of the kind of the path': '{"apiVersion":"v1","metadata":{"name":"a"}}',
  'a body without an apiVersion is of the version of the path': '{"kind":"ConfigMap","metadata":{"name":"a"}}',
  'a body of another kind is a bad request': '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}',
  'a body of an unknown kind is a bad request': '{"apiVersion":"v1","kind":"Nothing","metadata":{"name":"a"}}',
  'a body of another group is a bad request': '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"a"}}',
  'a number where a text belongs is a bad request': `{${head},"data":{"a":1}}`,
  'a text where an object belongs is a bad request': `{${head},"data":"x"}`,
  'a list where an object belongs is a bad request': `{${head},"data":[]}`,
  'a text where a truth belongs is a bad request': `{${head},"immutable":"yes"}`,
  'metadata that is a text is a bad request': '{"apiVersion":"v1","kind":"ConfigMap","metadata":"a"}',
  'a name that is a number is a bad request': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":1}}',
  'a moment that is none is a bad request':
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":"soon"}}',
  'bytes that are not base64 are a bad request': `{${head},"binaryData":{"a":"%"}}`,
  'null for a map is the same as none': `{${head},"data":null}`,
  'a field in other capitals is not the field': `{${head},"Data":{"a":"1"}}`,
  'words after the object are a bad request': `{${head}} trailing`,
  'a UTF-8 mark at the start is a bad request': `\ufeff{${head}}`,
};

const unknownField = `{${head},"data":{"a":"1"},"dta":{"b":"2"}}`;
const duplicate = `{${head},"data":{"a":"1"},"data":{"a":"2"}}`;

const validation: Case[] = [
  ...['Ignore', 'Warn', 'Strict'].flatMap((mode) => [
    { name: `an unknown field with fieldValidation=${mode}`, steps: [raw(unknownField, `?fieldValidation=${mode}`)] },
    { name: `a field said twice with fieldValidation=${mode}`, steps: [raw(duplicate, `?fieldValidation=${mode}`)] },
  ]),
  { name: 'without fieldValidation an unknown field is a warning', steps: [raw(unknownField)] },
  { name: 'another word for fieldValidation is Invalid', steps: [raw(unknownField, '?fieldValidation=strict')] },
  {
    name: 'several unknown fields are told in one message under Strict',
    steps: [raw(`{${head},"x":1,"y":2,"metadata":{"name":"a","z":3}}`, '?fieldValidation=Strict')],
  },
  {
    name: 'an unknown field deep in a list is told with its path',
    steps: [
      post(
        '/apis/apps/v1/namespaces/<ns>/deployments?fieldValidation=Strict',
        deployment('a', { 'spec.template.spec.containers.0.imagee': 'x', 'spec.replcas': 2 }),
      ),
    ],
  },
  {
    name: 'a merge patch with an unknown field is refused under Strict',
    steps: [made, patch('merge-patch', core('configmaps/a?fieldValidation=Strict'), { dta: { a: '1' } })],
  },
  {
    name: 'a merge patch with an unknown field warns otherwise',
    steps: [made, patch('merge-patch', core('configmaps/a'), { dta: { a: '1' } })],
  },
  {
    name: 'a replace with an unknown field warns',
    steps: [made, put(core('configmaps/a'), unknownField)],
  },
];

const media: Case[] = [
  {
    name: 'a body in an unknown media type is UnsupportedMediaType',
    steps: [post(core('configmaps'), configMap('a'), { type: 'text/plain' })],
  },
  {
    name: 'a patch in JSON is UnsupportedMediaType and the message lists what is supported',
    steps: [made, { ...patch('merge-patch', core('configmaps/a'), {}), type: 'application/json' }],
  },
  {
    name: 'a body in YAML is read',
    steps: [
      post(core('configmaps'), 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n', {
        type: 'application/yaml',
      }),
    ],
  },
  {
    name: 'an Accept of an unknown media type is NotAcceptable',
    steps: [made, get(core('configmaps/a'), { accept: 'text/plain' })],
  },
  { name: 'an Accept of anything answers JSON', steps: [made, get(core('configmaps/a'), { accept: '*/*' })] },
  {
    name: 'an Accept of YAML answers YAML',
    steps: [made, get(core('configmaps/a'), { accept: 'application/yaml', only: [] })],
  },
  {
    name: 'an Accept as PartialObjectMetadata answers the metadata alone',
    steps: [
      made,
      get(core('configmaps/a'), { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    ],
  },
  {
    name: 'an Accept as PartialObjectMetadataList answers the list in metadata',
    steps: [
      made,
      get(core('configmaps'), { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }),
    ],
  },
  {
    name: 'an Accept as an unknown kind is NotAcceptable',
    steps: [made, get(core('configmaps/a'), { accept: 'application/json;as=Nothing;g=meta.k8s.io;v=v1' })],
  },
  {
    name: 'a list asked for as a Table of an unknown version is NotAcceptable',
    steps: [made, get(core('configmaps'), { accept: 'application/json;as=Table;g=meta.k8s.io;v=v9' })],
  },
];

const requests: Case[] = [
  { name: 'a body of more than 3 MiB is RequestEntityTooLarge', steps: [raw(`{"a":"${'x'.repeat(3_145_728)}"}`)] },
  { name: 'an unknown method is not allowed', steps: [{ method: 'PROPFIND', path: core('configmaps') }] },
  {
    name: 'a delete whose options are no JSON is an internal error',
    steps: [made, remove(core('configmaps/a'), 'hello')],
  },
  {
    name: 'a delete whose options are another kind is an internal error',
    steps: [made, remove(core('configmaps/a'), { kind: 'Pod', apiVersion: 'v1' })],
  },
  {
    name: 'a JSON nested a thousand deep where a text belongs is a bad request',
    steps: [raw(`{${head},"data":{"a":${'['.repeat(1000)}${']'.repeat(1000)}}}`)],
  },
  {
    name: 'a JSON nested eleven thousand deep is a bad request',
    steps: [raw(`{${head},"x":${'['.repeat(11_000)}${']'.repeat(11_000)}}`)],
  },
  { name: 'a HEAD answers as a GET without the body', steps: [made, { method: 'HEAD', path: core('configmaps/a') }] },
  {
    name: 'a query that asks to be pretty is answered on several lines',
    steps: [made, get(core('configmaps/a?pretty=true'))],
  },
];

export const body: Chapter = {
  name: 'body',
  cases: [
    ...Object.entries(malformed).map(([name, text]): Case => ({ name, steps: [raw(text)] })),
    ...validation,
    ...media,
    ...requests,
  ],
};
