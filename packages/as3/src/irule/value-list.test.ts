import { contains, parseAddressRange, type AddressRange } from '@fairlead/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks, textList } from './value-list.ts';

const ranges = (texts: string[]): AddressRange[] =>
  texts.map((text) => {
    const range = parseAddressRange(text);
    if (!range.ok) throw new Error(range.problem.message);
    return range.value;
  });

test.each([
  [['10.0.0.1'], ['10.0.0.1']],
  [['10.0.0.0/9', '10.128.0.0/9'], ['10.0.0.0/8']],
  [['10.0.0.0/8', '10.1.0.0/16'], ['10.0.0.0/8']],
  [['10.0.0.1-10.0.0.10'], ['10.0.0.1', '10.0.0.2/31', '10.0.0.4/30', '10.0.0.8/31', '10.0.0.10']],
  [['0.0.0.0-255.255.255.255'], ['0.0.0.0/0']],
  [
    ['2001:db8::/32', '10.0.0.0/8'],
    ['10.0.0.0/8', '2001:db8::/32'],
  ],
  [['::-::1'], ['::/127']],
  [[], []],
])('%j come to %j', (texts, want) => {
  expect(networks(ranges(texts))).toEqual(want);
});

test('the networks hold exactly the addresses of the ranges, and none overlaps another', () => {
  const small = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(fc.array(small, { maxLength: 5 }), (pairs) => {
      const given = ranges(pairs.map(([a, b]) => `10.0.0.${Math.min(a, b)}-10.0.0.${Math.max(a, b)}`));
      const found = ranges(networks(given));
      for (let i = 0n; i < 256n; i += 1n) {
        const address = { family: 4, value: (10n << 24n) + i } as const;
        const times = found.filter((range) => contains(range, address)).length;
        expect(times).toBe(given.some((range) => contains(range, address)) ? 1 : 0);
      }
    }),
  );
});

test('a list of texts is sorted, and a key stands in it once', () => {
  expect(textList(['b', 'a', 'B', 'a'])['records']).toEqual(['B', 'a', 'b'].map((key) => ({ key, value: '' })));
});
