import { expect, test } from 'vitest';
import { customProblems } from './custom-validity.ts';
import type { KubeObject } from './object.ts';
import type { Version } from './resource.ts';
import { undefinedField } from './cel/references.ts';
import { fieldAt } from './schema/field-path.ts';
import type { Schema } from './schema/schema.ts';

const spec: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 3 },
    list: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
    words: { type: 'object', additionalProperties: { type: 'string' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const version = {
  name: 'v1',
  schema: {
    type: 'object',
    properties: { spec, status: { type: 'object', properties: { count: { type: 'integer' } } } },
  },
} as unknown as Version;
const object = (rest: object): KubeObject => ({ apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' }, ...rest });

const check = (now: object, old?: object, subresource = ''): (string | undefined)[] =>
  customProblems({
    object: object(now),
    old: old && object(old),
    version,
    subresource,
    found: [],
  }).map(({ field }) => field);

test('what was taken before its schema became stricter may stay, and what changes is checked', () => {
  const old = { spec: { name: 'too long', words: { a: 'x' } } };
  expect(check({ spec: { name: 'too long', words: { a: 'y' } } }, old)).toEqual([]);
  expect(check({ spec: { name: 'longer still' } }, old)).toEqual(['spec.name', '<nil>']);
});

test('a write of the status is checked in the status alone', () => {
  expect(check({ spec: {}, status: { count: 'x' } }, undefined, 'status')).toEqual(['status.count', '<nil>']);
  expect(check({ spec: {}, status: { count: 1 } }, undefined, 'status')).toEqual([]);
});

const rules: [rule: string, missing: string | undefined][] = [
  ['self.name == oldSelf.name', undefined],
  ['self.nothing == 1', "<input>:1:5: undefined field 'nothing'"],
  ['has(self.nothing)', "<input>:1:9: undefined field 'nothing'"],
  ['self.list.all(one, one.port > 0)', undefined],
  ['self.list.all(one, one.prt > 0)', "<input>:1:23: undefined field 'prt'"],
  ['self.list[0].prt > 0', "<input>:1:13: undefined field 'prt'"],
  ["self.words['a'] == 'b' && self.words.c == 'd'", undefined],
  ['self.open.anything == 1', undefined],
  ["self.name == 'a' &&\n  self.nme == 'b'", "<input>:2:7: undefined field 'nme'"],
];

test.each(rules)('a rule that says %j is told %j', (rule, missing) => {
  const found = undefinedField(rule, spec);
  expect(found?.split('\n')[0]?.replace('ERROR: ', '')).toBe(missing);
});

const paths: [path: string, problem: string | undefined][] = [
  ['.name', undefined],
  ["['words'].a", undefined],
  ['.nothing', 'does not refer to a valid field'],
  ['.list[0]', 'array notation is not allowed'],
];

test.each(paths)('the path %s is told %j', (path, problem) => {
  const found = fieldAt(path, spec);
  expect('problem' in found ? found.problem : undefined).toBe(problem);
});
