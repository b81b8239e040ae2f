import type { Lbticket } from '@fairlead/api';
import type { Change } from '@fairlead/kube';
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { backlog } from './backlog.ts';
import { ticket } from './testing/objects.ts';

type Listener = (change: Change<Lbticket>) => void;

/** A backlog of `count` tickets that were filed before it began. */
function begun(count: number) {
  const clock = fakeClock();
  const all = Array.from({ length: count }, (_, i) => ticket(`t${i}`));
  let tell: Listener = () => undefined;
  const toDo = backlog({ all: () => all, listen: (heard: Listener) => ((tell = heard), () => undefined) }, clock);
  const rests: number[] = [];
  toDo.follow(new AbortController().signal, () => rests.push(clock.now()));
  const change = (before: Lbticket, after: Lbticket | undefined) => tell({ before, after } as Change<Lbticket>);
  return { clock, all, toDo, change, rests };
}

test('many tickets on their way make it busy, a few do not', () => {
  expect(begun(40).toDo.isBusy).toBe(true);
  expect(begun(3).toDo.isBusy).toBe(false);
});

test('when the many are few again, that is told once', () => {
  const { all, change, rests, toDo } = begun(34);
  for (const one of all.slice(0, 25)) change(one, { ...one, status: { process: 'enabled' } });
  expect([toDo.isBusy, rests.length], 'nine are left').toEqual([true, 0]);
  for (const one of all.slice(25, 30)) change(one, { ...one, status: { process: 'enabled' } });
  expect([toDo.isBusy, rests.length]).toEqual([false, 1]);
});

test('tickets that wait for something make nobody wait for them, until one comes or goes', async () => {
  const { clock, toDo, all, change, rests } = begun(40);
  await clock.advance(1000);
  expect(rests, 'and who waited is told').toEqual([clock.now()]);
  const [first, second] = all as [Lbticket, Lbticket];
  change(first, { ...first, status: { process: 'created' } });
  expect(toDo.isBusy, 'a step is none').toBe(false);
  change(second, { ...second, status: { process: 'apply' } });
  expect(toDo.isBusy).toBe(true);
});

test('who has an application, has failed or is gone is no longer on the way', () => {
  const { all, toDo, change } = begun(40);
  const ends = [{ process: 'apply' }, { process: 'enabled' }, { process: 'failed' }, undefined] as const;
  for (const [i, one] of all.slice(0, 32).entries()) {
    const status = ends[i % 4];
    change(one, status && { ...one, status });
  }
  expect(toDo.isBusy).toBe(false);
  for (const one of all.slice(0, 25)) change(one, { ...one, status: { process: 'created' } });
  expect(toDo.isBusy).toBe(true);
});
