// Lanes: what hangs in one holds up no other.
import { fakeClock, type FakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { lanes } from './lanes.ts';

function begun(turn: (key: string, clock: FakeClock) => Promise<void>) {
  const clock = fakeClock();
  const had: string[] = [];
  const all = lanes<string>(clock, { laneOf: (key) => key.charAt(0), parallel: () => 1 });
  const stop = new AbortController();
  const give = async (key: string) => {
    had.push(key);
    await turn(key, clock);
  };
  const run = all.run(give, stop.signal);
  const end = async () => {
    stop.abort();
    await clock.advance(0);
    await run;
  };
  return { clock, had, all, run, end };
}

test('a turn that hangs holds up its own lane alone', async () => {
  const { clock, had, all, end } = begun((key, { sleep }) => sleep(key === 'a1' ? 60_000 : 0));
  for (const key of ['a1', 'a2', 'b1', 'b2', 'c1']) all.add(key);
  await clock.advance(10);
  expect(had).toEqual(['a1', 'b1', 'c1', 'b2']);
  expect(all.size).toBe(2);
  await clock.advance(60_000);
  expect(had).toEqual(['a1', 'b1', 'c1', 'b2', 'a2']);
  await end();
});

test('a key waits once, at its earliest time, in whichever lane; a dropped one not at all', async () => {
  const { clock, had, all, end } = begun(async () => undefined);
  await clock.advance(1);
  all.add('a1', 100);
  all.add('a1', 50);
  all.add('b1', 50);
  all.drop('b1');
  all.drop('z9');
  await clock.advance(60);
  expect(had).toEqual(['a1']);
  await end();
});

test('a bug ends all lanes, and is told', async () => {
  const { clock, all, run } = begun(async (key) => {
    if (key === 'b1') throw new Error('bug');
  });
  all.add('a1', 10);
  all.add('b1', 20);
  const told = run.catch((bug: unknown) => bug);
  await clock.advance(30);
  expect(await told).toEqual(new Error('bug'));
});
