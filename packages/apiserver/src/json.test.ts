// What is wrong with a text that is no JSON, in the words of Go's decoder; and selectors, in those of Kubernetes.
import { expect, test } from 'vitest';
import { parseJson, parseJsonBytes } from './json.ts';
import { parseLabelSelector } from './label-selector.ts';

test.each([
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['hello', "invalid character 'h' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['[tru3]', "invalid character '3' in literal true (expecting 'e')"],
  ['["a\nb"]', "invalid character '\\n' in string literal"],
  ['["\\x"]', "invalid character 'x' in string escape code"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['[-x]', "invalid character 'x' in numeric literal"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ['\u0001', "invalid character '\\x01' looking for beginning of value"],
  ['[\u009f]', "invalid character 'Â' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['['.repeat(10_001) + ']'.repeat(10_001), "invalid character '[' exceeded max depth"],
])('%j is no JSON: %s', (text, message) => {
  expect(parseJson(text)).toEqual({ ok: false, message });
});

test('bytes that are no text are told one by one', () => {
  const message = "invalid character '\\u009e' looking for beginning of value";
  expect(parseJsonBytes(Buffer.from([0x9e, 0x89]))).toEqual({ ok: false, message });
});

const labels = { a: 'x', n: '7' };

test.each([
  ['', true],
  ['a=x, n', true],
  ['a==x,!b', true],
  ['a!=y', true],
  ['b!=y', true],
  ['a in (x, z)', true],
  ['a notin (x)', false],
  ['b notin (x)', true],
  ['n>6,n<8', true],
  ['b in (,)', false],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a,', "found '', expected: identifier after ','"],
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['n in (1', "unable to parse requirement: found '', expected: ',' or ')'"],
  [
    'n>x',
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
])('the selector %j: %j', (text, expected) => {
  const parsed = parseLabelSelector(text);
  expect(parsed.ok ? parsed.value(labels) : parsed.status.message).toBe(expected);
});
