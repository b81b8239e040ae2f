// JSON values as CEL sees them: integers as BigInt by the schema, times as times, field names escaped.
import { isTree, put, type Tree } from '../object.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';

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

export function celValue(value: unknown, schema: Schema): unknown {
  if (typeof value === 'number') return numberValue(value, schema);
  if (typeof value === 'string') return schema.format === 'date-time' ? new Date(Date.parse(value)) : value;
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema.items ?? {}));
  if (!isTree(value)) return value;
  const out: Tree = {};
  for (const name of Object.keys(value)) {
    const isField = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    put(out, isField ? escapedName(name) : name, celValue(value[name], fieldSchema(schema, name) ?? {}));
  }
  return out;
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
