import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressPool } from './addresses.ts';

test('every address of the block is given once, and never .0 or .255', () => {
  const pool = addressPool('127.21.0.0/22');
  const taken = new Set<string>();
  for (let ip = pool.take('a'); ip; ip = pool.take('a')) taken.add(ip);
  expect(taken.size).toBe(pool.capacity);
  expect([...taken].filter((ip) => /\.(0|255)$/.test(ip))).toEqual([]);
  expect([...taken].every((ip) => /^127\.21\.[0-3]\./.test(ip))).toBe(true);
});

test('nodes have addresses that no pod gets', () => {
  const pool = addressPool('127.21.0.0/24');
  const nodes = [pool.node(0), pool.node(14)];
  expect(nodes).toEqual(['127.21.0.1', '127.21.0.15']);
  expect(() => pool.node(15)).toThrow('no room for node 16');
  expect(pool.take('a')).toBe('127.21.0.16');
});

test('a freed address rests until all others were used, then the oldest comes first', () => {
  const pool = addressPool('127.21.0.0/28');
  const all = Array.from({ length: pool.capacity }, (_, i) => pool.take(`pod-${i}`)!);
  expect(pool.take('late')).toBeUndefined();
  pool.release(all[5]!, 'pod-5');
  pool.release(all[2]!, 'pod-2');
  expect([pool.take('x'), pool.take('y'), pool.take('z')]).toEqual([all[5], all[2], undefined]);
});

test('a claimed address is never given to another, and a release by a stranger changes nothing', () => {
  const pool = addressPool('127.21.0.0/24');
  expect(pool.claim('127.21.0.17', 'old')).toBe(true);
  expect(pool.claim('127.21.0.17', 'other')).toBe(false);
  expect(pool.claim('127.21.0.1', 'old')).toBe(false);
  expect(pool.claim('127.22.0.17', 'old')).toBe(false);
  expect(pool.claim('127.21.0.255', 'old')).toBe(false);
  pool.release('127.21.0.17', 'other');
  expect([pool.take('a'), pool.take('b')]).toEqual(['127.21.0.16', '127.21.0.18']);
});

test('whatever is taken, claimed and released, no address has two owners', () => {
  const step = fc.record({ what: fc.constantFrom('take', 'claim', 'release'), n: fc.integer({ min: 0, max: 15 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = addressPool('127.21.0.0/28');
      const held = new Map<string, string>();
      steps.forEach(({ what, n }, i) => {
        const ip = `127.21.0.${n}`;
        if (what === 'release') {
          const owner = held.get(ip);
          if (owner) pool.release(ip, owner);
          held.delete(ip);
          return;
        }
        const got = what === 'take' ? pool.take(`o${i}`) : pool.claim(ip, `o${i}`) ? ip : undefined;
        if (got === undefined) return;
        expect(held.has(got)).toBe(false);
        held.set(got, `o${i}`);
      });
    }),
  );
});

test.each(['127.21.0.0', '127.21.0.1/16', '127.21.0.0/30', '127.21.0.0/4', '300.1.0.0/16'])(
  '%s is refused as a block',
  (cidr) => {
    expect(() => addressPool(cidr)).toThrow(RangeError);
  },
);
