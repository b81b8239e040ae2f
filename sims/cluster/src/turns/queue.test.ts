import { expect, test } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import type { Next } from './queue.ts';
import { queue } from './queue.ts';
import { timers } from './timers.ts';

function setup(turn: (key: string) => Promise<Next>, width = 8) {
  const clock = fakeClock();
  const start = clock.now();
  const lines: string[] = [];
  const alarm = timers(clock);
  const q = queue({ name: 'q', timers: alarm, turn, width, log: (line) => lines.push(line) });
  return { clock, q, lines, alarm, since: () => clock.now() - start };
}

const done: Next = { after: 'change' };

test('a key added many times while it has its turn gets one more, after it', async () => {
  const turns: string[] = [];
  const { clock, q } = setup(async (key) => {
    turns.push(`${key} begins`);
    await clock.sleep(50);
    turns.push(`${key} ends`);
    return done;
  });
  q.open();
  q.add('a');
  q.add('a');
  q.add('a');
  await clock.advance(500);
  expect(turns).toEqual(['a begins', 'a ends', 'a begins', 'a ends']);
});

test('no more turns at once than the width', async () => {
  let now = 0;
  let most = 0;
  const { clock, q } = setup(async () => {
    most = Math.max(most, (now += 1));
    await clock.sleep(10);
    now -= 1;
    return done;
  }, 3);
  for (let i = 0; i < 10; i += 1) q.add(`k${i}`);
  expect(most).toBe(0);
  q.open();
  await clock.advance(100);
  expect([most, now]).toEqual([3, 0]);
});

test('a turn that asks for another time gets it, and a change before then comes first', async () => {
  const turns: number[] = [];
  const { clock, q, since } = setup(async () => {
    turns.push(since());
    return { after: 1000 };
  });
  q.open();
  q.add('a');
  await clock.advance(2500);
  q.add('a');
  await clock.advance(600);
  expect(turns).toEqual([0, 1000, 2000, 2500]);
});

test('a failing turn is tried again, each time later, and told of when it lasts', async () => {
  const turns: number[] = [];
  const { clock, q, since, lines } = setup(async () => {
    turns.push(since());
    return turns.length < 6 ? { problem: { status: 500, reason: 'x', message: 'no' } } : done;
  });
  q.open();
  q.add('a');
  await clock.advance(10_000);
  expect(turns).toEqual([0, 5, 15, 35, 75, 155]);
  expect(lines).toEqual(['q a: no (try 4)', 'q a: no (try 5)']);
});

test('a bug in one turn is told, and other keys go on', async () => {
  const turns: string[] = [];
  const { clock, q, lines } = setup(async (key) => {
    if (key === 'bad' && lines.length === 0) throw new Error('oh');
    turns.push(key);
    return done;
  });
  q.open();
  q.add('bad');
  q.add('good');
  await clock.advance(1000);
  expect(turns).toEqual(['good', 'bad']);
  expect(lines[0]).toContain('bug: Error: oh');
});

test('timers ring in order, an earlier one set later first, a cancelled one never', async () => {
  const { clock, alarm, since } = setup(async () => done);
  const rung: string[] = [];
  const at = (name: string, ms: number) => alarm.after(ms, () => rung.push(`${name}@${since()}`));
  at('c', 300);
  const never = at('never', 150);
  await clock.advance(50);
  at('a', 50);
  at('b', 200);
  never.cancel();
  await clock.advance(1000);
  expect(rung).toEqual(['a@100', 'b@250', 'c@300']);
});

test('after a rest a change is seen at once; during it, many changes cost one turn at its end', async () => {
  const turns: number[] = [];
  const { clock, q, since } = setup(async () => {
    turns.push(since());
    await clock.sleep(10);
    return { after: 'change', rest: 100 };
  });
  q.open();
  q.add('a');
  await clock.advance(5);
  q.add('a');
  for (let i = 0; i < 5; i += 1) {
    await clock.advance(15);
    q.add('a');
  }
  expect(turns).toEqual([0]);
  await clock.advance(1000);
  expect(turns).toEqual([0, 110]);
  q.add('a');
  expect(turns).toEqual([0, 110, 1080]);
});
