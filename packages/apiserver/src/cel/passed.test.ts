// Values that have passed are not judged again, and nothing else changes: what is refused, what is warned of, and when.
import { expect, test } from 'vitest';
import type { Tree } from '../object.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { definition, testServer, ticket } from '../test-server.ts';
import { ruleProblems } from './rules.ts';

const spec = (...rules: ValidationRule[]): Tree => ({
  type: 'object',
  properties: {
    n: { type: 'integer' },
    words: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 9 } },
  },
  'x-kubernetes-validations': rules,
});
const low = { rule: 'self.n < 9', message: 'too high' };
const tickets = '/apis/example.io/v1/namespaces/default/tickets';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function serving(...rules: ValidationRule[]) {
  const server = await testServer();
  await server.send('POST', definitions, definition(spec(...rules)));
  return {
    ...server,
    /** The definition with other rules. */
    async redefine(...others: ValidationRule[]) {
      const patch = { spec: definition(spec(...others)).spec };
      expect((await server.send('PATCH', `${definitions}/tickets.example.io`, patch)).code).toBe(200);
    },
  };
}

test('a definition that changes its rules is heeded at once', async () => {
  const server = await serving(low);
  expect((await server.send('POST', tickets, ticket('a', { n: 5 }))).code).toBe(201);
  await server.redefine(low, { rule: 'self.n < 4', message: 'still too high' });
  const { code, causes } = await server.send('POST', tickets, ticket('b', { n: 5 }));
  expect([code, causes]).toEqual([422, ['spec: Invalid value: "object": still too high']]);
  await server.redefine(low);
  expect((await server.send('POST', tickets, ticket('b', { n: 5 }))).code).toBe(201);
});

test('what was kept before a rule came is warned of at each write, though others passed meanwhile', async () => {
  const server = await serving();
  await server.send('POST', tickets, ticket('a', { n: 50 }));
  await server.redefine(low);
  expect((await server.send('POST', tickets, ticket('b', { n: 5 }))).code).toBe(201);
  for (const [path, body] of [
    ['a', { metadata: { labels: { x: 'y' } } }],
    ['a/status', { status: { seen: 1 } }],
    ['a/status', { status: { seen: 2 } }],
  ] as const) {
    const { code, headers } = await server.send('PATCH', `${tickets}/${path}`, body);
    expect([code, headers.get('warning')]).toEqual([200, '299 - "spec: Invalid value: \\"object\\": too high"']);
  }
  const { causes } = await server.send('PATCH', `${tickets}/a`, { spec: { n: 51 } });
  expect(causes).toEqual(['spec: Invalid value: "object": too high']);
});

test('a rule about a change is asked at each change, whatever passed before', async () => {
  const server = await serving(low, { rule: 'self.n >= oldSelf.n', message: 'only grows' });
  await server.send('POST', tickets, ticket('a', { n: 1 }));
  expect((await server.send('PATCH', `${tickets}/a`, { spec: { n: 3 } })).code).toBe(200);
  // 1 was fine when it was new.
  const { causes } = await server.send('PATCH', `${tickets}/a`, { spec: { n: 1 } });
  expect(causes).toEqual(['spec: Invalid value: "object": only grows']);
});

const judged = (schema: Schema, value: unknown): number => ruleProblems(value, undefined, schema).length;
const judge = (rule: string, properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  'x-kubernetes-validations': [{ rule }],
});

test('what a rule can tell apart is told apart', () => {
  const text: Schema = { type: 'string' };
  const named = judge("self.__namespace__ == 'x'", { namespace: text });
  expect([judged(named, { namespace: 'x' }), judged(named, { namespace: 'y' })]).toEqual([0, 1]);
  const has = judge('!has(self.a) || self.b == 1', { a: text, b: { type: 'integer' } });
  expect([judged(has, { b: 2 }), judged(has, { a: '', b: 2 }), judged(has, { a: '', b: 1 })]).toEqual([0, 1, 0]);
  const any = judge('type(self.a) == int', { a: { 'x-kubernetes-int-or-string': true } });
  expect([judged(any, { a: 1 }), judged(any, { a: '1' })]).toEqual([0, 1]);
  const divided = judge('1.0 / self.d > 0.0', { d: { type: 'number' } });
  expect([judged(divided, { d: 0 }), judged(divided, { d: -0 })]).toEqual([0, 1]);
});

test('the same value under two schemas is judged by each', () => {
  const properties: Record<string, Schema> = { n: { type: 'integer' } };
  expect(judged(judge('self.n > 1', properties), { n: 2 })).toBe(0);
  expect(judged(judge('self.n > 2', properties), { n: 2 })).toBe(1);
});
