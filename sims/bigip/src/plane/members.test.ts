// Which member gets the next connection: by turn, by ratio, by load, by priority and within limits.
import { expect, test } from 'vitest';
import { identity, type Member, type Pool } from '../configuration/object.ts';
import { Configuration } from '../configuration/store.ts';
import { Members } from './members.ts';

function makeMember(name: string, more: Partial<Member> = {}): Member {
  const at = identity(`/P/${name}:80`);
  return {
    ...at,
    address: name,
    port: 80,
    ratio: 1,
    priorityGroup: 0,
    connectionLimit: 0,
    session: 'user-enabled',
    state: 'user-up',
    ...more,
  };
}

function makePool(loadBalancingMode: string, members: Member[], minActiveMembers = 0): Pool {
  return { ...identity('/P/pool'), loadBalancingMode, members, minActiveMembers };
}

const a = makeMember('10.0.0.1');
const b = makeMember('10.0.0.2');
const c = makeMember('10.0.0.3');
const letter = (member: Member | undefined) =>
  ({ '10.0.0.1': 'a', '10.0.0.2': 'b', '10.0.0.3': 'c' })[member?.address ?? ''] ?? '-';
const picks = (members: Members, pool: Pool, count: number) =>
  Array.from({ length: count }, () => letter(members.pick(pool))).join('');

const rows: [rule: string, pool: Pool, picks: string][] = [
  ['by turn', makePool('round-robin', [a, b, c]), 'abcabc'],
  ['by turn, whatever the ratio', makePool('round-robin', [{ ...a, ratio: 9 }, b]), 'abab'],
  ['by ratio, spread out', makePool('ratio-member', [{ ...a, ratio: 5 }, b, c]), 'aabacaaaabacaa'],
  ['ratio 0 gets nothing', makePool('ratio-member', [{ ...a, ratio: 0 }, b]), 'bbb'],
  [
    'all of ratio 0 share',
    makePool('ratio-member', [
      { ...a, ratio: 0 },
      { ...b, ratio: 0 },
    ]),
    'abab',
  ],
  ['not to the disabled', makePool('round-robin', [{ ...a, session: 'user-disabled' }, b]), 'bb'],
  ['not to those forced down', makePool('round-robin', [{ ...a, state: 'user-down' }, b]), 'bb'],
  ['to nobody when there is none', makePool('round-robin', []), '-'],
  ['to the higher priority while it is enough', makePool('round-robin', [{ ...a, priorityGroup: 10 }, b], 1), 'aaa'],
  ['to the lower too when it is not', makePool('round-robin', [{ ...a, priorityGroup: 10 }, b], 2), 'abab'],
];

test.each(rows)('%s', (_, pool, expected) => {
  expect(picks(new Members(new Configuration()), pool, expected.length)).toBe(expected);
});

test('least connections goes to the idler member, weighed by ratio when asked', () => {
  const members = new Members(new Configuration());
  const pool = makePool('least-connections-member', [a, b]);
  const release = members.open(pool, a, () => undefined);
  expect(picks(members, pool, 2)).toBe('bb');
  release();
  expect(picks(members, pool, 2)).toBe('ab');
  const weighed = makePool('ratio-least-connections-member', [{ ...a, ratio: 3 }, b]);
  members.open(pool, a, () => undefined);
  members.open(pool, b, () => undefined);
  expect(picks(members, weighed, 1)).toBe('a');
});

test('a member at its limit takes nothing until a connection ends', () => {
  const members = new Members(new Configuration());
  const limited = { ...a, connectionLimit: 1 };
  const pool = makePool('round-robin', [limited]);
  const release = members.open(pool, limited, () => undefined);
  expect(members.pick(pool)).toBeUndefined();
  release();
  expect(letter(members.pick(pool))).toBe('a');
});

test('a member that its monitors found down takes nothing, not even a persisted connection', () => {
  const members = new Members(new Configuration());
  const pool = { ...makePool('round-robin', [a, b]), monitor: '/Common/tcp' };
  members.setStatus(pool, a, 'down');
  expect(picks(members, pool, 2)).toBe('bb');
  expect(members.takes(pool, a, true)).toBe(false);
  expect(members.status(pool, a)).toMatchObject({ state: 'down', session: 'monitor-enabled' });
});

test('removing a member ends its connections and forgets it', () => {
  const members = new Members(new Configuration());
  const pool = makePool('round-robin', [a]);
  let resets = 0;
  members.open(pool, a, () => (resets += 1));
  members.open(pool, a, () => (resets += 1));
  expect(members.remove(pool.fullPath, a)).toBe(2);
  expect(resets).toBe(2);
  expect(members.status(pool, a)).toMatchObject({ connections: 0, total: 0 });
});
