// What rules read of their values: told by the expression, and enough for every answer.
import { expect, test } from 'vitest';
import type { Schema } from '../schema/schema.ts';
import { readsOf, type Reads } from './reads.ts';
import { parsedRule, ruleProblems } from './rules.ts';

const text = (reads: Reads): string =>
  reads === 'all' ? '*' : [...reads].map(([name, below]) => `${name}(${text(below)})`).join(' ');

test.each([
  ['true', ''],
  ['self.a.b == self.a.c', 'a(b(*) c(*))'],
  ['self.a.b == 1 && has(self.a)', 'a(*)'],
  ['has(self.a) && self.a.b == 1', 'a(*)'],
  ['size(self.a) == oldSelf.b', 'a(*)'],
  ['self.a.all(x, x.b > 0)', 'a(*)'],
  ["self['a'].b == 1", '*'],
  ['self.?a.b.orValue(1) == 1', '*'],
  ['self.all(k, self[k].b > 0)', '*'],
  ['[1].exists(self, self.b > 0)', '*'],
  ["{'a': self.b}.a == [self.c][0]", 'b(*) c(*)'],
  ['self == oldSelf', '*'],
])('%s reads %s', (rule, reads) => {
  expect(text(readsOf(parsedRule(rule), 'self'))).toBe(reads);
});

const field: Schema = { type: 'object', properties: { b: { type: 'integer' }, c: { type: 'string' } } };
const schemaOf = (...rules: object[]): Schema =>
  ({
    type: 'object',
    properties: { a: field, namespace: { type: 'string' } },
    'x-kubernetes-validations': rules,
  }) as Schema;
const value = { a: { b: 1, c: 'see' }, namespace: 'shop' };
const messages = (schema: Schema, now: object, old?: object): (string | undefined)[] =>
  ruleProblems(now, old, schema).map(({ message }) => message?.replace('Invalid value: "object": ', ''));

test('a message may tell what its rule does not read', () => {
  const rule = { rule: 'self.a.b > 1', messageExpression: "self.a.c + ' in ' + self.__namespace__" };
  expect(messages(schemaOf(rule), value)).toEqual(['see in shop']);
  const change = { rule: 'self.a.b < oldSelf.a.b', messageExpression: "self.a.c + ' was ' + oldSelf.a.c" };
  expect(messages(schemaOf(change), value, { a: { b: 0, c: 'hear' } })).toEqual(['see was hear']);
});

test('each rule has what it reads, whatever the others read', () => {
  const rules = ['self.a.b > 1', "self.__namespace__ == 'x'", "self.a == {'b': 1, 'c': 'x'}"].map((rule) => ({ rule }));
  expect(messages(schemaOf(...rules), value)).toEqual(rules.map(({ rule }) => `failed rule: ${rule}`));
  expect(messages(schemaOf({ rule: 'self.a.d == 1' }), value)).toEqual([
    'no such key: d evaluating rule: self.a.d == 1',
  ]);
});

const list: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['c'],
  items: { ...field, 'x-kubernetes-validations': [{ rule: 'self.b >= oldSelf.b' }, { rule: 'self.b < 9' }] },
};
const rows: [what: string, now: object[], old: object[] | undefined, causes: string[], warnings: string[]][] = [
  ['a new element is no change', [{ c: 'x', b: 1 }], [{ c: 'y', b: 2 }], [], []],
  [
    'an element is found by its key',
    [
      { c: 'y', b: 3 },
      { c: 'x', b: 1 },
    ],
    [
      { c: 'x', b: 2 },
      { c: 'y', b: 3 },
    ],
    ['[1]'],
    [],
  ],
  ['what was wrong before is warned of', [{ c: 'x', b: 9 }], [{ c: 'x', b: 9 }], [], ['[0]']],
  ['what is wrong anew is refused', [{ c: 'x', b: 9 }], [{ c: 'x', b: 8 }], ['[0]'], []],
  ['so it is in a list that was not there', [{ c: 'x', b: 9 }], undefined, ['[0]'], []],
];

test.each(rows)('in a list by keys: %s', (_, now, old, causes, warnings) => {
  const warned: string[] = [];
  const found = ruleProblems(now, old, list, (warning) => warned.push(warning.split(':')[0] ?? ''));
  expect(found.map((cause) => cause.field)).toEqual(causes);
  expect(warned).toEqual(warnings);
});
