import { expect, test } from 'vitest';
import { crc32 } from './crc32.ts';

test.each([
  ['', 0],
  ['123456789', 0xcbf43926],
  ['192.0.2.1', 0xdb610037],
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('crc32 of %j is the published check value', (text, want) => {
  expect(crc32(text)).toBe(want);
});
