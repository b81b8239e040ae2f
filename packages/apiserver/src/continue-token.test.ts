// Tokens a client may send: its own back, or anything else.
import { expect, test } from 'vitest';
import { continueAfter, tokenOf } from './continue-token.ts';

const prefix = '/registry/core/configmaps/default/';
const coded = (text: string): string => Buffer.from(text).toString('base64url');
const asked = (text: string) => {
  const token = tokenOf(text, prefix);
  return token.ok ? token.value : token.status.message;
};

test('a token goes on after the last key, at the first revision', () => {
  expect(asked(continueAfter(`${prefix}b`, prefix, 7))).toEqual({ revision: 7, after: `${prefix}b` });
});

test('a key of the clients own stays below what is listed', () => {
  expect(asked(coded('{"v":"meta.k8s.io/v1","rv":-1,"start":"/x"}'))).toEqual({ revision: -1, after: `${prefix}x` });
});

test.each([
  ['a b', 'illegal base64 data at input byte 1'],
  ['hello', 'illegal base64 data at input byte 4'],
  [coded('hello'), "invalid character 'h' looking for beginning of value"],
  [coded('{"v":"v2","rv":1,"start":"a"}'), 'server does not recognize this encoded version v2'],
  [coded('{"v":"meta.k8s.io/v1","start":"a"}'), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
  [coded('{"v":"meta.k8s.io/v1","rv":1}'), 'encoded start key empty (version meta.k8s.io/v1)'],
  [coded('{"v":"meta.k8s.io/v1","rv":1,"start":"../../x"}'), '../../x'],
  [coded('{"v":"meta.k8s.io/v1","rv":1,"start":"a//b"}'), 'a//b'],
])('%j: %s', (text, why) => {
  expect(asked(text)).toBe(`invalid continue token: continue key is not valid: ${why}`);
});
