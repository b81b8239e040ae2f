// The rules of address text: what is refused, and the one canonical way to write what is accepted.
import { expect, test } from 'vitest';
import {
  contains,
  covers,
  formatAddress,
  formatCidr,
  overlaps,
  parseAddress,
  parseAddressRange,
  parseCidr,
  type Cidr,
} from './addresses.ts';

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.value;
};

const canonical: [given: string, want: string][] = [
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['0.0.0.0', '0.0.0.0'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['::ffff:c000:201', '::ffff:192.0.2.1'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
];
for (const [given, want] of canonical) {
  test(`address ${given} is written ${want}`, () => {
    const parsed = parseAddress(given);
    expect(parsed.ok && formatAddress(parsed.value)).toBe(want);
  });
}

const refusedAddresses = [
  '', '10', '10.1', '10.0.0', '10.0.0.0.1', '10.0.0.01', '010.0.0.1', '256.0.0.1', '1.2.3.-4', ' 10.0.0.1', '10.0.0.1 ',
  '0x0a.0.0.1', '10.0.0.1%eth0', ':', ':::', '1:::2', '::1::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8',
  '12345::', 'g::1', 'fe80::1%eth0', '1.2.3.4::', '::1.2.3.4:5', '::1.2.3', '[::1]', ':1:2:3:4:5:6:7:8',
]; // prettier-ignore
for (const text of refusedAddresses) {
  test(`"${text}" is no address`, () => {
    const parsed = parseAddress(text, 'spec.veip');
    expect(parsed).toMatchObject({ ok: false, problem: { code: 'invalid', path: 'spec.veip' } });
  });
}

const refusedCidrs: [text: string, says: RegExp][] = [
  ['10.0.0.0/33', /prefix length of an IPv4 CIDR is 0 to 32/],
  ['2001:db8::/129', /prefix length of an IPv6 CIDR is 0 to 128/],
  ['10.0.0.5/24', /the network is 10\.0\.0\.0\/24/],
  ['2001:db8::5/64', /the network is 2001:db8::\/64/],
  ['10.0.0.0', /not a CIDR/],
  ['10.0.0.0/', /prefix length/],
  ['10.0.0.0/08', /prefix length/],
  ['10.0.0.0/-1', /prefix length/],
  ['10.0.0.0/8/8', /not a CIDR/],
  ['10.0.0/8', /not an IP address/],
];
for (const [text, says] of refusedCidrs) {
  test(`CIDR ${text} is refused and the message says why`, () => {
    const parsed = parseCidr(text);
    expect(!parsed.ok && parsed.problem.message).toMatch(says);
  });
}

test('a CIDR is written as it was read', () => {
  for (const text of ['0.0.0.0/0', '10.0.0.0/24', '192.0.2.1/32', '::/0', '2001:db8::/64', '::1/128']) {
    expect(formatCidr(cidr(text))).toBe(text);
  }
});

test('a range is an address, a CIDR, or two addresses in order', () => {
  const ends = (text: string) => {
    const range = parseAddressRange(text);
    if (!range.ok) return range.problem.code;
    const { family, first, last } = range.value;
    return [formatAddress({ family, value: first }), formatAddress({ family, value: last })];
  };
  expect(ends('10.0.0.1')).toEqual(['10.0.0.1', '10.0.0.1']);
  expect(ends('10.0.0.0/30')).toEqual(['10.0.0.0', '10.0.0.3']);
  expect(ends('10.0.0.1-10.0.0.9')).toEqual(['10.0.0.1', '10.0.0.9']);
  expect(ends('10.0.0.9-10.0.0.1')).toBe('invalid');
  expect(ends('10.0.0.1-::1')).toBe('invalid');
  expect(ends('10.0.0.1-10.0.0.2-10.0.0.3')).toBe('invalid');
});

test('containment is by family and number', () => {
  const inside = (range: string, text: string) => {
    const parsed = parseAddress(text);
    return parsed.ok && contains(cidr(range), parsed.value);
  };
  expect(inside('10.0.0.0/24', '10.0.0.0')).toBe(true);
  expect(inside('10.0.0.0/24', '10.0.0.255')).toBe(true);
  expect(inside('10.0.0.0/24', '10.0.1.0')).toBe(false);
  expect(inside('::/0', '10.0.0.1')).toBe(false);
  expect(overlaps(cidr('10.0.0.0/24'), cidr('10.0.0.128/25'))).toBe(true);
  expect(overlaps(cidr('10.0.0.0/25'), cidr('10.0.0.128/25'))).toBe(false);
  expect(overlaps(cidr('0.0.0.0/0'), cidr('::/0'))).toBe(false);
  expect(covers(cidr('10.0.0.0/23'), cidr('10.0.0.0/24'))).toBe(true);
  expect(covers(cidr('10.0.0.0/24'), cidr('10.0.0.0/23'))).toBe(false);
});
