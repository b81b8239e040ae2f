// Rules in CEL with Kubernetes' libraries.
import { expect, test } from 'vitest';
import { ruleProblem, ruleProblems } from './rules.ts';
import type { Schema } from '../schema/schema.ts';

const self: Schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    d: { type: 'number' },
    s: { type: 'string' },
    namespace: { type: 'string' },
    'x-y': { type: 'string' },
    list: { type: 'array', items: { type: 'integer' } },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
    at: { type: 'string', format: 'date-time' },
    any: { 'x-kubernetes-int-or-string': true },
  },
};
const value = {
  n: 3,
  d: 1,
  s: 'abc-1',
  namespace: 'ns',
  'x-y': 'z',
  list: [1, 2, 3],
  map: { a: 1 },
  at: '2026-01-01T00:00:00Z',
  any: 5,
};

test.each([
  ['self.n == 3'],
  ['self.d + 0.5 == 1.5'],
  ["self.s.matches('^[a-z]+-[0-9]$')"],
  ["self.s.replace('abc', 'x') == 'x-1'"],
  ["self.__namespace__ == 'ns' && self.x__dash__y == 'z'"],
  ['self.list.sum() == 6 && self.list.isSorted() && self.list.max() == 3 && self.list.indexOf(2) == 1'],
  ["self.map.all(k, self.map[k] > 0) && 'a' in self.map"],
  ["self.at < timestamp('2027-01-01T00:00:00Z')"],
  ['type(self.any) == int'],
  ["isIP('::1') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && !isIP('10.0.0.256')"],
  [
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.0/33')",
  ],
  [
    "cidr('192.168.1.7/24').masked() == cidr('192.168.1.0/24') && string(cidr('2001:db8::1/64').masked()) == '2001:db8::/64'",
  ],
  [
    "isURL('https://a:8443/x?y=1') && url('https://a:8443/x?y=1').getPort() == '8443' && url('/x').getHost() == '' && !isURL('a b')",
  ],
  [
    "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1500m').compareTo(quantity('1.5')) == 0 && !isQuantity('1x')",
  ],
  ['sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])'],
  ["self.?missing.orValue('x') == 'x' && !has(self.missing)"],
  ["'%s has %d'.format(['a', 2]) == 'a has 2'"],
])('holds: %s', (rule) => {
  const schema: Schema = { ...self, 'x-kubernetes-validations': [{ rule }] };
  expect(ruleProblem({ rule })).toBeUndefined();
  expect(ruleProblems(value, undefined, schema)).toEqual([]);
});

const failing = (rule: object, of: unknown = value, old?: unknown) =>
  ruleProblems(of, old, { ...self, 'x-kubernetes-validations': [{ rule: '', ...rule }] });

test('what fails says the rule, the message, or the message expression, at the field path, with the reason', () => {
  expect(failing({ rule: 'self.n > 3' })).toEqual([
    { reason: 'FieldValueInvalid', message: 'Invalid value: "object": failed rule: self.n > 3', field: '' },
  ]);
  expect(failing({ rule: 'self.n > 3', message: 'too small', fieldPath: '.n', reason: 'FieldValueForbidden' })).toEqual(
    [{ reason: 'FieldValueForbidden', message: 'Forbidden: too small', field: 'n' }],
  );
  expect(failing({ rule: 'self.n > 3', messageExpression: "'n is ' + string(self.n)" })[0]?.message).toBe(
    'Invalid value: "object": n is 3',
  );
  expect(failing({ rule: 'self.missing == 1' })[0]?.message).toContain(
    'no such key: missing evaluating rule: self.missing == 1',
  );
});

test('a rule with oldSelf is silent on a new object and speaks on a change', () => {
  const rule = { rule: 'self.n == oldSelf.n', message: 'n is immutable' };
  expect(failing(rule)).toEqual([]);
  expect(failing(rule, value, { ...value, n: 4 })[0]?.message).toBe('Invalid value: "object": n is immutable');
});

test('a pattern that stalls a backtracking engine does not stall here', () => {
  const of = { ...value, s: `${'a'.repeat(5000)}!` };
  expect(failing({ rule: "self.s.matches('^(a+)+$')" }, of)).toHaveLength(1);
  expect(failing({ rule: "matches(self.s, '^(a|a)*$')" }, of)).toHaveLength(1);
});

test('text that is no rule is reported', () => {
  expect(ruleProblem({ rule: 'self.n +' })).toBeDefined();
  expect(ruleProblem({ rule: 'nobody == 1' })).toContain('nobody');
});
