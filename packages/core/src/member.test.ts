// What to write so that a pool's members match.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMemberPlanEmpty, memberName, membersAfter, planMembers, type Member } from './member.ts';

const member = (address: string, rest: Partial<Member> = {}): Member => ({
  address,
  port: 80,
  state: 'enabled',
  ...rest,
});
const a = member('10.0.0.1');
const draining = member('10.0.0.1', { state: 'draining' });

test.each<{ name: string; wanted: Member[]; found: Member[]; does: string }>([
  { name: 'wanted and not there: add', wanted: [a], found: [], does: '+10.0.0.1:80' },
  { name: 'wanted and same: leave', wanted: [a], found: [a], does: '' },
  { name: 'no ratio is ratio 1', wanted: [a], found: [{ ...a, ratio: 1 }], does: '' },
  { name: 'another state: change', wanted: [draining], found: [a], does: '~10.0.0.1:80' },
  { name: 'another ratio: change', wanted: [{ ...a, ratio: 2 }], found: [a], does: '~10.0.0.1:80' },
  { name: 'disabled by hand: leave', wanted: [a], found: [{ ...draining, byHand: 'disabled' }], does: '' },
  { name: 'not wanted: remove', wanted: [], found: [a], does: '-10.0.0.1:80' },
  {
    name: 'not wanted, though by hand: remove',
    wanted: [],
    found: [{ ...draining, byHand: 'offline' }],
    does: '-10.0.0.1:80',
  },
  { name: 'wanted twice: once', wanted: [a, a], found: [], does: '+10.0.0.1:80' },
  { name: 'IPv6 has the name of the trade', wanted: [member('2001:db8::1')], found: [], does: '+2001:db8::1.80' },
])('$name', ({ wanted, found, does }) => {
  const plan = planMembers(wanted, found);
  const said = [
    ...plan.add.map((one) => `+${memberName(one)}`),
    ...plan.change.map((one) => `~${memberName(one)}`),
    ...plan.remove.map((one) => `-${memberName(one)}`),
  ];
  expect(said.join(' ')).toBe(does);
});

test('a member plan carried out leaves nothing to do', () => {
  const members = fc.uniqueArray(
    fc.record({
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1'),
      port: fc.constantFrom(80, 81),
      state: fc.constantFrom('enabled' as const, 'draining' as const),
      ratio: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
    { selector: memberName },
  );
  fc.assert(
    fc.property(members, members, (wanted, found) => {
      const after = membersAfter(planMembers(wanted, found), found);
      expect(isMemberPlanEmpty(planMembers(wanted, after))).toBe(true);
    }),
  );
});
