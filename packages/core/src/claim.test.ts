// Who gets what two ask for.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle, type Ask } from './claim.ts';

const ask = (by: string, created: number, ...claims: string[]): Ask => ({ by, created, claims });

interface Row {
  name: string;
  asks: Ask[];
  holders?: [string, string][];
  refused: string[];
}

const rows: Row[] = [
  { name: 'what only one asks for is granted', asks: [ask('a', 1, 'x'), ask('b', 2, 'y')], refused: [] },
  { name: 'the older object gets it', asks: [ask('a', 2, 'x'), ask('b', 1, 'x')], refused: ['a: x of b'] },
  {
    name: 'of two of one age the smaller name gets it',
    asks: [ask('b', 1, 'x'), ask('a', 1, 'x')],
    refused: ['b: x of a'],
  },
  {
    name: 'the present holder keeps it from an older one',
    asks: [ask('old', 1, 'x'), ask('young', 2, 'x')],
    holders: [['x', 'young']],
    refused: ['old: x of young'],
  },
  {
    name: 'a holder that does not ask and stays keeps it',
    asks: [ask('a', 1, 'x')],
    holders: [['x', 'held']],
    refused: ['a: x of held'],
  },
  {
    name: 'who is refused one thing gets none, so that others may',
    asks: [ask('a', 1, 'x'), ask('b', 2, 'x', 'y'), ask('c', 3, 'y')],
    refused: ['b: x of a'],
  },
  {
    name: 'what a holder gives up may be had in the same step, by the oldest that waits',
    asks: [ask('young', 9, 'x'), ask('old', 1, 'x'), ask('h', 5, 'y')],
    holders: [['x', 'h']],
    refused: ['young: x of old'],
  },
  {
    name: 'a refused holder keeps what it has, though it no longer asks for it',
    asks: [ask('h', 1, 'y'), ask('b', 2, 'x')],
    holders: [
      ['x', 'h'],
      ['y', 'other'],
    ],
    refused: ['h: y of other', 'b: x of h'],
  },
];

test.each(rows)('$name', ({ asks, holders, refused }) => {
  const said = settle(asks, new Map(holders)).map(({ by, claim, holder }) => `${by}: ${claim} of ${holder}`);
  expect(said).toEqual(refused);
});

test('no claim is granted twice, and the order of asking does not count', () => {
  const claims = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 });
  const asks = fc.uniqueArray(
    fc.record({ by: fc.constantFrom('a', 'b', 'c', 'd'), created: fc.integer({ min: 0, max: 3 }), claims }),
    { selector: ({ by }) => by },
  );
  const holders = fc
    .uniqueArray(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('a', 'b', 'q')), { selector: ([x]) => x })
    .map((pairs) => new Map(pairs));
  fc.assert(
    fc.property(asks, holders, (asks, holders) => {
      const refused = settle(asks, holders);
      expect(settle(asks.toReversed(), holders)).toEqual(refused);
      const losers = new Set(refused.map(({ by }) => by));
      const granted = asks.filter(({ by }) => !losers.has(by)).flatMap((one) => one.claims);
      const kept = [...holders].filter(([, by]) => losers.has(by) || !asks.some((one) => one.by === by));
      const all = [...granted, ...kept.map(([claim]) => claim)];
      expect(new Set(all).size).toBe(all.length);
    }),
  );
});
