// The fields of an object against their schema: what the API server checks, for places that have none (files, forms).
import { type Refusal, type Words, parseCidr, refusal } from '@fairlead/core';
import type { Structural } from '../structural.ts';

/** What is wrong with the fields of `value`, with the path of each. */
export function checkShape(schema: Structural, value: unknown, path: string): Refusal[] {
  const found = collector(path);
  if (value === null && schema.nullable) return [];
  const given = describe(value);
  if (!hasType(schema.type, value)) {
    const { en, zh } = words[schema.type];
    found.add({ en: `must be ${en}, not ${given.en}`, zh: `须为${zh},而不是 ${given.zh}` });
  }
  if (found.problems.length > 0) return found.problems;
  if (typeof value === 'string') checkString(schema, value, found.add);
  else if (typeof value === 'number') checkNumber(schema, value, found.add);
  else if (Array.isArray(value)) checkList(schema, value, found);
  else if (typeof value === 'object' && value !== null) checkFields(schema, value as Record<string, unknown>, found);
  return found.problems;
}

interface Found {
  path: string;
  problems: Refusal[];
  add(said: Words, path?: string): void;
}

function collector(path: string): Found {
  const problems: Refusal[] = [];
  return { path, problems, add: (said, at = path) => problems.push(refusal('invalid', said, at)) };
}

const words: Record<Structural['type'], Words> = {
  object: { en: 'an object', zh: '对象' },
  array: { en: 'a list', zh: '列表' },
  string: { en: 'a string (write it in quotes if it looks like a number)', zh: '字符串(形似数字时请加引号)' },
  integer: { en: 'a whole number', zh: '整数' },
  number: { en: 'a number', zh: '数字' },
  boolean: { en: 'true or false', zh: ' true 或 false' },
};

function hasType(type: Structural['type'], value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

function describe(value: unknown): Words {
  const json = JSON.stringify(value)?.slice(0, 60);
  return { en: json ?? 'nothing', zh: json ?? '空' };
}

function checkString(schema: Structural, value: string, add: Found['add']): void {
  const length = [...value].length;
  const given = describe(value);
  if (schema.enum && !schema.enum.includes(value)) {
    const known = schema.enum.join(', ');
    add({ en: `must be one of ${known}, not ${given.en}`, zh: `须为以下之一:${known},而不是 ${given.zh}` });
    return;
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    const least = schema.minLength;
    if (least === 1) add({ en: 'must not be empty', zh: '不能为空' });
    else add({ en: `must have at least ${least} characters`, zh: `至少需要 ${least} 个字符` });
    return;
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const most = schema.maxLength;
    add({
      en: `must have at most ${most} characters, this has ${length}`,
      zh: `最多 ${most} 个字符,现有 ${length} 个`,
    });
    return;
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    const { pattern } = schema;
    add({ en: `must look like ${pattern}, not ${given.en}`, zh: `格式须符合 ${pattern},而不是 ${given.zh}` });
  }
  // Other formats are notes to the reader, or of status fields, which nobody types.
  const network = schema.format === 'cidr' ? parseCidr(value) : undefined;
  if (network?.ok === false) add({ en: network.problem.message, zh: network.problem.zh });
}

function checkNumber(schema: Structural, value: number, add: Found['add']): void {
  const least = schema.minimum ?? -Infinity;
  const most = schema.maximum ?? Infinity;
  if (value < least || value > most) {
    const range =
      most === Infinity
        ? { en: `${least} or more`, zh: `不小于 ${least}` }
        : { en: `${least} to ${most}`, zh: `在 ${least} 到 ${most} 之间` };
    add({ en: `must be ${range.en}, not ${value}`, zh: `须${range.zh},而不是 ${value}` });
  }
}

function checkList(schema: Structural, list: unknown[], found: Found): void {
  if (schema.minItems !== undefined && list.length < schema.minItems)
    found.add({ en: `needs at least ${schema.minItems} element`, zh: `至少需要 ${schema.minItems} 个元素` });
  if (schema.maxItems !== undefined && list.length > schema.maxItems) {
    const [most, length] = [schema.maxItems, list.length];
    found.add({
      en: `takes at most ${most} elements, this has ${length}`,
      zh: `最多 ${most} 个元素,现有 ${length} 个`,
    });
    return;
  }
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    const at = `${found.path}[${i}]`;
    if (schema.items) found.problems.push(...checkShape(schema.items, item, at));
    const key = keyOf(schema, item);
    if (key !== undefined && seen.has(key)) {
      const en = `is a duplicate of an earlier element: ${key} may appear once`;
      found.add({ en, zh: `与前面的元素重复:${key} 只能出现一次` }, at);
    }
    if (key !== undefined) seen.add(key);
  }
}

/** What tells the elements of a list-map apart, in words; undefined where there is no such thing. */
export function keyOf(schema: Structural, item: unknown): string | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!keys || typeof item !== 'object' || item === null) return undefined;
  return keys.map((key) => `${key} ${describe((item as Record<string, unknown>)[key]).en}`).join(', ');
}

function checkFields(schema: Structural, object: Record<string, unknown>, found: Found): void {
  for (const name of schema.required ?? []) {
    if (object[name] === undefined) found.add({ en: 'is required', zh: '为必填字段' }, `${found.path}.${name}`);
  }
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  if (schema.maxProperties !== undefined && entries.length > schema.maxProperties) {
    const [most, length] = [schema.maxProperties, entries.length];
    found.add({ en: `takes at most ${most} entries, this has ${length}`, zh: `最多 ${most} 项,现有 ${length} 项` });
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

function unknownField(name: string, known: string[]): Words {
  const near = known.find((k) => k.toLowerCase() === name.toLowerCase() || k.includes(name) || name.includes(k));
  const [en, zh] = near === undefined ? ['', ''] : [`; did you mean ${near}?`, `;您是否想写 ${near}?`];
  const all = known.join(', ');
  return { en: `is not a known field${en} Known: ${all}`, zh: `不是已知字段${zh} 已知字段:${all}` };
}
