// The rules of time in tests.
import { expect, test } from 'vitest';
import { fakeClock } from './fake-clock.ts';

test('time stands still until it is told to move', async () => {
  const clock = fakeClock(1000);
  let woken = false;
  void clock.sleep(1).then(() => (woken = true));
  await clock.advance(0);
  expect([clock.now(), woken]).toEqual([1000, false]);
  await clock.advance(1);
  expect([clock.now(), woken]).toEqual([1001, true]);
});

test('sleepers wake at their own moments, earliest first, and in order when equal', async () => {
  const clock = fakeClock();
  const seen: string[] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    seen.push(`${name}@${clock.now()}`);
  };
  void sleep('late', 30);
  void sleep('first', 10);
  void sleep('second', 10);
  await clock.advance(100);
  expect(seen).toEqual(['first@10', 'second@10', 'late@30']);
  expect(clock.now()).toBe(100);
});

test('a sleep begun by a waker in the same step ends in that step', async () => {
  const clock = fakeClock();
  const seen: number[] = [];
  const run = async () => {
    for (let turn = 0; turn < 3; turn++) {
      await clock.sleep(10);
      seen.push(clock.now());
    }
  };
  void run();
  await clock.advance(25);
  expect(seen).toEqual([10, 20]);
  await clock.advance(5);
  expect(seen).toEqual([10, 20, 30]);
});

test('an abort wakes at once, and leaves nothing behind', async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const asleep = clock.sleep(1000, stop.signal);
  expect(clock.sleeping).toBe(1);
  stop.abort();
  await asleep;
  await clock.sleep(1000, stop.signal);
  expect([clock.sleeping, clock.now()]).toEqual([0, 0]);
});

test('what hangs on promises and immediates has come to rest when advance ends', async () => {
  const clock = fakeClock();
  let done = false;
  const work = async () => {
    for (let hop = 0; hop < 5; hop++) await new Promise<void>((next) => setImmediate(next));
    for (let hop = 0; hop < 500; hop++) await Promise.resolve();
    done = true;
  };
  void clock.sleep(10).then(work);
  await clock.advance(10);
  expect(done).toBe(true);
});

test('a second advance before the first has ended is a bug', async () => {
  const clock = fakeClock();
  const first = clock.advance(10);
  await expect(clock.advance(10)).rejects.toThrow('bug');
  await first;
  await clock.advance(10);
  expect(clock.now()).toBe(20);
});
