// The rules of giving out addresses: one holder each, lowest first, reserved ones never, and cheap at any size.
import { expect, test } from 'vitest';
import { addressPool, type AddressPool } from './address-pool.ts';

function pool(cidr: string, options: { exclude?: string[]; taken?: [string, string][] } = {}): AddressPool {
  const made = addressPool({ cidr, exclude: options.exclude ?? [], taken: options.taken ?? [] });
  if (!made.ok) throw new Error(made.problem.message);
  return made.value;
}

const takeAll = (from: AddressPool): string[] => {
  const given: string[] = [];
  for (let i = 0; ; i += 1) {
    const taken = from.take(`t${i}`);
    if (!taken.ok) return given;
    given.push(taken.value);
  }
};

const whole: [cidr: string, exclude: string[], want: string[]][] = [
  ['10.0.0.0/29', [], ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']],
  ['10.0.0.0/30', ['10.0.0.1'], ['10.0.0.2']],
  ['10.0.0.0/31', [], ['10.0.0.0', '10.0.0.1']],
  ['10.0.0.7/32', [], ['10.0.0.7']],
  ['2001:db8::/126', [], ['2001:db8::1', '2001:db8::2', '2001:db8::3']],
  ['2001:db8::/127', [], ['2001:db8::', '2001:db8::1']],
  ['10.0.0.0/29', ['10.0.0.2-10.0.0.4'], ['10.0.0.1', '10.0.0.5', '10.0.0.6']],
  ['10.0.0.0/29', ['10.0.0.4/30', '10.0.0.0/31'], ['10.0.0.2', '10.0.0.3']],
  ['10.0.0.0/29', ['10.0.0.3', '10.0.0.1-10.0.0.5', '10.0.0.2'], ['10.0.0.6']],
  ['10.0.0.0/29', ['192.0.2.0/24'], ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']],
  ['10.0.0.0/29', ['10.0.0.0/8'], []],
];
for (const [cidr, exclude, want] of whole) {
  test(`${cidr} without [${exclude.join(', ')}] gives ${want.length} addresses, lowest first`, () => {
    const made = pool(cidr, { exclude });
    expect(made.capacity()).toEqual({ total: want.length, used: 0 });
    expect(takeAll(made)).toEqual(want);
    expect(made.take('late')).toMatchObject({ ok: false, problem: { code: 'exhausted' } });
  });
}

test('a requested address is given, or the refusal names the holder', () => {
  const made = pool('10.0.0.0/24', { exclude: ['10.0.0.9'], taken: [['10.0.0.5', 'project/old']] });
  expect(made.take('project/new', '10.0.0.7')).toEqual({ ok: true, value: '10.0.0.7' });
  expect(made.take('project/new', '10.0.0.7')).toEqual({ ok: true, value: '10.0.0.7' });
  const refused = (address: string) => {
    const taken = made.take('project/new', address);
    return taken.ok ? 'given' : taken.problem;
  };
  expect(refused('10.0.0.5')).toMatchObject({ code: 'taken', message: expect.stringContaining('project/old') });
  expect(refused('10.0.1.5')).toMatchObject({ code: 'invalid', message: '10.0.1.5 is not in 10.0.0.0/24' });
  for (const reserved of ['10.0.0.0', '10.0.0.255', '10.0.0.9', 'nonsense', '::1'])
    expect(refused(reserved)).toMatchObject({ code: 'invalid' });
});

test('an address that comes free is given before higher ones, whoever asked for it in between', () => {
  const made = pool('10.0.0.0/29');
  for (const holder of ['a', 'b', 'c', 'd']) made.take(holder);
  expect(made.release('10.0.0.3', 'c')).toBe(true);
  expect(made.release('10.0.0.2', 'b')).toBe(true);
  expect(made.take('e', '10.0.0.2')).toMatchObject({ ok: true });
  expect(made.release('10.0.0.2', 'e')).toBe(true);
  expect(made.take('f')).toEqual({ ok: true, value: '10.0.0.2' });
  expect(made.take('g')).toEqual({ ok: true, value: '10.0.0.3' });
  expect(made.take('h')).toEqual({ ok: true, value: '10.0.0.5' });
});

test('only the holder frees an address', () => {
  const made = pool('10.0.0.0/29', { taken: [['10.0.0.1', 'a']] });
  expect(made.release('10.0.0.1', 'b')).toBe(false);
  expect(made.release('10.0.0.2', 'b')).toBe(false);
  expect(made.holderOf('10.0.0.1')).toBe('a');
  expect(made.capacity().used).toBe(1);
});

test('addresses are compared by number, not by text', () => {
  const made = pool('2001:db8::/64', { taken: [['2001:DB8:0::1', 'a']] });
  expect(made.holderOf('2001:db8::1')).toBe('a');
  expect(made.take('b', '2001:db8:0:0::1')).toMatchObject({ ok: false, problem: { code: 'taken' } });
  expect(made.take('b')).toEqual({ ok: true, value: '2001:db8::2' });
});

test('of two holders of one address the first keeps it, and holders outside the CIDR keep theirs', () => {
  const made = pool('10.0.0.0/29', { taken: [['10.0.0.1', 'old'], ['10.0.0.1', 'young'], ['192.0.2.1', 'far']] }); // prettier-ignore
  expect(made.holderOf('10.0.0.1')).toBe('old');
  expect(made.holderOf('192.0.2.1')).toBe('far');
  expect(made.take('far', '192.0.2.1')).toEqual({ ok: true, value: '192.0.2.1' });
  expect(made.capacity()).toEqual({ total: 6, used: 1 });
  expect(made.release('192.0.2.1', 'far')).toBe(true);
  expect(made.take('far', '192.0.2.1')).toMatchObject({ ok: false, problem: { code: 'invalid' } });
  expect(made.capacity()).toEqual({ total: 6, used: 1 });
});

test('what somebody has is noted wherever it lies, and never taken from the present holder', () => {
  const made = pool('10.0.0.0/29');
  expect(made.hold('a', '10.0.0.1')).toBe('a');
  expect(made.hold('b', '10.0.0.1')).toBe('a');
  expect(made.hold('b', '192.0.2.9')).toBe('b');
  expect(made.hold('b', 'nonsense')).toBeUndefined();
  expect(made.capacity().used).toBe(1);
  expect(made.take('c')).toEqual({ ok: true, value: '10.0.0.2' });
});

test('a bad CIDR, a bad exclusion and one of the other family are refused with their place', () => {
  const problem = (cidr: string, exclude: string[]) => {
    const made = addressPool({ cidr, exclude, taken: [] });
    return made.ok ? undefined : made.problem.path;
  };
  expect(problem('10.0.0.0/33', [])).toBe('cidr');
  expect(problem('10.0.0.0/24', ['10.0.0.1', 'x'])).toBe('exclude[1]');
  expect(problem('10.0.0.0/24', ['::1'])).toBe('exclude[0]');
});

test('a /64 is never enumerated: the first, a requested far one and the capacity cost nothing', () => {
  const made = pool('2001:db8::/64', { exclude: ['2001:db8::/80'] });
  expect(made.take('a')).toEqual({ ok: true, value: '2001:db8:0:0:1::' });
  expect(made.take('b', '2001:db8::ffff:ffff:ffff:ffff')).toMatchObject({ ok: true });
  expect(made.capacity()).toEqual({ total: Number.MAX_SAFE_INTEGER, used: 2 });
});

test('all of a /16 is given out, freed and given again, each address once', () => {
  const made = pool('10.0.0.0/16');
  const first = takeAll(made);
  expect(new Set(first).size).toBe(65_534);
  for (const [i, address] of first.entries()) if (i % 2 === 0) made.release(address, `t${i}`);
  expect(made.capacity().used).toBe(32_767);
  expect(takeAll(made)).toEqual(first.filter((_, i) => i % 2 === 0));
});
