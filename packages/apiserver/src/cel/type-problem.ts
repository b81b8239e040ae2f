// Operators and methods on values that the schema says they are not for: told only where both types are known.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Estimate, Type } from './estimate.ts';
import { placeOf, shownAt } from './problem.ts';

/** Why `node` cannot be, in the real server's words; `parts` are its operands. Undefined when it can, or nobody knows. */
export function typeProblem(node: ASTNode, parts: readonly Estimate[]): string | undefined {
  const types = parts.map(({ type }) => type);
  const [left, right, third] = types;
  if (node.op === 'list') return listProblem(node, types);
  if (!left || !(isNullTest(node, types) || types.every(isKnown))) return undefined;
  const wrong = (name: string): string =>
    shownAt(
      node.input,
      placeOf(node),
      `found no matching overload for '${name}' applied to '(${types.map(nameOf).join(', ')})'`,
    );
  switch (node.op) {
    case '&&':
    case '||': {
      const at = types.findIndex(({ kind }) => kind !== 'bool');
      return at < 0 ? undefined : notBool(node.args[at === 0 ? 0 : 1], types[at]);
    }
    case '!_':
      return left.kind === 'bool' ? undefined : wrong('!_');
    case '-_':
      return isNumber(left) ? undefined : wrong('-_');
    case '?:':
      if (left.kind === 'bool' && right && third && right.kind === third.kind) return undefined;
      return wrong('_?_:_');
    case '.':
      if (left.kind === 'object' || left.kind === 'map') return undefined;
      return shownAt(node.input, placeOf(node), `type '${nameOf(left)}' does not support field selection`);
    case '[]':
      return right && isIndexed(left, right) ? undefined : wrong('_[_]');
    case 'rcall':
      return methodProblem(node, types);
    default:
      return right && !operates(node.op, left, right) ? wrong(node.op === 'in' ? '@in' : `_${node.op}_`) : undefined;
  }
}

/** Nothing but times and objects can be null, in an expression. */
const isNullTest = ({ op }: ASTNode, types: Type[]): boolean =>
  (op === '==' || op === '!=') &&
  types.some(({ kind }) => kind === 'null') &&
  types.some((type) => isKnown(type) && !times.includes(type.kind));

const notBool = (node: ASTNode, type: Type | undefined): string | undefined =>
  type && isKnown(type) && type.kind !== 'bool'
    ? shownAt(node.input, placeOf(node), `expected type 'bool' but found '${nameOf(type)}'`)
    : undefined;

/** The elements of a list are of one type. */
function listProblem(node: ASTNode & { op: 'list' }, types: Type[]): string | undefined {
  const [first] = types;
  if (!first || !types.every(isKnown)) return undefined;
  const at = types.findIndex((type) => !isSame(type, first));
  const [element, type] = [node.args[at], types[at]];
  if (!element || !type) return undefined;
  return shownAt(node.input, placeOf(element), `expected type '${nameOf(first)}' but found '${nameOf(type)}'`);
}

/** A macro whose predicate gives no truth: `result` is what it gives, for each `element`. */
export function predicateProblem(node: ASTNode & { op: 'rcall' }, result: Type, element: Type): string | undefined {
  const [name, , args] = node.args;
  const body = args.at(-1);
  if (!body || !isKnown(result) || result.kind === 'bool') return undefined;
  if (name === 'all' || name === 'exists') return notBool(body, result);
  const counted = name === 'exists_one' || name === 'existsOne' ? 'int' : '';
  const branch = counted || (name === 'filter' && isKnown(element) ? `list(${nameOf(element)})` : '');
  if (branch === '') return undefined;
  const applied = `(${nameOf(result)}, ${branch}, ${branch})`;
  return shownAt(node.input, placeOf(node), `found no matching overload for '_?_:_' applied to '${applied}'`);
}

const plain = new Set<Type['kind']>(['string', 'bytes', 'int', 'double', 'bool', 'duration', 'timestamp']);

/** Types of objects have names of the moment, and what is `dyn` may be anything. */
function isKnown({ kind, elements }: Type): boolean {
  if (kind === 'list' || kind === 'map') return elements !== undefined && isKnown(elements);
  return plain.has(kind);
}

function nameOf({ kind, elements }: Type): string {
  if (!elements) return kind;
  return kind === 'map' ? `map(string, ${nameOf(elements)})` : `${kind}(${nameOf(elements)})`;
}

const isIndexed = (owner: Type, index: Type): boolean =>
  owner.kind === 'list' ? index.kind === 'int' : owner.kind === 'map' && index.kind === 'string';

const isNumber = ({ kind }: Type): boolean => kind === 'int' || kind === 'double';
const isSame = (a: Type, b: Type): boolean => nameOf(a) === nameOf(b);
const times = ['duration', 'timestamp'];

function operates(op: string, left: Type, right: Type): boolean {
  switch (op) {
    case '==':
    case '!=':
      return isSame(left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (isNumber(left) && isNumber(right)) || (plain.has(left.kind) && isSame(left, right));
    case '+':
      if (times.includes(left.kind) && times.includes(right.kind))
        return left.kind !== 'timestamp' || right.kind !== 'timestamp';
      return isSame(left, right) && left.kind !== 'bool' && left.kind !== 'map';
    case '-':
      if (left.kind === 'timestamp') return times.includes(right.kind);
      return isSame(left, right) && (isNumber(left) || left.kind === 'duration');
    case '*':
    case '/':
      return isSame(left, right) && isNumber(left);
    case '%':
      return isSame(left, right) && left.kind === 'int';
    case 'in':
      return right.kind === 'list'
        ? isSame(left, right.elements ?? left)
        : right.kind === 'map' && left.kind === 'string';
    default:
      return true;
  }
}

const ofTexts = new Set(['startsWith', 'endsWith', 'contains', 'matches']);

function methodProblem(node: ASTNode & { op: 'rcall' }, [receiver, ...args]: Type[]): string | undefined {
  const [name] = node.args;
  if (!receiver || !ofTexts.has(name) || args.length !== 1) return undefined;
  if (receiver.kind === 'string' && args[0]?.kind === 'string') return undefined;
  const applied = `${nameOf(receiver)}.(${args.map(nameOf).join(', ')})`;
  return shownAt(node.input, placeOf(node), `found no matching overload for '${name}' applied to '${applied}'`);
}
