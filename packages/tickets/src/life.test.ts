// The whole table of the life of a ticket, and the promises that hold on every way through it.
import { expect, test } from 'vitest';
import { events, states, step, type Effect, type Event, type State } from './life.ts';

// One row per state, one column per event: the state it leads to, and w(ithdraw) p(rogram) u(nprogram) r(elease).
const table = `
            allocated  refused   filed  opened     rejected  disable     enable     refile   cleared
  new       created    failed/r  -      -          -         -           -          -        deleted/r
  created   created/w  failed/wr apply  -          failed    disabled/w  -          -        -
  apply     -          -         -      enabled/p  failed    disabled/w  -          created/w  -
  enabled   -          -         -      -          -         disabled/u  -          -        -
  failed    created/w  failed/wr -      -          -         -           -          -        deleted/wr
  disabled  -          -         -      -          -         -           enabled/p  created/w  deleted/wr
  deleted   -          -         -      -          -         -           -          -        -
`;
const letters: Record<string, Effect> = { w: 'withdraw', p: 'program', u: 'unprogram', r: 'release' };
const [head = [], ...rows] = table.trim().split('\n').map((line) => line.trim().split(/\s+/)); // prettier-ignore

test('the table is drawn for every state and every event', () => {
  expect(head).toEqual(events);
  expect(rows.map(([state]) => state)).toEqual(states);
});

for (const [state, ...cells] of rows) {
  for (const [i, cell] of cells.entries()) {
    test(`${state} × ${head[i]} is ${cell}`, () => {
      const [to, effects = ''] = cell.split('/');
      const want = cell === '-' ? undefined : { to, effects: [...effects].map((letter) => letters[letter]) };
      expect(step(state as State, head[i] as Event)).toEqual(want);
    });
  }
}

const steps = states.flatMap((from) =>
  events.flatMap((event) => {
    const next = step(from, event);
    return next ? [{ from, event, ...next }] : [];
  }),
);

/** States that can be reached from `start`. */
function reach(start: State): Set<State> {
  const seen = new Set([start]);
  for (const from of seen) for (const next of steps) if (next.from === from) seen.add(next.to);
  return seen;
}

test('every state is reached from new, and every state leads to deleted', () => {
  expect([...reach('new')].sort()).toEqual([...states].sort());
  for (const state of states) expect(reach(state)).toContain('deleted');
});

test('a ticket is programmed exactly while it is enabled', () => {
  for (const { from, to, effects } of steps) {
    expect(effects.includes('program')).toBe(to === 'enabled' && from !== 'enabled');
    expect(effects.includes('unprogram')).toBe(from === 'enabled' && to !== 'enabled');
  }
});

test('addresses are released whenever a ticket is given up or refused, and at no other time', () => {
  for (const { event, effects } of steps)
    expect(effects.includes('release')).toBe(event === 'cleared' || event === 'refused');
});

test('an enabled ticket gives its addresses up only by way of disabled', () => {
  expect(steps.filter(({ from }) => from === 'enabled').map(({ to }) => to)).toEqual(['disabled']);
});

test('a state that may have an application withdraws it before it is lost', () => {
  for (const { from, to, event, effects } of steps) {
    const lost = to === 'deleted' || (to === 'created' && from !== 'new');
    if (lost && from !== 'new') expect([from, event, effects.includes('withdraw')]).toEqual([from, event, true]);
  }
});
