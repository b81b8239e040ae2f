// Values of a request as Go prints them: some of the real server's messages are made of them.
import { isTree } from './object.ts';

/** As `%v` has it: `map[a:1 b:[x y]]`. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(plainText).join(' ')}]`;
  if (!isTree(value)) return String(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${key}:${plainText(value[key])}`);
  return `map[${fields.join(' ')}]`;
}

const map = 'map[string]interface {}';
const list = '[]interface {}';

/** As `%#v` has it: `map[string]interface {}{"a":1}`. */
export function sourceText(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `${list}{${value.map(sourceText).join(', ')}}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (!isTree(value)) return String(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sourceText(value[key])}`);
  return `${map}{${fields.join(', ')}}`;
}

/** The type of a value, as `%T` has it. */
export function typeText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return list;
  if (isTree(value)) return map;
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'int64' : 'float64') : typeof value;
}
