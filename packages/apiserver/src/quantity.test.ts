import { expect, test } from 'vitest';
import { canonicalize, canonicalQuantity, parseQuantity } from './quantity.ts';

// What the real server answers with for each.
const canonical: [given: string, kept: string][] = [
  ['0', '0'],
  ['0Gi', '0'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['1.5', '1500m'],
  ['-1Mi', '-1Mi'],
  ['1024Mi', '1Gi'],
  ['1536Mi', '1536Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['0.5Mi', '512Ki'],
  ['1.0001Ki', '1024103m'],
  ['100000', '100k'],
  ['1000000', '1M'],
  ['12345', '12345'],
  ['1e3', '1e3'],
  ['1E4', '10e3'],
  ['100e-3', '100e-3'],
  ['0.1n', '1m'],
];

test.each(canonical)('the quantity %s is kept as %s', (given, kept) => {
  expect(canonicalQuantity(given)).toBe(kept);
});

test.each(['', '1x', 'Gi', '1.2.3', '1 Gi', '--1', '0x10'])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test('every quantity of an object is canonical, numbers become text, and nothing else is touched', () => {
  const schema = {
    properties: {
      list: { items: { properties: { amounts: { additionalProperties: { format: 'quantity' } } } } },
      text: { type: 'string' },
    },
  };
  const value = { list: [{ amounts: { cpu: 2, memory: '2048Mi' } }], text: '1000m' };
  canonicalize(value, schema);
  expect(value).toEqual({ list: [{ amounts: { cpu: '2', memory: '2Gi' } }], text: '1000m' });
});
