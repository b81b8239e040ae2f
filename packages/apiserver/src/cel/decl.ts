// What a schema tells of its values' types and sizes: how many elements at most, and how few bytes as JSON.
import type { Schema } from '../schema/schema.ts';
import { escapedName } from './values.ts';

export type Kind =
  | 'string'
  | 'bytes'
  | 'int'
  | 'double'
  | 'bool'
  | 'duration'
  | 'timestamp'
  | 'list'
  | 'map'
  | 'object'
  | 'dyn';

export interface Decl {
  kind: Kind;
  /** Elements of a list or map, bytes of a text; 0 for everything else. */
  most: number;
  /** Bytes of the smallest value as JSON. */
  least: number;
  /** Of the elements of a list or the values of a map. */
  elements?: Decl;
  fields?: ReadonlyMap<string, Decl>;
}

/** The largest request there can be, which bounds what a schema leaves open. */
export const mostBytes = 3 * 1024 * 1024;

const plain = (kind: Kind, least: number, most = 0): Decl => ({ kind, most, least });

/** Keys of maps: their size is not told. */
export const keyDecl: Decl = plain('string', 0);

const known = new WeakMap<Schema, Decl | 'none'>();

/** The declaration of a schema's values; undefined for those that rules cannot see. */
export function declOf(schema: Schema): Decl | undefined {
  let found = known.get(schema);
  if (found === undefined) known.set(schema, (found = declare(schema) ?? 'none'));
  return found === 'none' ? undefined : found;
}

function declare(schema: Schema): Decl | undefined {
  const { maxLength } = schema;
  if (schema['x-kubernetes-int-or-string'])
    return plain('dyn', 1, maxLength === undefined ? mostBytes - 2 : bytesOf(maxLength));
  switch (schema.type) {
    case 'array':
      return list(schema);
    case 'object':
      return object(schema['x-kubernetes-embedded-resource'] ? wholeResource(schema) : schema);
    case 'string':
      return text(schema);
    case 'boolean':
      return plain('bool', 4);
    case 'number':
      return plain('double', 1);
    case 'integer':
      return plain('int', 1);
    default:
      return undefined;
  }
}

/** A schema with what rules see of every object: its kind and its names. */
export function wholeResource(schema: Schema): Schema {
  const string = { type: 'string' };
  const metadata = { type: 'object', properties: { name: string, generateName: string } };
  return { ...schema, properties: { ...schema.properties, apiVersion: string, kind: string, metadata } };
}

function list({ items, maxItems }: Schema): Decl | undefined {
  const elements = items && declOf(items);
  if (!elements) return undefined;
  const most = maxItems === undefined ? Math.floor((mostBytes - 2) / (elements.least + 1)) : Math.max(0, maxItems);
  return { ...plain('list', 2, most), elements };
}

function object(schema: Schema): Decl | undefined {
  const { additionalProperties: values, maxProperties } = schema;
  if (typeof values === 'object') {
    const elements = declOf(values);
    if (!elements) return undefined;
    const open = Math.floor((mostBytes - 2) / (elements.least + 6));
    return { ...plain('map', 2, maxProperties === undefined ? open : Math.max(0, maxProperties)), elements };
  }
  const fields = new Map<string, Decl>();
  let least = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const decl = declOf(property);
    if (!decl) continue;
    fields.set(escapedName(name), decl);
    const isSaid = schema.required?.includes(name) && property.default === undefined;
    if (isSaid) least += Buffer.byteLength(name) + decl.least + 4;
  }
  return { ...plain('object', least), fields };
}

/** A character may take four bytes. */
const bytesOf = (maxLength: number): number => Math.max(0, maxLength) * 4;

function text({ format, maxLength, enum: values }: Schema): Decl {
  switch (format) {
    case 'byte':
      return plain('bytes', 2, maxLength === undefined ? mostBytes - 2 : Math.max(0, maxLength));
    case 'duration':
      return plain('duration', 3, 32);
    case 'date':
      return plain('timestamp', 12, 12);
    case 'date-time':
      return plain('timestamp', 21, 32);
    default:
      break;
  }
  if (maxLength !== undefined) return plain('string', 2, bytesOf(maxLength));
  if (!values || values.length === 0) return plain('string', 2, mostBytes - 2);
  const lengths = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
  return plain('string', 2, Math.max(...lengths));
}
