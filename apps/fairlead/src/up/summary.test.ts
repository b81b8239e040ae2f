import { expect, test } from 'vitest';
import { splitFailures, summaryLines } from './summary.ts';

const answers = (counts: Record<string, number>, wrong: [string, number][] = []) => ({ counts, wrong: new Map(wrong) });
const weights = { svc01: 60, svc02: 40 };

test('a split near its weights holds', () => {
  expect(splitFailures('outside', answers({ svc01: 1205, svc02: 795 }), weights, 2000)).toEqual([]);
});

test.each([
  ['a share too far from its weight', answers({ svc01: 1400, svc02: 600 }), 'svc01 got 70.0 %'],
  [
    'an answer from a Service that is not in the rule',
    answers({ svc01: 1200, svc02: 798, svc03: 2 }),
    '2 requests went to svc03',
  ],
  [
    'requests without an answer',
    answers({ svc01: 1199, svc02: 799 }, [['ECONNRESET', 2]]),
    '2 of 2000 requests got no answer (ECONNRESET ×2)',
  ],
  ['no answer at all', answers({}), 'svc02 got 0.0 %'],
])('%s is a failure', (_, got, words) => {
  expect(splitFailures('outside', got, weights, 2000).join('; ')).toContain(words);
});

test('the summary for people names tickets, splits, the device and what failed', () => {
  const text = summaryLines({
    ok: false,
    seconds: 3,
    tickets: [{ name: 'default/test', process: 'enabled', veip: '20.1.0.10', ltmip: '10.0.0.1' }],
    split: { outside: { svc01: 6, svc02: 4 }, inside: {} },
    tcp: { ok: false },
    device: { declarations: 1, memberWrites: 12 },
    urls: { VE: 'http://127.0.0.1:1' },
    failures: ['x'],
  }).join('\n');
  for (const words of [
    'default/test',
    '20.1.0.10',
    'svc01 6 (60.0 %)',
    'does not answer',
    '12 member writes',
    'FAILED',
  ])
    expect(text).toContain(words);
});
