import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint, EndpointSlice } from '../kube/objects.ts';
import { pack, perSlice } from './slices.ts';

const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }];

function endpoint(n: number, ready = true): Endpoint {
  const ip = `10.0.${n >> 8}.${n & 255}`;
  return {
    addresses: [ip],
    conditions: { ready },
    targetRef: { kind: 'Pod', name: `p${n}`, namespace: 'a', uid: `u${n}` },
  };
}

function slice(name: string, endpoints: Endpoint[]): EndpointSlice {
  return { metadata: { name, namespace: 'a', uid: name, resourceVersion: '1' }, addressType: 'IPv4', endpoints, ports };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => endpoint(from + i));

test('what is there already is not written', () => {
  expect(pack([{ ports, endpoints: range(0, 3) }], [slice('s', range(0, 3))])).toEqual({ write: [], remove: [] });
});

test('a changed condition writes only the slice that holds it', () => {
  const found = [slice('s', range(0, 100)), slice('t', range(100, 150))];
  const endpoints = [...range(0, 149), endpoint(149, false)];
  const { write, remove } = pack([{ ports, endpoints }], found);
  expect(write.map((one) => one.found?.metadata.name)).toEqual(['t']);
  expect(remove).toEqual([]);
});

test('a new endpoint goes into a slice that is written anyway, rather than into a fuller one', () => {
  const found = [slice('full', range(0, 90)), slice('changed', range(100, 110))];
  const { write } = pack([{ ports, endpoints: [...range(0, 90), ...range(100, 109), endpoint(200)] }], found);
  expect(write.map((one) => [one.found?.metadata.name, one.endpoints.length])).toEqual([['changed', 10]]);
});

test('a Service without pods keeps one empty slice', () => {
  expect(pack([], []).write).toEqual([{ ports: [], endpoints: [] }]);
  const emptied = pack([], [slice('s', range(0, 2)), slice('t', [])]);
  expect([emptied.write.length, emptied.remove.length]).toEqual([1, 2]);
});

test('slices of ports nobody has go', () => {
  const other = { ...slice('old', range(0, 2)), ports: [{ name: 'http', port: 1, protocol: 'TCP' }] };
  const { write, remove } = pack([{ ports, endpoints: range(0, 2) }], [other]);
  expect(write.map((one) => one.found)).toEqual([undefined]);
  expect(remove).toEqual([other]);
});

test('every endpoint is in exactly one slice of at most a hundred, whatever was there before', () => {
  const set = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 350 });
  fc.assert(
    fc.property(fc.array(set, { maxLength: 5 }), set, (before, wanted) => {
      const found = before.map((numbers, i) =>
        slice(
          `s${i}`,
          numbers.slice(0, perSlice).map((n) => endpoint(n)),
        ),
      );
      const { write, remove } = pack([{ ports, endpoints: wanted.map((n) => endpoint(n)) }], found);
      const untouched = found.filter((one) => !remove.includes(one) && !write.some((w) => w.found === one));
      const after = [...write.map((one) => one.endpoints), ...untouched.map((one) => one.endpoints ?? [])];
      expect(after.every((one) => one.length <= perSlice)).toBe(true);
      expect(
        after
          .flat()
          .map((one) => one.addresses[0])
          .sort(),
      ).toEqual(wanted.map((n) => endpoint(n).addresses[0]).sort());
    }),
    { numRuns: 60 },
  );
});
