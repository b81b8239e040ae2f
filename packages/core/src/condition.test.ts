import { expect, test } from 'vitest';
import { holding, parseCondition, type TestRequest } from './condition.ts';
import type { Condition, Operator } from './load-balancer.ts';

function holds(condition: Condition, request: Partial<TestRequest>): boolean {
  const clause = parseCondition(condition, 'c');
  if (!clause.ok) throw new Error(clause.problem.message);
  return holding(clause.value, { client: '192.0.2.1', ...request }) !== undefined;
}

const on = (subject: string, operator: Operator, value: string): Condition => {
  const [name = '', key] = subject.split(' ');
  return { subject: name as Condition['subject'], ...(key && { key }), tests: [{ operator, value }] };
};
const headers = (name: string, ...values: string[]): Partial<TestRequest> => ({
  headers: values.map((value) => [name, value] as const),
});

const rows: [why: string, condition: Condition, request: Partial<TestRequest>, want: boolean][] = [
  ['a host matches whatever its case', on('host', 'equal', 'a.domain.com'), headers('Host', 'A.Domain.COM'), true],
  ['a host is compared without port', on('host', 'equal', 'A.domain.com'), headers('host', 'a.domain.com:8080'), true],
  [
    'an IPv6 host loses brackets and port',
    on('host', 'equal', '[2001:db8::1]'),
    headers('Host', '[2001:DB8::1]:8080'),
    true,
  ],
  ['another host does not match', on('host', 'equal', 'a.domain.com'), headers('Host', 'b.a.domain.com'), false],
  ['no host matches nothing', on('host', 'regexp', '.*'), {}, false],
  ['a host may begin with the value', on('host', 'prefix', 'a.'), headers('Host', 'A.domain.com'), true],
  ['a path is compared without the query', on('path', 'equal', '/a'), { uri: '/a?b=c' }, true],
  ['a path keeps its case', on('path', 'equal', '/a'), { uri: '/A' }, false],
  ['a glob sign in a prefix is a plain character', on('path', 'prefix', '/a*'), { uri: '/ab' }, false],
  ['a path may match a regexp', on('path', 'regexp', '^/v[0-9]+/'), { uri: '/v12/x' }, true],
  ['a repeated header counts with its last value', on('header x', 'equal', 'b'), headers('X', 'a', 'b'), true],
  ['earlier values of a repeated header do not count', on('header x', 'equal', 'a'), headers('X', 'a', 'b'), false],
  ['an absent header matches nothing', on('header x', 'regexp', '.*'), {}, false],
  ['an empty header is present', on('header x', 'regexp', '.*'), headers('x', ''), true],
  ['a range holds its lower end', on('header n', 'range', '100-1000'), headers('N', '100'), true],
  ['a range holds its upper end', on('header n', 'range', '100-1000'), headers('N', '1000'), true],
  ['a range ends', on('header n', 'range', '100-1000'), headers('N', '1001'), false],
  ['a number with more text is no number', on('header n', 'range', '100-1000'), headers('N', '100-'), false],
  ['a leading zero is no number', on('header n', 'range', '100-1000'), headers('N', '0150'), false],
  ['hexadecimal is no number', on('header n', 'range', '100-1000'), headers('N', '0x96'), false],
  ['an exponent is no number', on('header n', 'range', '100-1000'), headers('N', '1e2'), false],
  [
    'sixteen digits are no number',
    on('header n', 'range', '0-999999999999999'),
    headers('N', '1000000000000000'),
    false,
  ],
  ['a cookie is found among others', on('cookie v', 'equal', '2'), headers('Cookie', 'a=1; v=2'), true],
  ['an absent cookie matches nothing', on('cookie v', 'regexp', '.*'), headers('Cookie', 'vv=2'), false],
  ['a query parameter is decoded', on('query q', 'equal', 'a b&c'), { uri: '/?q=a%20b%26c' }, true],
  ['a plus in a query is a space', on('query q', 'equal', 'a b'), { uri: '/?q=a+b' }, true],
  ['the first of a repeated parameter counts', on('query q', 'equal', '1'), { uri: '/?q=1&q=2' }, true],
  ['a parameter whose name only ends alike is another', on('query q', 'equal', '1'), { uri: '/?xq=1' }, false],
  ['an absent parameter matches nothing', on('query q', 'regexp', '.*'), { uri: '/?p=1' }, false],
  ['a parameter without value is empty, not absent', on('query q', 'regexp', '^$'), { uri: '/?q' }, true],
  ['an address equals itself', on('address', 'equal', '192.0.2.1'), {}, true],
  ['an address is in a CIDR', on('address', 'equal', '192.0.2.0/24'), {}, true],
  ['an address is in a range', on('address', 'range', '192.0.2.1-192.0.2.9'), {}, true],
  ['a route domain is not part of the address', on('address', 'equal', '192.0.2.1'), { client: '192.0.2.1%2' }, true],
  ['an IPv6 address is in a CIDR', on('address', 'range', '2001:db8::/32'), { client: '2001:db8::5' }, true],
  ['families do not mix', on('address', 'range', '0.0.0.0/0'), { client: '::1' }, false],
];

test.each(rows)('%s', (_, condition, request, want) => {
  expect(holds(condition, request)).toBe(want);
});

test.each([
  [on('host', 'range', '1-2'), 'c.tests[0].operator', 'does not fit host'],
  [on('address', 'prefix', '10.'), 'c.tests[0].operator', 'does not fit address'],
  [on('address', 'equal', '10.0.0.0/33'), 'c.tests[0].value', '0 to 32'],
  [on('address', 'range', '10.0.0.1'), 'c.tests[0].value', 'no range'],
  [on('address', 'range', '10.0.0.9-10.0.0.1'), 'c.tests[0].value', 'lower to a higher'],
  [on('header x', 'range', '9-1'), 'c.tests[0].value', 'lower to the higher'],
  [on('header x', 'range', '01-2'), 'c.tests[0].value', 'whole numbers'],
  [on('header', 'equal', 'x'), 'c.key', 'name of a header'],
  [on('cookie a;b', 'equal', 'x'), 'c.key', 'name of a cookie'],
  [on('host x', 'equal', 'x'), 'c.key', 'takes no key'],
  [on('host', 'equal', 'a.com:80'), 'c.tests[0].value', 'without the port'],
  [on('path', 'equal', 'a'), 'c.tests[0].value', 'begins with "/"'],
  [on('path', 'equal', '/a?b'), 'c.tests[0].value', 'without the query'],
  [on('header x', 'equal', 'a\nb'), 'c.tests[0].value', 'printable ASCII'],
  [on('header x', 'equal', ''), 'c.tests[0].value', '1 to 1024'],
  [on('path', 'regexp', '('), 'c.tests[0].value', 'nothing stands here'],
  [{ subject: 'host', tests: [] }, 'c.tests', 'at least one value'],
] satisfies [Condition, string, string][])('%j is refused at %s: %s', (condition, path, why) => {
  const found = parseCondition(condition, 'c');
  expect(found).toMatchObject({ ok: false, problem: { code: 'invalid', path, message: expect.stringContaining(why) } });
});
