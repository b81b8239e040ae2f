// Why an expression does not compile or evaluate, in the real server's form: the place, the line, and a mark under it.
import { EvaluationError, ParseError, TypeError as CheckError, type ASTNode } from '@marcbachmann/cel-js';

/** What the evaluator says of `text`, which it refused. */
export function compileProblemOf(error: unknown, text: string): string {
  if (error instanceof ParseError)
    return shownAt(text, error.range?.start ?? text.length, `Syntax error: ${error.summary}`);
  if (!(error instanceof CheckError)) return error instanceof Error ? error.message : String(error);
  const node = error.node as ASTNode | undefined;
  const at = node && 'op' in node ? placeOf(node) : (error.range?.start ?? 0);
  return shownAt(text, at, checkProblem(error.code, error.summary, node));
}

/** `ERROR: <input>:1:3: why`, the line, and a mark; columns are counted from 1, in characters. */
export function shownAt(text: string, at: number, why: string): string {
  const before = text.slice(0, at).split('\n');
  const line = text.split('\n')[before.length - 1] ?? '';
  const column = [...(before.at(-1) ?? '')].length;
  return `ERROR: <input>:${before.length}:${column + 1}: ${why}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

/** Where the real one says a fault is: at the operator, at the bracket of a call, at the dot of a field. */
export function placeOf(node: ASTNode): number {
  const { input, range } = node;
  switch (node.op) {
    case 'call':
      return input.indexOf('(', range.start);
    case 'rcall':
      return input.indexOf('(', input.indexOf(node.args[0], node.args[1].range.end));
    case '.':
      return input.indexOf('.', node.args[0].range.end);
    case '[]':
      return input.indexOf('[', node.args[0].range.end);
    case '?:':
      return input.indexOf('?', node.args[0].range.end);
    case 'value':
    case 'id':
    case 'list':
    case 'map':
    case '!_':
    case '-_':
    case '.?':
    case '[?]':
      return range.start;
    default: {
      const at = input.indexOf(node.op, node.args[0].range.end);
      return at < 0 ? range.start : at;
    }
  }
}

const operators: Record<string, string> = { in: '@in', '!_': '!_', '-_': '-_', '&&': '_&&_', '||': '_||_' };

function checkProblem(code: string, summary: string, node: ASTNode | undefined): string {
  if (code === 'unknown_variable' && node?.op === 'id')
    return `undeclared reference to '${node.args}' (in container '')`;
  // Of a type with fixed fields.
  if (code === 'no_such_key' && node?.op === '.') return `undefined field '${node.args[1]}'`;
  if (code === 'no_such_overload' && node) return mismatch(summary, node);
  const call = /^found no matching overload for '(?:(.*?)\.)?(\w+)\((.*)\)'$/.exec(summary);
  if (!call) return summary;
  const [, receiver, name = '', args = ''] = call;
  if (!known.has(name)) return `undeclared reference to '${name}' (in container '')`;
  const types = args === '' ? [] : args.split(', ');
  const applied = receiver === undefined ? `(${types.join(', ')})` : `${receiver}.(${types.join(', ')})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}

/** `no such overload: int + string`, or `!int`. */
function mismatch(summary: string, node: ASTNode): string {
  const said = summary.replace('no such overload: ', '');
  const name = operators[node.op] ?? `_${node.op}_`;
  const types = node.op === '!_' || node.op === '-_' ? [said.slice(1)] : said.split(` ${node.op} `);
  return `found no matching overload for '${name}' applied to '(${types.join(', ')})'`;
}

const known = new Set(
  [
    'size int uint double string bytes bool duration timestamp type dyn',
    'contains startsWith endsWith matches matchesPattern lowerAscii upperAscii trim split join replace substring',
    'indexOf lastIndexOf charAt format isSorted sum min max',
    'quantity isQuantity ip isIP cidr isCIDR url isURL',
    'path group serviceAccount resource subresource namespace name fieldSelector labelSelector check allowed reason errored error',
  ].flatMap((names) => names.split(' ')),
);

/** What an evaluation failed with, in the real one's words. */
export function evaluationProblem(error: unknown): string {
  const text =
    error instanceof EvaluationError ? error.summary : error instanceof Error ? error.message : String(error);
  const line = text.split('\n')[0] ?? '';
  return line
    .replace(/^No such key: /, 'no such key: ')
    .replace(/^.*index out of bounds, index (-?\d+).*$/, 'index out of bounds: $1')
    .replace(
      /^(no such overload: |found no matching overload|Logical operator requires bool operands).*$/,
      'no such overload',
    )
    .replace(/^(int|uint|double|bool)\(\) .*cannot convert to \w+$/, "type conversion error from 'string' to '$1'")
    .replace(
      /^timestamp\(\) requires a string.*$/,
      "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    )
    .replace(/^integer overflow: .*$/, 'integer overflow')
    .replace(/^modulo by zero$/, 'modulus by zero');
}
