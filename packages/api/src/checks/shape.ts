// The fields of an object against their schema: what the API server checks, for places that have none (files, forms).
import { type Problem, parseCidr } from '@fairlead/core';
import type { Structural } from '../structural.ts';

/** What is wrong with the fields of `value`, with the path of each. */
export function checkShape(schema: Structural, value: unknown, path: string): Problem[] {
  const found = collector(path);
  if (value === null && schema.nullable) return [];
  if (!hasType(schema.type, value)) found.add(`must be ${words[schema.type]}, not ${describe(value)}`);
  else if (typeof value === 'string') checkString(schema, value, found.add);
  else if (typeof value === 'number') checkNumber(schema, value, found.add);
  else if (Array.isArray(value)) checkList(schema, value, found);
  else if (typeof value === 'object' && value !== null) checkFields(schema, value as Record<string, unknown>, found);
  return found.problems;
}

interface Found {
  path: string;
  problems: Problem[];
  add(message: string, path?: string): void;
}

function collector(path: string): Found {
  const problems: Problem[] = [];
  return { path, problems, add: (message, at = path) => problems.push({ code: 'invalid', message, path: at }) };
}

const words: Record<Structural['type'], string> = {
  object: 'an object',
  array: 'a list',
  string: 'a string (write it in quotes if it looks like a number)',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function hasType(type: Structural['type'], value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

const describe = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

function checkString(schema: Structural, value: string, add: Found['add']): void {
  const length = [...value].length;
  if (schema.enum && !schema.enum.includes(value)) {
    add(`must be one of ${schema.enum.join(', ')}, not ${describe(value)}`);
    return;
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    add(schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters`);
    return;
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    add(`must have at most ${schema.maxLength} characters, this has ${length}`);
    return;
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    add(`must look like ${schema.pattern}, not ${describe(value)}`);
  }
  // Other formats are notes to the reader, or of status fields, which nobody types.
  const network = schema.format === 'cidr' ? parseCidr(value) : undefined;
  if (network?.ok === false) add(network.problem.message);
}

function checkNumber(schema: Structural, value: number, add: Found['add']): void {
  const least = schema.minimum ?? -Infinity;
  const most = schema.maximum ?? Infinity;
  if (value < least || value > most) {
    const range = most === Infinity ? `${least} or more` : `${least} to ${most}`;
    add(`must be ${range}, not ${value}`);
  }
}

function checkList(schema: Structural, list: unknown[], found: Found): void {
  if (schema.minItems !== undefined && list.length < schema.minItems)
    found.add(`needs at least ${schema.minItems} element`);
  if (schema.maxItems !== undefined && list.length > schema.maxItems) {
    found.add(`takes at most ${schema.maxItems} elements, this has ${list.length}`);
    return;
  }
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    const at = `${found.path}[${i}]`;
    if (schema.items) found.problems.push(...checkShape(schema.items, item, at));
    const key = keyOf(schema, item);
    if (key !== undefined && seen.has(key))
      found.add(`is a duplicate of an earlier element: ${key} may appear once`, at);
    if (key !== undefined) seen.add(key);
  }
}

/** What tells the elements of a list-map apart, in words; undefined where there is no such thing. */
export function keyOf(schema: Structural, item: unknown): string | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!keys || typeof item !== 'object' || item === null) return undefined;
  return keys.map((key) => `${key} ${describe((item as Record<string, unknown>)[key])}`).join(', ');
}

function checkFields(schema: Structural, object: Record<string, unknown>, found: Found): void {
  for (const name of schema.required ?? []) {
    if (object[name] === undefined) found.add('is required', `${found.path}.${name}`);
  }
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  if (schema.maxProperties !== undefined && entries.length > schema.maxProperties) {
    found.add(`takes at most ${schema.maxProperties} entries, this has ${entries.length}`);
  }
  for (const [name, value] of entries) {
    const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const field = own ?? schema.additionalProperties;
    const at = schema.additionalProperties ? `${found.path}[${name}]` : `${found.path}.${name}`;
    // The API server takes a null for absent where null is not allowed.
    if (value === null && own && !own.nullable && !schema.required?.includes(name)) continue;
    if (field) found.problems.push(...checkShape(field, value, at));
    else found.add(unknownField(name, Object.keys(schema.properties ?? {})), at);
  }
}

function unknownField(name: string, known: string[]): string {
  const near = known.find((k) => k.toLowerCase() === name.toLowerCase() || k.includes(name) || name.includes(k));
  return `is not a known field${near === undefined ? '' : `; did you mean ${near}?`} Known: ${known.join(', ')}`;
}
