import type { Lbcanary } from '@fairlead/api';
import { applicationName } from '@fairlead/as3';
import { choose } from '@fairlead/core';
import { expect, test } from 'vitest';
import { applications } from '../model.ts';
import { canary, lb, listner, rule, ticket } from '../testing/objects.ts';
import { shiftedServices } from './weights.ts';

const svc = (service: string, weight: number) => ({ service, port: 8080, weight });
const at = (weight: number | undefined, spec = {}): Lbcanary => ({
  ...canary('c', spec),
  status: weight === undefined ? {} : { phase: 'shifting', weight },
});

test.each([
  ['a share of 20', [svc('svc01', 100), svc('svc02', 0)], 20, [80, 20]],
  ['everything', [svc('svc01', 60), svc('svc02', 40)], 100, [0, 100]],
  ['nothing', [svc('svc01', 60), svc('svc02', 40)], 0, [100, 0]],
  ['others in their proportion, in the order given', [svc('svc02', 5), svc('a', 60), svc('b', 40)], 50, [50, 30, 20]],
  ['others whose parts do not come out even', [svc('a', 1), svc('b', 1), svc('svc02', 0)], 5, [48, 47, 5]],
  ['no share set', [svc('svc01', 60), svc('svc02', 40)], undefined, [60, 40]],
  ['a canary that is not in the list', [svc('svc01', 60), svc('svc03', 40)], 20, [60, 40]],
  ['nothing but the canary', [svc('svc02', 40)], 20, [40]],
  ['others that get nothing', [svc('svc01', 0), svc('svc02', 40)], 20, [0, 40]],
])('%s', (_, services, share, want) => {
  expect(shiftedServices(services, at(share)).map(({ weight }) => weight)).toEqual(want);
});

const web = { ...listner(80), services: [svc('svc01', 100), svc('svc02', 0)] };
const addressed = ticket('test', { listners: [web], veip: '20.1.0.10' });
const onRule = rule('beta', { services: [svc('svc03', 100), svc('svc02', 0)] });
const poolsOf = (canaries: Lbcanary[]) => {
  const made = applications({ loadbalancer: lb(), ticket: addressed, rules: [onRule], canaries });
  if (!made.ok) throw new Error(made.problem.message);
  const [listener] = made.value[0]?.listeners ?? [];
  const weights = (pools: { pool: string; weight: number }[] = []) => pools.map(({ weight }) => weight);
  expect(made.value[0]?.key).toBe(`acp-region01/${applicationName('shop', 'http')}`);
  return { listener, own: weights(listener?.pools), rule: weights(listener?.routes[0]?.pools) };
};

test('a canary shifts its listner or its rule, and nothing else', () => {
  expect(poolsOf([])).toMatchObject({ own: [100, 0], rule: [100, 0] });
  expect(poolsOf([at(20)])).toMatchObject({ own: [80, 20], rule: [100, 0] });
  expect(poolsOf([at(20, { lbrule: 'beta' })])).toMatchObject({ own: [100, 0], rule: [80, 20] });
  expect(poolsOf([at(20, { listner: 'other' })])).toMatchObject({ own: [100, 0], rule: [100, 0] });
  const ended: Lbcanary = { ...at(20), status: { phase: 'aborted', weight: 20 } };
  expect(poolsOf([ended])).toMatchObject({ own: [100, 0] });
});

test('the share is what requests of many clients measure', () => {
  const { listener } = poolsOf([at(20)]);
  if (!listener) throw new Error('no listener');
  let hits = 0;
  for (let i = 0; i < 5000; i += 1) {
    const choice = choose(listener, { client: `10.1.${i >> 8}.${i & 255}`, uri: '/', headers: [] }, () => true);
    if (choice.ok && choice.value.pool === 'svc02_8080_pool') hits += 1;
  }
  expect(hits / 5000).toBeGreaterThan(0.18);
  expect(hits / 5000).toBeLessThan(0.22);
});
