// Where a null may stand in a built-in object, and what is left of it.
import { expect, test } from 'vitest';
import { anything, type Schema } from './schema.ts';
import { dropNulls } from './nulls.ts';

const text: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    name: text,
    port: { 'x-kubernetes-int-or-string': true },
    names: { type: 'array', items: text },
    ports: { type: 'array', items: { type: 'integer' } },
    labels: { type: 'object', additionalProperties: text },
    rows: { type: 'array', items: { type: 'object', properties: { name: text } } },
    free: anything,
  },
};

test.each([
  ['a field that is null is absent', { name: null, port: null, names: null, labels: null }, {}],
  [
    'an item of a list becomes the zero of its type',
    { names: ['a', null], ports: [null] },
    { names: ['a', ''], ports: [0] },
  ],
  ['a value of a map becomes the zero of its type', { labels: { a: null } }, { labels: { a: '' } }],
  [
    'an object in a list becomes empty, and one below it loses its nulls',
    { rows: [null, { name: null }] },
    { rows: [{}, {}] },
  ],
  ['what may be anything may be null', { free: null }, { free: null }],
  ['what no schema names is left for others to refuse', { other: null }, { other: null }],
])('%s', (_, value, expected) => {
  dropNulls(value, schema);
  expect(value).toEqual(expected);
});
