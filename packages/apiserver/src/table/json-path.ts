// The JSONPath of printer columns: fields, quoted fields, indexes, `[*]`, and filters such as [?(@.type=="Ready")].
import { isTree } from '../object.ts';

type Step = (values: unknown[]) => unknown[];

/** A function giving every value at `path` (`.status.conditions[?(@.type=="Ready")].status`); undefined for a path it cannot read. */
export function jsonPath(path: string): ((root: unknown) => unknown[]) | undefined {
  const steps: Step[] = [];
  let rest = path.replace(/^\{|\}$/g, '').replace(/^\$/, '');
  if (rest !== '' && !rest.startsWith('.') && !rest.startsWith('[')) rest = `.${rest}`;
  while (rest !== '') {
    const found = stepAt(rest);
    if (!found) return undefined;
    steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return (root) => steps.reduce<unknown[]>((values, step) => step(values), [root]);
}

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isTree(value) && Object.hasOwn(value, name) ? [value[name]] : []));
const every: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : isTree(value) ? Object.values(value) : []));
const index =
  (i: number): Step =>
  (values) =>
    values.flatMap((value) => (Array.isArray(value) && value.at(i) !== undefined ? [value.at(i)] : []));

function filter(path: string, operator: string, literal: string): Step | undefined {
  const read = jsonPath(path);
  if (!read) return undefined;
  const wanted = literal.replace(/^(["'])(.*)\1$/s, '$2');
  const fits = (item: unknown) => String(read(item)[0]) === wanted;
  return (values) => every(values).filter((item) => fits(item) === (operator === '=='));
}

const patterns: [RegExp, (found: RegExpExecArray) => Step | undefined][] = [
  [/^\.\*/, () => every],
  [/^\.((?:[^.[\]\\]|\\.)+)/, (found) => field((found[1] ?? '').replace(/\\(.)/g, '$1'))],
  [/^\[\*\]/, () => every],
  [/^\[(-?\d+)\]/, (found) => index(Number(found[1]))],
  [/^\[(["'])(.+?)\1\]/, (found) => field(found[2] ?? '')],
  [
    /^\[\?\(\s*@(\.[^=!\s]+)\s*(==|!=)\s*("[^"]*"|'[^']*'|[^)\s]+)\s*\)\]/,
    (found) => filter(found[1] ?? '', found[2] ?? '', found[3] ?? ''),
  ],
  [/^\.$/, () => (values) => values],
];

function stepAt(rest: string): { step: Step; length: number } | undefined {
  for (const [pattern, make] of patterns) {
    const found = pattern.exec(rest);
    const step = found && make(found);
    if (found && step) return { step, length: found[0].length };
  }
  return undefined;
}
