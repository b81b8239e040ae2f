// What the guards leave of a plan.
import { expect, test } from 'vitest';
import { plan } from './plan.ts';
import { brake, permit, type Policy } from './policy.ts';
import type { Item } from './provider.ts';

const item = (key: string, form: number): Item<number> => ({ key, owner: 'us', form });
const found = [item('b', 1), item('c', 1)];
const todo = plan({ scope: 's', owner: 'us', wanted: [item('a', 1), item('b', 2)], found }).plan;
const show = (items: readonly Item<number>[]): string =>
  items
    .map(({ key, form }) => `${key}${form}`)
    .sort()
    .join(' ');

test.each<{ policy: Policy; create: string; update: string; remove: string; after: string; withheld: string }>([
  { policy: 'sync', create: 'a1', update: 'b2', remove: 'c1', after: 'a1 b2', withheld: '' },
  { policy: 'upsert-only', create: 'a1', update: 'b2', remove: '', after: 'a1 b2 c1', withheld: 'c1' },
  { policy: 'dry-run', create: '', update: '', remove: '', after: 'b1 c1', withheld: 'a1 b2 c1' },
])('under $policy', ({ policy, create, update, remove, after, withheld }) => {
  const left = permit(todo, policy);
  expect({
    create: show(left.plan.create),
    update: show(left.plan.update.map(({ to }) => to)),
    remove: show(left.plan.remove),
    after: show(left.plan.after),
    withheld: show(left.withheld.map((one) => one.item)),
  }).toEqual({ create, update, remove, after, withheld });
});

test.each([
  { name: 'as many as are spare go', ours: 3, goes: 3, spare: 3, removed: 3 },
  { name: 'up to the share goes', ours: 10, goes: 5, spare: 3, removed: 5 },
  { name: 'beyond the share nothing goes', ours: 10, goes: 6, spare: 3, removed: 0 },
])('$name', ({ ours, goes, spare, removed }) => {
  const there = Array.from({ length: ours }, (_, n) => item(`k${n}`, 1));
  const theirs = { ...item('z', 1), owner: 'them' };
  const all = plan({ scope: 's', owner: 'us', wanted: there.slice(goes), found: [...there, theirs] }).plan;
  const left = brake(all, [...there, theirs], { share: 0.5, spare });
  expect(left.plan.remove.length).toBe(removed);
  expect(left.withheld.length).toBe(goes - removed);
  expect(left.plan.after.length).toBe(ours - removed + 1);
});
