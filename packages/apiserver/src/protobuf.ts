// Reads objects that typed clients send as protobuf (`application/vnd.kubernetes.protobuf`) into the JSON form. Answers are JSON.
// An envelope starts with the bytes "k8s\0", then a runtime.Unknown: the type's name and the object's own bytes.
import { wire } from './kinds/gen/wire.ts';
import { microTimeText, put, textOf, timeText, treeOf, type Tree } from './object.ts';

/** Number, JSON name, type, and: 0 one value, 1 a list, 2 a map with text keys, 3 an inlined message, 4 one value whose zero JSON leaves out. */
export type WireField = [number: number, name: string, type: string, form: number];

const magic = [0x6b, 0x38, 0x73, 0x00];
const deepest = 100;

/** The object in `bytes`; undefined when they are no such envelope or not well formed. */
export function fromProtobuf(bytes: Uint8Array): Tree | undefined {
  if (!magic.every((byte, i) => bytes[i] === byte)) return undefined;
  try {
    const envelope = message(bytes.subarray(4), 'apimachinery.pkg.runtime.Unknown', 0);
    const type = treeOf(envelope.typeMeta);
    const [apiVersion, kind] = [textOf(type.apiVersion), textOf(type.kind)];
    const name = messageName(apiVersion, kind);
    return name === undefined
      ? undefined
      : { apiVersion, kind, ...message(Buffer.from(textOf(envelope.raw), 'base64'), name, 0) };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

/** The message of a kind: `apps/v1` Deployment is api.apps.v1.Deployment; options of requests are meta's whatever the group says. */
function messageName(apiVersion: string, kind: string): string | undefined {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const short = group.split('.')[0] ?? '';
  const known = [
    `api.${short}.${version}.${kind}`,
    `apiextensions-apiserver.pkg.apis.${short}.${version}.${kind}`,
    `apimachinery.pkg.apis.meta.v1.${kind}`,
  ];
  return known.find((name) => Object.hasOwn(wire, name));
}

interface Cursor {
  bytes: Uint8Array;
  at: number;
}

function message(bytes: Uint8Array, type: string, depth: number): Tree {
  const fields = wire[type];
  if (!fields || depth > deepest) throw new Malformed(type);
  const out: Tree = {};
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const tag = Number(varint(cursor));
    const raw = payload(cursor, tag & 7);
    const field = fields.find(([number]) => number === tag >> 3);
    // A field of a later release: skipped, as protobuf has it.
    if (field) keep(out, field, raw, depth);
  }
  return out;
}

function keep(out: Tree, [, name, type, form]: WireField, raw: Uint8Array | bigint, depth: number): void {
  if (form === 2) {
    const [key, value] = entry(raw, type, depth);
    const map = (out[name] ??= {}) as Tree;
    put(map, key, value);
    return;
  }
  const value = valueOf(raw, type, depth);
  if (form === 3) Object.assign(out, value);
  else if (form === 1) ((out[name] ??= []) as unknown[]).push(value);
  else if (value !== undefined && !(form === 4 && (value === '' || value === 0 || value === false))) out[name] = value;
}

function entry(raw: Uint8Array | bigint, type: string, depth: number): [string, unknown] {
  const cursor = { bytes: bytesIn(raw), at: 0 };
  let key = '';
  let value: unknown = type === 'string' ? '' : undefined;
  while (cursor.at < cursor.bytes.length) {
    const tag = Number(varint(cursor));
    const part = payload(cursor, tag & 7);
    if (tag >> 3 === 1) key = text(part);
    else value = valueOf(part, type, depth);
  }
  return [key, value];
}

const text = (raw: Uint8Array | bigint): string => Buffer.from(bytesIn(raw)).toString('utf8');
const number = (raw: Uint8Array | bigint): number => {
  if (typeof raw !== 'bigint') throw new Malformed('number');
  return Number(BigInt.asIntN(64, raw));
};

type Reader = (raw: Uint8Array | bigint, depth: number) => unknown;

const seconds = (raw: Uint8Array | bigint, depth: number): number | undefined => {
  const time = message(bytesIn(raw), 'apimachinery.pkg.apis.meta.v1.Time', depth);
  // Go's zero time, and an empty message: no time at all.
  if (time.seconds === undefined || Number(time.seconds) <= 0) return undefined;
  return Number(time.seconds) * 1000 + Math.floor(Number(time.nanos ?? 0) / 1e6);
};

/** Scalars, and messages whose JSON form is not an object of their fields. */
const readers: Record<string, Reader> = {
  string: text,
  bytes: (raw) => Buffer.from(bytesIn(raw)).toString('base64'),
  bool: (raw) => number(raw) !== 0,
  int32: number,
  int64: number,
  uint32: number,
  uint64: number,
  'apimachinery.pkg.apis.meta.v1.Time': (raw, depth) => whenSet(seconds(raw, depth), timeText),
  'apimachinery.pkg.apis.meta.v1.MicroTime': (raw, depth) => whenSet(seconds(raw, depth), microTimeText),
  'apimachinery.pkg.api.resource.Quantity': (raw, depth) =>
    message(bytesIn(raw), 'apimachinery.pkg.api.resource.Quantity', depth).string,
  'apimachinery.pkg.util.intstr.IntOrString': (raw, depth) => {
    const either = message(bytesIn(raw), 'apimachinery.pkg.util.intstr.IntOrString', depth);
    return either.type === 1 ? (either.strVal ?? '') : (either.intVal ?? 0);
  },
  'apimachinery.pkg.apis.meta.v1.FieldsV1': (raw) => embedded(raw),
  'apimachinery.pkg.runtime.RawExtension': (raw) => embedded(raw),
  'api.authentication.v1.ExtraValue': (raw, depth) =>
    message(bytesIn(raw), 'api.authentication.v1.ExtraValue', depth).items ?? [],
  'api.authorization.v1.ExtraValue': (raw, depth) =>
    message(bytesIn(raw), 'api.authorization.v1.ExtraValue', depth).items ?? [],
};

const whenSet = (ms: number | undefined, show: (ms: number) => string): string | undefined =>
  ms === undefined ? undefined : show(ms);

/** A message that carries JSON in its first field. */
function embedded(raw: Uint8Array | bigint): unknown {
  const cursor = { bytes: bytesIn(raw), at: 0 };
  if (cursor.bytes.length === 0) return undefined;
  varint(cursor);
  try {
    return JSON.parse(text(payload(cursor, 2)));
  } catch {
    // The caller answers for everything malformed in the same way.
    throw new Malformed('embedded JSON');
  }
}

function valueOf(raw: Uint8Array | bigint, type: string, depth: number): unknown {
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read ? read(raw, depth) : message(bytesIn(raw), type, depth + 1);
}

function bytesIn(raw: Uint8Array | bigint): Uint8Array {
  if (typeof raw === 'bigint') throw new Malformed('length-delimited');
  return raw;
}

function varint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw new Malformed('varint');
}

/** A field's bytes or number by its wire type: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
function payload(cursor: Cursor, kind: number): Uint8Array | bigint {
  if (kind === 0) return varint(cursor);
  const length = kind === 2 ? Number(varint(cursor)) : kind === 1 ? 8 : kind === 5 ? 4 : -1;
  const end = cursor.at + length;
  if (length < 0 || end > cursor.bytes.length) throw new Malformed('length');
  const bytes = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
}
