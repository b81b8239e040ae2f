// When keys get their turns, on a clock that moves only when told.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { heap } from './heap.ts';
import { queue, type QueueOptions } from './queue.ts';

/** A queue whose turns write down when they start and end. `takes`: how long a turn lasts, in ms. */
function world(options: QueueOptions<string> = {}, takes = 0) {
  const clock = fakeClock();
  const log: string[] = [];
  const stop = new AbortController();
  const keys = queue<string>(clock, options);
  const ran = keys.run(async (key) => {
    log.push(`${key}@${clock.now()}`);
    if (takes > 0) {
      await clock.sleep(takes);
      log.push(`/${key}@${clock.now()}`);
    }
  }, stop.signal);
  return {
    clock,
    log,
    keys,
    async end() {
      stop.abort();
      await clock.advance(takes);
      await ran;
    },
  };
}

test('a key asked for twice gets one turn, at the earlier time', async () => {
  const w = world();
  w.keys.add('a', 100);
  w.keys.add('a', 1000);
  w.keys.add('b', 1000);
  w.keys.add('b', 200);
  await w.clock.advance(5000);
  expect(w.log).toEqual(['a@100', 'b@200']);
  expect(w.keys.size).toBe(0);
  await w.end();
});

test('a key never has two turns at once, and what is asked during a turn gets the next one', async () => {
  const w = world({ parallel: 4 }, 50);
  w.keys.add('a');
  await w.clock.advance(10);
  w.keys.add('a');
  w.keys.add('a', 20);
  await w.clock.advance(500);
  expect(w.log).toEqual(['a@0', '/a@50', 'a@50', '/a@100']);
  await w.end();
});

test('no more than `parallel` turns run at once, and the rest follow in the order they asked', async () => {
  const w = world({ parallel: 2 }, 10);
  for (const key of ['a', 'b', 'c', 'd', 'e']) w.keys.add(key);
  await w.clock.advance(100);
  expect(w.log.filter((line) => !line.startsWith('/'))).toEqual(['a@0', 'b@0', 'c@10', 'd@10', 'e@20']);
  await w.end();
});

test('a long turn of one key does not keep another waiting', async () => {
  const clock = fakeClock();
  const log: string[] = [];
  const stop = new AbortController();
  const keys = queue<string>(clock, { parallel: 2 });
  const ran = keys.run(async (key) => {
    if (key === 'slow') await clock.sleep(10_000);
    log.push(`${key}@${clock.now()}`);
  }, stop.signal);
  keys.add('slow');
  keys.add('quick', 5);
  await clock.advance(20_000);
  expect(log).toEqual(['quick@5', 'slow@10000']);
  stop.abort();
  await ran;
});

test('a dropped key gets no turn', async () => {
  const w = world();
  w.keys.add('a', 100);
  w.keys.add('b', 100);
  w.keys.drop('a');
  await w.clock.advance(1000);
  expect(w.log).toEqual(['b@100']);
  await w.end();
});

test('no wait is longer than an hour, and none is negative', async () => {
  const w = world();
  w.keys.add('late', 1e12);
  w.keys.add('now', -50);
  await w.clock.advance(3_600_000);
  expect(w.log).toEqual(['now@0', 'late@3600000']);
  await w.end();
});

test('a turn that throws is reported, gets another turn later, and stops no neighbour', async () => {
  const clock = fakeClock();
  const bugs: string[] = [];
  const log: string[] = [];
  const stop = new AbortController();
  const keys = queue<string>(clock, { onBug: (error, key) => bugs.push(`${key}: ${String(error)}`) });
  const ran = keys.run(async (key) => {
    log.push(`${key}@${clock.now()}`);
    if (key === 'bad' && bugs.length === 0) throw new Error('bug: no such row');
  }, stop.signal);
  keys.add('bad');
  keys.add('good');
  await clock.advance(10_000);
  expect(bugs).toEqual(['bad: Error: bug: no such row']);
  expect(log).toEqual(['bad@0', 'good@0', 'bad@10000']);
  stop.abort();
  await ran;
});

test('without a place to report bugs to, a bug ends the run', async () => {
  const clock = fakeClock();
  const keys = queue<string>(clock);
  const ran = keys.run(async () => {
    throw new Error('bug: seen by nobody');
  }, new AbortController().signal);
  keys.add('a');
  await expect(ran).rejects.toThrow('seen by nobody');
});

test('a stopped queue waits for the turns under way and starts no other', async () => {
  const clock = fakeClock();
  const log: string[] = [];
  const stop = new AbortController();
  const keys = queue<string>(clock);
  const ran = keys
    .run(async (key) => {
      await clock.sleep(100);
      log.push(key);
    }, stop.signal)
    .then(() => log.push('stopped'));
  keys.add('a');
  keys.add('b');
  await clock.advance(10);
  stop.abort();
  await clock.advance(0);
  expect(log).toEqual([]);
  await clock.advance(90);
  await ran;
  expect(log).toEqual(['a', 'stopped']);
});

test('entries overtaken by earlier ones do not pile up and give no second turn', async () => {
  const w = world();
  for (let round = 0; round < 500; round++) {
    w.keys.add('a', 300_000);
    w.keys.add('a');
    await w.clock.advance(1);
  }
  expect(w.log.length).toBe(500);
  await w.clock.advance(400_000);
  expect(w.log.length).toBe(500);
  await w.end();
});

test('a heap gives back what it got, smallest first', () => {
  const numbers = [5, 3, 9, 1, 1, 8, -2, 7];
  const least = heap<number>((a, b) => a - b);
  for (const number of numbers) least.push(number);
  expect(numbers.map(() => least.pop())).toEqual(numbers.toSorted((a, b) => a - b));
  expect(least.pop()).toBeUndefined();
});
