// Types of expressions in admission, as they are told and as variables have them.
import { expect, test } from 'vitest';
import { compiled, expressionProblem, variableType } from './admission.ts';

const names = { params: true, authorizer: true };

test.each([
  ['object', 'dyn'],
  ['params.a', 'dyn'],
  ['1u', 'uint'],
  ['1.5', 'double'],
  ['null', 'null_type'],
  ['[1, 2]', 'list(int)'],
  ["{'a': [true]}", 'map(string, list(bool))'],
  ["timestamp('2026-01-02T03:04:05Z')", 'timestamp'],
  ["duration('1s')", 'duration'],
  ['request.kind', 'kubernetes.GroupVersionKind'],
  ['request.userInfo.extra', 'map(string, list(string))'],
  ['namespaceObject.metadata.labels', 'map(string, string)'],
  ['namespaceObject.metadata.generation', 'int'],
  ["authorizer.group('').resource('pods').check('get')", 'kubernetes.authorization.Decision'],
  ["authorizer.path('/x').check('get').reason()", 'string'],
])('%s gives %s', (expression, type) => {
  expect(expressionProblem(expression, names, 'bool')).toBe(`must evaluate to bool but got ${type}`);
});

test.each([
  ['int', 'int'],
  ['list<int>', 'list<int>'],
  ['map<string, list<bool>>', 'map<string, list<bool>>'],
  ['list<kubernetes.GroupVersionKind>', 'list<dyn>'],
  ['kubernetes.UserInfo', 'dyn'],
  ['optional<int>', 'dyn'],
  ['type', 'dyn'],
])('a variable of an expression that gives %s is %s', (given, type) => {
  expect(variableType(given)).toBe(type);
});

test('a variable has its type in what comes after it', () => {
  const variables = { n: 'int', all: 'list<string>' };
  expect(compiled('variables.all[variables.n]', { ...names, variables })).toEqual({ ok: true, type: 'string' });
  expect(compiled('variables.n.startsWith("a")', { ...names, variables }).ok).toBe(false);
});

test('what an expression may not name is not there', () => {
  for (const name of ['params', 'authorizer', 'variables'])
    expect(expressionProblem(`${name} == null`, { params: false, authorizer: false }, 'bool')).toContain(
      `undeclared reference to '${name}'`,
    );
});
