import { filled, lbcanaries, type Lbcanary, type LbcanaryStatus } from '@fairlead/api';
import { expect, test } from 'vitest';
import { lines, news, table } from './canary-text.ts';

const canary = (status?: LbcanaryStatus, spec: Partial<Lbcanary['spec']> = {}): Lbcanary =>
  filled(lbcanaries, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Lbcanary',
    metadata: { name: 'next', namespace: 'shop' },
    spec: { lbticket: 'web', listner: 'front', service: 'v2', port: 8080, ...spec } as Lbcanary['spec'],
    ...(status ? { status } : {}),
  });

const at = (seconds: number) =>
  new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000).toISOString().slice(0, 19) + 'Z';
const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at(0),
});
const begun: LbcanaryStatus = {
  phase: 'baseline',
  step: 0,
  history: [{ when: at(0), to: 'baseline', why: 'watching' }],
};
const shifting: LbcanaryStatus = {
  phase: 'shifting',
  step: 2,
  weight: 20,
  since: at(60),
  measured: { requests: 100, errors: 1, canaryRequests: 20 },
  history: [...(begun.history ?? []), { when: at(60), from: 'baseline', to: 'shifting 20 %', why: 'no worse' }],
  conditions: [
    condition('Accepted', 'True', 'Accepted', ''),
    condition('Healthy', 'True', 'NoWorse', '2 of 2 members'),
  ],
};

test('one canary, with its figures and its history', () => {
  expect(lines(canary(shifting, { lbrule: 'beta' }), Date.parse(at(95)))).toEqual([
    'canary   shop/next: rule beta on listner front of ticket web, to Service v2 port 8080',
    'phase    shifting 20 %, for 35 s of 60s',
    'steps    5 % [20 %] 50 % 100 %, 60s each',
    'counted  20 requests to the canary, 100 in all, 1 failed',
    'healthy  2 of 2 members',
    '2026-01-01T00:00:00Z  baseline        watching',
    '2026-01-01T00:01:00Z  shifting 20 %   no worse',
  ]);
});

test('a new one, by hand and paused', () => {
  expect(lines(canary(undefined, { mode: 'manual', state: 'paused' }), 0)).toEqual([
    'canary   shop/next: listner front of ticket web, to Service v2 port 8080',
    'phase    pending, paused',
    'steps    5 % 20 % 50 % 100 %, by hand',
  ]);
});

test('all of them, as a table', () => {
  expect(table([canary(shifting), canary()])).toEqual([
    'NAME       LISTNER    CANARY   PHASE          HEALTHY',
    'shop/next  web/front  v2:8080  shifting 20 %  True',
    'shop/next  web/front  v2:8080  pending',
  ]);
  expect(table([])).toHaveLength(1);
});

test('news are what was not told before: history lines, and what stands in the way', () => {
  expect(news(undefined, canary(begun))).toEqual(['2026-01-01T00:00:00Z  baseline        watching']);
  expect(news(canary(begun), canary(shifting))).toEqual(['2026-01-01T00:01:00Z  shifting 20 %   no worse']);
  expect(news(canary(shifting), canary(shifting))).toEqual([]);
  const unreadable = { ...shifting, conditions: [condition('Measured', 'False', 'unreachable', 'no answer')] };
  expect(news(canary(shifting), canary(unreadable))).toEqual(['measured unreachable: no answer']);
  expect(news(canary(unreadable), canary(unreadable))).toEqual([]);
});

test('history that has lost its oldest lines is told from where it was left', () => {
  const long = {
    ...shifting,
    history: [
      { when: at(60), to: 'shifting 20 %', why: 'no worse' },
      { when: at(120), to: 'aborted', why: 'worse' },
    ],
  };
  expect(news(canary(shifting), canary(long))).toEqual(['2026-01-01T00:02:00Z  aborted         worse']);
});
