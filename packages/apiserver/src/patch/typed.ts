// What keeps an applied object from being read by its schema: then nobody can tell whose its fields are.
import { plainText, sourceText, typeText } from '../go-text.ts';
import { isTree, type KubeObject, type Tree } from '../object.ts';
import { fieldSchema, keepsUnknown, type Schema } from '../schema/schema.ts';
import { elementKey, listKind, stepText } from './field-set.ts';

/** The real server's words, or undefined for an object that fits. `kind` is as in `example.io/v1, Kind=Widget`. */
export function typedProblem(object: KubeObject, schema: Schema, kind: string): string | undefined {
  const problems = problemsOf(object, schema, '', true);
  if (problems.length === 0) return undefined;
  const said = problems.length === 1 ? problems[0] : `errors:\n  ${problems.join('\n  ')}`;
  const { namespace = '', name = '' } = object.metadata;
  return `failed to create typed patch object (${namespace}/${name}; ${kind}): ${said}`;
}

function problemsOf(value: unknown, schema: Schema, path: string, isRoot = false): string[] {
  if (value === null || value === undefined) return [];
  const problem = shapeProblem(value, schema);
  if (problem !== undefined) return [path === '' ? problem : `${path}: ${problem}`];
  if (isTree(value)) return fieldProblems(value, schema, path, isRoot);
  return Array.isArray(value) ? elementProblems(value, schema, path) : [];
}

function fieldProblems(value: Tree, schema: Schema, path: string, isRoot: boolean): string[] {
  return Object.keys(value).flatMap((name) => {
    if (isRoot && (name === 'apiVersion' || name === 'kind')) return [];
    const field = fieldSchema(schema, name);
    if (field) return problemsOf(value[name], field, `${path}.${name}`);
    const isKnown = !isClosed(schema) || (isRoot && name === 'metadata');
    return isKnown ? [] : [`${path}.${name}: field not declared in schema`];
  });
}

function elementProblems(list: unknown[], schema: Schema, path: string): string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const [i, item] of list.entries()) {
    const found = keyOf(item, i, schema);
    // Of a list whose elements cannot be told apart nothing more can be said.
    if ('problem' in found) return [...problems, `${path}: element ${i}: ${found.problem}`];
    if (seen.has(found.key)) problems.push(`${path}: duplicate entries for key ${found.step}`);
    seen.add(found.key);
    problems.push(...problemsOf(item, schema.items ?? {}, path + found.step));
  }
  return problems;
}

type Found = { key: string; step: string } | { problem: string };

function keyOf(item: unknown, index: number, schema: Schema): Found {
  const kind = listKind(schema);
  if (kind === 'atomic') return { key: String(index), step: `[${index}]` };
  if (kind === 'set') {
    const found = `v:${JSON.stringify(item)}`;
    if (isTree(item)) return { problem: "associative list without keys has an element that's a map type" };
    if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' };
    if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
    return { key: found, step: stepText(found) };
  }
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isTree(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const found = elementKey(item, schema);
  if (found !== 'k:{}') return { key: found, step: stepText(found) };
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => JSON.stringify(key)).join(' ');
  return {
    problem: `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
  };
}

/** What is said of a value that is not of its schema's type. */
function shapeProblem(value: unknown, schema: Schema): string | undefined {
  const isScalar = !isTree(value) && !Array.isArray(value);
  if (isUntyped(schema)) return isScalar ? undefined : `expected any scalar, got ${shown(value)}`;
  switch (schema.type) {
    case 'object':
      return isTree(value) ? undefined : `expected map, got ${shown(value)}`;
    case 'array':
      return Array.isArray(value) ? undefined : `expected list, got ${shown(value)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      return `expected string, got &value.valueUnstructured{Value:${sourceText(value)}}`;
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${typeText(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${shown(value)}`;
    default:
      return undefined;
  }
}

/** Texts that take numbers too, and moments. */
const isUntyped = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true ||
  ['int-or-string', 'quantity', 'date-time'].includes(schema.format ?? '');

const shown = (value: unknown): string => `&{${plainText(value)}}`;

const isClosed = (schema: Schema): boolean =>
  (schema.type === 'object' || schema.properties !== undefined) && !keepsUnknown(schema);
