import { refusal } from '@fairlead/core';
import { expect, test } from 'vitest';
import { statusText } from './report.ts';

test('objects carry problems in English alone', () => {
  const problem = refusal('invalid', { en: 'not so', zh: '不行' }, 'spec.a');
  const origin = {
    kind: 'ConfigMap',
    created: 0,
    cluster: 'east',
    namespace: 'shop',
    name: 'fairlead-demo',
    uid: 'u',
    revision: 'r1',
  };
  const placed = { key: 'shop/app', problem };
  const text = statusText({
    origin,
    settled: true,
    problem,
    applications: new Map([['shop/app', { placed, pools: new Map() }]]),
  });
  const said = { code: 'invalid', message: 'not so', path: 'spec.a' };
  expect(JSON.parse(text)).toEqual({
    revision: 'r1',
    problem: said,
    applications: { app: { ok: false, ...said } },
  });
});
