// What is left of field sets, and in which form.
import { expect, test } from 'vitest';
import type { Tree } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { present, subtract } from './field-set.ts';

const port: Schema = { type: 'object', properties: { port: { type: 'integer' }, name: { type: 'string' } } };
const schema: Schema = {
  type: 'object',
  properties: {
    ports: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port'], items: port },
    plain: { type: 'array', items: port },
    whole: { ...port, 'x-kubernetes-map-type': 'atomic' },
    free: { type: 'object', properties: { a: {}, b: {} } },
  },
};
const key = (n: number) => `k:{"port":${n}}`;

const rows: [what: string, set: Tree, value: unknown, left: Tree | undefined][] = [
  [
    'what is there stays',
    { 'f:free': { '.': {}, 'f:a': {} } },
    { free: { a: 1 } },
    { 'f:free': { '.': {}, 'f:a': {} } },
  ],
  [
    'a field that is gone goes',
    { 'f:free': { '.': {}, 'f:a': {}, 'f:b': {} } },
    { free: { b: 1 } },
    { 'f:free': { '.': {}, 'f:b': {} } },
  ],
  ['what is no member goes with its last child', { 'f:free': { 'f:a': {} } }, { free: {} }, undefined],
  ['a member whose children are gone is a leaf', { 'f:free': { '.': {}, 'f:a': {} } }, { free: {} }, { 'f:free': {} }],
  ['a field that is null is there', { 'f:free': { 'f:a': {} } }, { free: { a: null } }, { 'f:free': { 'f:a': {} } }],
  ['no field is one that all objects have', { 'f:free': { 'f:toString': {} } }, { free: {} }, undefined],
  [
    'elements are found by key',
    { 'f:ports': { [key(1)]: { '.': {}, 'f:port': {} }, [key(2)]: { '.': {} } } },
    { ports: [{ port: 2 }] },
    { 'f:ports': { [key(2)]: {} } },
  ],
  ['a list without keys has no parts', { 'f:plain': { [key(1)]: {} } }, { plain: [{ port: 1 }] }, undefined],
  ['an atomic map has none', { 'f:whole': { '.': {}, 'f:port': {} } }, { whole: { port: 1 } }, { 'f:whole': {} }],
  [
    'what says itself strangely is put right',
    { 'f:free': { '.': {} }, 'f:ports': { 'f:x': 1, '.': {} } },
    { free: {}, ports: [] },
    { 'f:free': {}, 'f:ports': {} },
  ],
  [
    'itself comes first',
    { 'f:free': { 'f:a': {}, '.': {} } },
    { free: { a: 1 } },
    { 'f:free': { '.': {}, 'f:a': {} } },
  ],
];

test.each(rows)('present: %s', (_, set, value, left) => {
  // As text: the order of fields is seen by clients.
  expect(JSON.stringify(present(set, value, schema))).toBe(JSON.stringify(left));
});

test.each<[a: Tree, b: Tree, left: Tree | undefined]>([
  [{ 'f:a': {}, 'f:b': {} }, { 'f:b': {} }, { 'f:a': {} }],
  [{ 'f:a': {} }, { 'f:b': {} }, { 'f:a': {} }],
  [{ 'f:a': {} }, { 'f:a': {} }, undefined],
  [{ 'f:a': { '.': {}, 'f:x': {} } }, { 'f:a': {} }, { 'f:a': { 'f:x': {} } }],
  [{ 'f:a': { '.': {}, 'f:x': {} } }, { 'f:a': { 'f:x': {} } }, { 'f:a': {} }],
  [{ 'f:a': { 'f:x': {}, '.': {} } }, { 'f:a': { 'f:y': {} } }, { 'f:a': { '.': {}, 'f:x': {} } }],
])('%j without %j is %j', (a, b, left) => {
  expect(JSON.stringify(subtract(a, b))).toBe(JSON.stringify(left));
});
