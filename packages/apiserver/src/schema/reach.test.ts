// Which schemas have something wanted below them, circles included.
import { expect, test } from 'vitest';
import { reach } from './reach.ts';
import type { Schema } from './schema.ts';

const isWanted = (schema: Schema): boolean => schema.default !== undefined;
const plain: Schema = { type: 'string' };
const wanted: Schema = { type: 'string', default: 'a' };

test.each<[string, Schema, boolean]>([
  ['a schema that is wanted itself', wanted, true],
  ['one with nothing below', plain, false],
  ['a field of an object', { properties: { a: plain, b: wanted } }, true],
  ['an item of a list', { items: { properties: { a: wanted } } }, true],
  ['a value of a map', { additionalProperties: wanted }, true],
  ['fields that are plain', { properties: { a: plain, b: { items: plain } } }, false],
])('%s', (_, schema, expected) => {
  const leads = reach(isWanted);
  expect([leads(schema), leads(schema)]).toEqual([expected, expected]);
});

test('schemas that point at each other: asked in any order, what is beside the circle counts for all of it', () => {
  const ring = (): Record<'a' | 'b' | 'c', Schema> => {
    const [a, b, c]: Schema[] = [{}, {}, {}] as const;
    Object.assign(a ?? {}, { properties: { b } });
    Object.assign(b ?? {}, { properties: { a, c } });
    Object.assign(c ?? {}, { properties: { a, wanted } });
    return { a: a ?? {}, b: b ?? {}, c: c ?? {} };
  };
  for (const first of ['a', 'b', 'c'] as const) {
    const all = ring();
    const leads = reach(isWanted);
    leads(all[first]);
    expect([leads(all.a), leads(all.b), leads(all.c)]).toEqual([true, true, true]);
  }
});

test('a circle with nothing wanted is seen to the end once', () => {
  const a: Schema = {};
  a.properties = { a, list: { items: a } };
  let asked = 0;
  const leads = reach(() => (asked++, false));
  expect([leads(a), leads(a)]).toEqual([false, false]);
  expect(asked).toBe(2);
});
