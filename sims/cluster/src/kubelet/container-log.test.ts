import { expect, test } from 'vitest';
import { ContainerLog } from './container-log.ts';

test('the newest thousand lines are there at least, under the numbers they always had', () => {
  const log = new ContainerLog();
  for (let n = 0; n < 5_500; n += 1) log.append(n, `line ${n}`);
  const lines = log.from(0);
  expect(lines.length).toBeGreaterThanOrEqual(1000);
  expect(lines.length).toBeLessThanOrEqual(2000);
  expect(lines.at(-1)?.text).toBe('line 5499');
  expect(log.next).toBe(5_500);
  expect(log.from(5_498).map((line) => line.text)).toEqual(['line 5498', 'line 5499']);
  expect(log.from(5_500)).toEqual([]);
});

test.each([
  ['a line', (log: ContainerLog) => log.append(0, 'new')],
  ['the end', (log: ContainerLog) => log.end()],
  ['an abort', (_: ContainerLog, stop: AbortController) => stop.abort()],
])('who waits for a line is woken by %s', async (_, happens) => {
  const [log, stop] = [new ContainerLog(), new AbortController()];
  const reached = log.reached(0, stop.signal);
  happens(log, stop);
  await reached;
});
