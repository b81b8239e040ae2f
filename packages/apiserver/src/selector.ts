// Label and field selectors: parsed once per request, then asked about many objects.
import { badRequest, ok, refuse, type Result } from './status.ts';

export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean;

/** A requirement `path = value` or `path != value`. */
export interface FieldRequirement {
  path: string;
  isEqual: boolean;
  value: string;
}

const everything: LabelSelector = () => true;
const name = '[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?';
const keyPattern = new RegExp(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?${name}$`);
const valuePattern = new RegExp(`^(${name})?$`);

/*
   requirement      holds when the label is
   ---------------+------------------------------------
   k=v, k==v      | there and equal
   k!=v           | absent or different
   k in (a,b)     | there and one of them
   k notin (a,b)  | absent or none of them
   k              | there
   !k             | absent
   k>5, k<5       | there, a number, and more (less)
*/
export function parseLabelSelector(text: string): Result<LabelSelector> {
  if (text.trim() === '') return ok(everything);
  const checks: LabelSelector[] = [];
  for (const part of splitOutsideBrackets(text)) {
    const check = requirement(part.trim());
    if (typeof check === 'string') return refuse(badRequest(`unable to parse requirement: ${check}`));
    checks.push(check);
  }
  return ok((labels) => checks.every((check) => check(labels)));
}

function requirement(text: string): LabelSelector | string {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text);
  if (set)
    return setRequirement(
      set[1] ?? '',
      set[2] === 'in',
      (set[3] ?? '').split(',').map((value) => value.trim()),
    );
  const compared = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*(\S*)$/.exec(text);
  if (compared) return comparison(compared[1] ?? '', compared[2] ?? '', compared[3] ?? '');
  const bare = /^(!?)\s*([^=!<>\s()]+)$/.exec(text);
  if (!bare) return `found '${text}', expected: identifier`;
  const key = bare[2] ?? '';
  const wrong = keyProblem(key);
  if (wrong) return wrong;
  return bare[1] ? (labels) => !Object.hasOwn(labels, key) : (labels) => Object.hasOwn(labels, key);
}

function setRequirement(key: string, isIn: boolean, values: string[]): LabelSelector | string {
  const wrong = keyProblem(key) ?? values.map(valueProblem).find((found) => found !== undefined);
  if (wrong) return wrong;
  return (labels) => (Object.hasOwn(labels, key) && values.includes(labels[key] ?? '')) === isIn;
}

function comparison(key: string, operator: string, value: string): LabelSelector | string {
  const wrong = keyProblem(key) ?? valueProblem(value);
  if (wrong) return wrong;
  if (operator === '!=') return (labels) => !(Object.hasOwn(labels, key) && labels[key] === value);
  if (operator === '>' || operator === '<') {
    if (!/^-?\d+$/.test(value))
      return `values[0][${key}]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`;
    const limit = Number(value);
    return (labels) => {
      const found = labels[key];
      if (found === undefined || !/^-?\d+$/.test(found)) return false;
      return operator === '>' ? Number(found) > limit : Number(found) < limit;
    };
  }
  return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
}

const keyProblem = (key: string): string | undefined =>
  keyPattern.test(key) && key.length <= 317
    ? undefined
    : `key: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`;

const valueProblem = (value: string): string | undefined =>
  valuePattern.test(value) && value.length <= 63
    ? undefined
    : `values[0]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`;

function splitOutsideBrackets(text: string): string[] {
  return text.split(/,(?![^()]*\))/);
}

/** Field requirements, in the order written; a backslash escapes a comma, an equals sign or itself in a value. */
export function parseFieldSelector(text: string): Result<FieldRequirement[]> {
  const out: FieldRequirement[] = [];
  for (const part of text.split(/(?<!\\),/)) {
    if (part.trim() === '') continue;
    const found = /^([^=!]+?)\s*(!=|==|=)(.*)$/s.exec(part.trim());
    if (!found) return refuse(badRequest(`invalid selector: '${part}'; can't understand '${part}'`));
    out.push({
      path: found[1] ?? '',
      isEqual: found[2] !== '!=',
      value: (found[3] ?? '').replace(/\\([,=\\])/g, '$1'),
    });
  }
  return ok(out);
}

/** Whether labels fit a `metav1.LabelSelector`; an empty one fits all, one that cannot be read none. */
export function matchesSelector(selector: Parameters<typeof selectorText>[0], labels: Record<string, string>): boolean {
  const parsed = parseLabelSelector(selectorText(selector));
  return parsed.ok && parsed.value(labels);
}

/** A `metav1.LabelSelector` (matchLabels, matchExpressions) as text, so there is one evaluator. */
export function selectorText(selector: {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}): string {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const rest = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...equal, ...rest].join(',');
}
