import { expect, test } from 'vitest';
import type { TurnKey } from './desk.ts';
import { wakeConfigMap, wakeConfigMapNow, wakeGathered, wakeLoadbalancer } from './wake.ts';

/** What was asked for, as `key after milliseconds`. */
function desk(isBusy: boolean) {
  const asked: string[] = [];
  const add = (key: TurnKey, delay = 0) => void asked.push(`${key} after ${delay}`);
  return { asked, queue: { add } as never, isBusy: () => isBusy, gathered: new Set<TurnKey>() };
}

test('with little to do a ConfigMap has its turn at once', () => {
  const calm = desk(false);
  wakeConfigMap(calm, 'lb/shop');
  wakeLoadbalancer(calm, 'lb');
  expect(calm.asked).toEqual(['configmap lb/shop after 0', 'loadbalancer lb after 100']);
});

test('with much to do it waits until the tickets have come to rest, and a minute at most', () => {
  const busy = desk(true);
  for (let i = 0; i < 3; i += 1) wakeConfigMap(busy, 'lb/shop');
  expect(new Set(busy.asked)).toEqual(new Set(['configmap lb/shop after 60000']));
  busy.asked.length = 0;
  wakeConfigMapNow(busy, 'lb/shop');
  expect(busy.asked.splice(0)).toEqual(['configmap lb/shop after 0']);
  wakeGathered(busy);
  wakeGathered(busy);
  expect(busy.asked).toEqual(['configmap lb/shop after 0']);
});
