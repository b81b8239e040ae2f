// The condition DeviceReachable: a table over what is known of the VE and of the LTM.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { deviceFact, nextForDevice } from './device-fact.ts';
import type { DeviceState } from './outage.ts';
import { lb } from './testing/objects.ts';
import { toldSurroundings } from './testing/surroundings.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const outage = (age: number, code: 'unreachable' | 'denied' = 'unreachable'): DeviceState => ({
  problem: { code, message: 'why' },
  since: now - age,
});
const [away, fresh] = [outage(10_000), outage(4_000)];

function desk(ve: DeviceState, ltm: DeviceState) {
  const surroundings = toldSurroundings();
  surroundings.devicesAre({ ve, ltm }, 'demo');
  return { surroundings, clock: fakeClock(now) };
}

test.each<[ve: DeviceState, ltm: DeviceState, want: string]>([
  ['reachable', 'external', 'True Connected'],
  ['reachable', 'reachable', 'True Connected'],
  ['reachable', 'pending', 'as it was'],
  ['reachable', fresh, 'as it was'],
  ['reachable', away, 'False unreachable LTM'],
  ['reachable', outage(0, 'denied'), 'False denied LTM'],
  ['pending', 'reachable', 'as it was'],
  ['pending', away, 'False unreachable LTM'],
  ['external', 'external', 'Unknown External'],
  ['external', 'reachable', 'Unknown External'],
  ['external', 'pending', 'as it was'],
  ['external', away, 'False unreachable LTM'],
  [away, 'external', 'False unreachable VE'],
  [away, 'pending', 'False unreachable VE'],
  [away, 'reachable', 'False unreachable VE'],
  [away, outage(0, 'denied'), 'False unreachable VE LTM'],
  [fresh, 'reachable', 'as it was'],
  [fresh, away, 'False unreachable LTM'],
])('VE %j, LTM %j: %s', (ve, ltm, want) => {
  const fact = deviceFact(desk(ve, ltm), lb());
  const named = fact?.message.match(/the (VE 200\.1\.1\.1|LTM http:\/\/100\.1\.1\.1\/api)/g) ?? [];
  const devices = named.map((text) => text.split(' ')[1]);
  expect(fact ? [fact.status, fact.reason, ...devices].join(' ') : 'as it was').toBe(want);
});

test('the next look is when the first outage becomes news', () => {
  expect(nextForDevice(desk(fresh, outage(1_000)), 'demo')).toEqual({ after: 6_000 });
  expect(nextForDevice(desk('reachable', outage(1_000)), 'demo')).toEqual({ after: 9_000 });
  expect(nextForDevice(desk(away, 'external'), 'demo')).toEqual({ after: 'change' });
});

test('where nobody tells of devices the condition stays as it is', () => {
  expect(deviceFact({ surroundings: undefined, clock: fakeClock(now) }, lb())).toBeUndefined();
});
