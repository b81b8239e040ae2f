// The seven rows of the plan, and what holds for any question.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlanEmpty, plan } from './plan.ts';
import type { Item } from './provider.ts';

type Form = { port: number };
const item = (key: string, owner: string, port = 80, asker?: string): Item<Form> => ({
  key,
  owner,
  form: { port },
  asker,
});

interface Row {
  name: string;
  wanted?: Item<Form>;
  found?: Item<Form>;
  held?: boolean;
  does: string;
}

const rows: Row[] = [
  { name: 'wanted and not there: create', wanted: item('a', 'us'), does: 'create a; after a us 80' },
  { name: 'wanted and equal: leave', wanted: item('a', 'us'), found: item('a', 'us'), does: 'after a us 80' },
  {
    name: 'wanted and different: update',
    wanted: item('a', 'us', 81),
    found: item('a', 'us'),
    does: 'update a; after a us 81',
  },
  {
    name: 'wanted by another object than before: update, so that the mark follows',
    wanted: item('a', 'us', 80, 'c/n/two'),
    found: item('a', 'us', 80, 'c/n/one'),
    does: 'update a; after a us 80',
  },
  {
    name: "wanted and someone else's: leave, and say it is taken",
    wanted: item('a', 'us', 81),
    found: item('a', 'them'),
    does: 'taken a; after a them 80',
  },
  { name: 'not wanted and ours: remove', found: item('a', 'us'), does: 'remove a' },
  { name: "not wanted and someone else's: leave", found: item('a', 'them'), does: 'after a them 80' },
  { name: 'held and ours: leave', found: item('a', 'us'), held: true, does: 'after a us 80' },
  { name: "held and someone else's: leave", found: item('a', 'them'), held: true, does: 'after a them 80' },
  { name: 'held and not there: leave', held: true, does: '' },
  {
    name: 'held wins over wanted',
    wanted: item('a', 'us', 81),
    found: item('a', 'us'),
    held: true,
    does: 'after a us 80',
  },
];

test.each(rows)('$name', ({ wanted, found, held, does }) => {
  const answer = plan({
    scope: 's',
    owner: 'us',
    wanted: wanted ? [wanted] : [],
    found: found ? [found] : [],
    held: held ? new Set(['a']) : undefined,
  });
  const { create, update, remove, after } = answer.plan;
  const said = [
    ...create.map(({ key }) => `create ${key}`),
    ...update.map(({ to }) => `update ${to.key}`),
    ...remove.map(({ key }) => `remove ${key}`),
    ...answer.taken.map((one) => `taken ${one.item.key}`),
    ...after.map(({ key, owner, form }) => `after ${key} ${owner} ${form.port}`),
  ];
  expect(said.join('; ')).toBe(does);
});

test('members are never compared', () => {
  const wanted = { ...item('a', 'us'), members: new Map([['p', []]]) };
  expect(isPlanEmpty(plan({ scope: 's', owner: 'us', wanted: [wanted], found: [item('a', 'us')] }).plan)).toBe(true);
});

test('a plan carried out leaves nothing to do, and what others own is never touched', () => {
  const items = (owner: fc.Arbitrary<string>) =>
    fc.uniqueArray(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        owner,
        form: fc.record({ port: fc.integer({ min: 1, max: 2 }) }),
      }),
      { selector: ({ key }) => key },
    );
  const held = fc.uniqueArray(fc.constantFrom('a', 'b', 'c')).map((keys) => new Set(keys));
  fc.assert(
    fc.property(items(fc.constant('us')), items(fc.constantFrom('us', 'them')), held, (wanted, found, held) => {
      const first = plan({ scope: 's', owner: 'us', wanted, found, held });
      const second = plan({ scope: 's', owner: 'us', wanted, found: first.plan.after, held });
      expect(isPlanEmpty(second.plan)).toBe(true);
      const theirs = found.filter(({ owner }) => owner === 'them');
      expect(first.plan.after).toEqual(expect.arrayContaining(theirs));
    }),
  );
});
