// JSON values as CEL sees them: integers as BigInt by the schema, times as times, field names escaped.
import { isTree, put, type Tree } from '../object.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import type { Reads } from './reads.ts';

const reserved = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);
const escapes: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** Forms of values made before, for rules of a value and of what is in it. Good for one object under one schema. */
export type Forms = WeakMap<object, unknown>;

export function celValue(value: unknown, schema: Schema, forms?: Forms): unknown {
  if (typeof value === 'number') return numberValue(value, schema);
  if (typeof value === 'string') return schema.format === 'date-time' ? new Date(Date.parse(value)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const known = forms?.get(value);
  if (known !== undefined) return known;
  const form = Array.isArray(value)
    ? value.map((item) => celValue(item, schema.items ?? {}, forms))
    : fieldsOf(value as Tree, schema, forms);
  forms?.set(value, form);
  return form;
}

/** The same of what is read of `value`, and nothing else of it. */
export function celParts(value: unknown, schema: Schema, reads: Reads, forms: Forms): unknown {
  if (reads === 'all' || !isTree(value)) return celValue(value, schema, forms);
  const out: Tree = {};
  const names = namesIn(schema);
  for (const name of Object.keys(value)) {
    const written = names.get(name) ?? name;
    const below = reads.get(written);
    if (below) put(out, written, celParts(value[name], fieldSchema(schema, name) ?? {}, below, forms));
  }
  return out;
}

/** What is read of `value` as a text: values that rules can tell apart have different ones. */
export function textOfParts(value: unknown, schema: Schema, reads: Reads): string {
  if (reads === 'all' || !isTree(value)) return JSON.stringify(value);
  const names = namesIn(schema);
  let text = '{';
  for (const name of Object.keys(value)) {
    const written = names.get(name) ?? name;
    const below = reads.get(written);
    if (below) text += `${written}:${textOfParts(value[name], fieldSchema(schema, name) ?? {}, below)},`;
  }
  return `${text}}`;
}

function fieldsOf(value: Tree, schema: Schema, forms: Forms | undefined): Tree {
  const out: Tree = {};
  const names = namesIn(schema);
  for (const name of Object.keys(value))
    put(out, names.get(name) ?? name, celValue(value[name], fieldSchema(schema, name) ?? {}, forms));
  return out;
}

const escaped = new WeakMap<Schema, ReadonlyMap<string, string>>();

/** The fields of a schema, as rules write them. */
function namesIn(schema: Schema): ReadonlyMap<string, string> {
  const known = escaped.get(schema);
  if (known) return known;
  const names = new Map(Object.keys(schema.properties ?? {}).map((name) => [name, escapedName(name)]));
  escaped.set(schema, names);
  return names;
}

function numberValue(value: number, schema: Schema): bigint | number {
  if (schema.type === 'number') return value;
  return Number.isInteger(value) ? BigInt(value) : value;
}

/** A field's name as rules write it: `namespace` is a word of CEL, so it is `__namespace__`. */
export function escapedName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (mark) => escapes[mark] ?? mark);
}
