// What a Loadbalancer lists of its addresses when there are more than its status can hold.
import type { LoadbalancerIp } from '@fairlead/api';
import { expect, test } from 'vitest';
import { addressList } from './address-list.ts';

const ip = (n: number, status: LoadbalancerIp['status'] = 'bond'): LoadbalancerIp => ({
  veip: `20.1.${n >> 8}.${n & 255}`,
  ltmip: `10.0.${n >> 8}.${n & 255}`,
  status,
  ticket: `project/t${n}`,
});

const rows: [rule: string, held: number[], resting: number[], want: string][] = [
  ['all fit: in the order of addresses', [10, 9], [2], '2q 9 10'],
  ['too many: the first by address, and how many more', [5, 4, 3, 2, 1], [], '1 2 3 +2'],
  ['what rests comes first, and nothing of it is lost for what is held', [1, 2, 3], [9, 8], '1 8q 9q +2'],
  ['of too many that rest, those that began first', [1], [9, 8, 7, 6], '7q 8q 9q +2'],
];
for (const [rule, held, resting, want] of rows)
  test(rule, () => {
    const { ips, moreIps } = addressList(
      held.map((n) => ip(n)),
      resting.map((n) => ip(n, 'quarantine')),
      3,
    );
    const listed = ips.map(({ veip, status }) => `${veip.split('.')[3]}${status === 'quarantine' ? 'q' : ''}`);
    expect([...listed, ...(moreIps === undefined ? [] : [`+${moreIps}`])].join(' ')).toBe(want);
  });

test('twenty thousand tickets with names of the greatest length are a status that an API server keeps', () => {
  const address = 'fd00:ffff:ffff:ffff:ffff:ffff:255.255.255.255';
  const long: LoadbalancerIp = { veip: address, ltmip: address, status: 'quarantine', ticket: 'x'.repeat(317) };
  const rest = { ...long, until: '2026-01-01T00:00:00Z' };
  const times = (count: number, ip: LoadbalancerIp) => Array.from({ length: count }, () => ip);
  const list = addressList(times(20_000, long), times(3000, rest));
  expect(list.moreIps).toBe(21_000);
  expect(JSON.stringify(list).length).toBeLessThan(1_200_000);
});
