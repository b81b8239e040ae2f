// Whether the fields a rule names are in its schema: follows `self` and `oldSelf`, and the variables of macros, through it.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import { shownAt } from './problem.ts';
import { partsOf } from './reads.ts';
import { parsedRule } from './rules.ts';
import { escapedName } from './values.ts';

type Variables = ReadonlyMap<string, Schema>;

/** The real server's words for the first field of `rule` that `schema` does not have; undefined when all are there. */
export function undefinedField(rule: string, schema: Schema): string | undefined {
  const missing = firstMissing(parsedRule(rule), new Map([['self', schema]]));
  if (!missing) return undefined;
  return shownAt(rule, missing.at, `undefined field '${missing.name}'`);
}

interface Missing {
  name: string;
  at: number;
}

function firstMissing(node: ASTNode, variables: Variables): Missing | undefined {
  if (node.op === 'rcall') return missingInCall(node, variables);
  for (const part of partsOf(node)) {
    const missing = firstMissing(part, variables);
    if (missing) return missing;
  }
  if (node.op !== '.') return undefined;
  const [owner, name] = node.args;
  const schema = schemaOf(owner, variables);
  if (!schema || !isClosed(schema) || fieldOf(schema, name)) return undefined;
  return { name, at: node.input.indexOf('.', owner.range.end) };
}

/** A macro's variable is an element of the list, or a key of the map, that it goes over. */
function missingInCall(node: ASTNode & { op: 'rcall' }, variables: Variables): Missing | undefined {
  const [, receiver, args] = node.args;
  const found = firstMissing(receiver, variables);
  if (found) return found;
  const [first] = args;
  const over = schemaOf(receiver, variables);
  const isMacro = macros.has(node.args[0]) && first?.op === 'id';
  const inner = new Map(variables);
  if (isMacro) inner.delete(first.args);
  if (isMacro && over?.type === 'array' && over.items) inner.set(first.args, over.items);
  for (const arg of isMacro ? args.slice(1) : args) {
    const missing = firstMissing(arg, inner);
    if (missing) return missing;
  }
  return undefined;
}

const macros = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter']);

/** The schema of what an expression gives, where that can be told. */
function schemaOf(node: ASTNode, variables: Variables): Schema | undefined {
  if (node.op === 'id') return variables.get(node.args === 'oldSelf' ? 'self' : node.args);
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const owner = schemaOf(node.args[0], variables);
  if (!owner) return undefined;
  if (node.op === '.') return fieldOf(owner, node.args[1]);
  if (owner.type === 'array') return owner.items;
  return typeof owner.additionalProperties === 'object' ? owner.additionalProperties : undefined;
}

function fieldOf(schema: Schema, name: string): Schema | undefined {
  const found = Object.entries(schema.properties ?? {}).find(([field]) => escapedName(field) === name);
  if (found) return found[1];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** Whether a schema tells all the fields its values can have. */
const isClosed = (schema: Schema): boolean =>
  schema.type === 'object' &&
  schema.additionalProperties === undefined &&
  schema['x-kubernetes-embedded-resource'] !== true &&
  schema['x-kubernetes-preserve-unknown-fields'] !== true;
