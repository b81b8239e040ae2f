// Objects as typed clients send them, made here byte by byte.
import { expect, test } from 'vitest';
import { fromProtobuf } from './protobuf.ts';

const varint = (value: number): number[] =>
  value > 127 ? [(value % 128) | 128, ...varint(Math.floor(value / 128))] : [value];
const field = (number: number, bytes: number[]): number[] => [
  ...varint(number * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];
const text = (number: number, value: string): number[] => field(number, [...Buffer.from(value)]);
const count = (number: number, value: number): number[] => [...varint(number * 8), ...varint(value)];
const envelope = (apiVersion: string, kind: string, raw: number[]): Uint8Array =>
  Uint8Array.from([0x6b, 0x38, 0x73, 0, ...field(1, [...text(1, apiVersion), ...text(2, kind)]), ...field(2, raw)]);

test('a deployment: nested messages, maps, int-or-string, empty text left out, zero replicas kept', () => {
  const metadata = [
    ...text(1, 'web'),
    ...text(2, ''),
    ...field(8, []),
    ...field(11, [...text(1, 'app'), ...text(2, 'web')]),
  ];
  const rolling = field(2, field(1, [...count(1, 1), ...count(2, 0), ...text(3, '25%')]));
  const spec = [...count(1, 0), ...field(4, [...text(1, 'RollingUpdate'), ...rolling]), ...count(5, 0), ...count(7, 0)];
  expect(fromProtobuf(envelope('apps/v1', 'Deployment', [...field(1, metadata), ...field(2, spec)]))).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { replicas: 0, strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%' } } },
  });
});

test('a secret: bytes are base64', () => {
  const entry = field(2, [...text(1, 'k'), ...text(2, 'v')]);
  expect(fromProtobuf(envelope('v1', 'Secret', [...entry, ...text(3, 'Opaque')]))).toMatchObject({
    data: { k: 'dg==' },
    type: 'Opaque',
  });
});

test('a volume: the inlined source stands in the volume itself', () => {
  const volume = [...text(1, 'v'), ...field(2, field(2, []))];
  const spec = field(2, field(1, volume));
  expect(fromProtobuf(envelope('v1', 'Pod', spec))).toMatchObject({ spec: { volumes: [{ name: 'v', emptyDir: {} }] } });
});

test.each([
  ['other first bytes', Uint8Array.from([1, 2, 3, 4])],
  ['an unknown kind', envelope('v1', 'Thing', [])],
  ['a length beyond the end', envelope('v1', 'Secret', [10, 99, 1])],
  ['a number that does not end', Uint8Array.from([0x6b, 0x38, 0x73, 0, 0xff, 0xff])],
])('not an object: %s', (_, bytes) => {
  expect(fromProtobuf(bytes)).toBeUndefined();
});
