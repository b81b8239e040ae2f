import { expect, test } from 'vitest';
import { addressMap } from './address-map.ts';

const rows: [string, string[], string, string][] = [
  ['what no entry names keeps its address, over https', [], '200.1.1.1', 'https://200.1.1.1'],
  ['a scheme in the object is kept', [], 'http://100.1.1.1/api', 'http://100.1.1.1/api'],
  ['a host is replaced by a URL', ['200.1.1.1=http://127.0.0.1:4001'], '200.1.1.1', 'http://127.0.0.1:4001'],
  [
    'the path of the object survives',
    ['100.1.1.1=http://127.0.0.1:4002'],
    'http://100.1.1.1/api',
    'http://127.0.0.1:4002/api',
  ],
  [
    'a host is replaced by host:port, scheme kept',
    ['100.1.1.1=127.0.0.1:4002'],
    'http://100.1.1.1',
    'http://127.0.0.1:4002',
  ],
  ['IPv6 gets brackets', [], '2001:db8::1', 'https://[2001:db8::1]'],
];

test.each(rows)('%s', (_, entries, address, want) => {
  const map = addressMap(entries);
  expect(map.ok && map.value(address)).toBe(want);
});

test.each(['200.1.1.1', '=x', 'a=', 'a=http://['])('%s is refused with the form to write', (entry) => {
  const map = addressMap([entry]);
  expect(!map.ok && map.problem.message).toContain('--map');
});
