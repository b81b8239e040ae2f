// Label selectors in text: read as Kubernetes reads them, token by token, since its users know its complaints.
import { badRequest, ok, refuse, type Result } from './status.ts';

export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean;

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
  const tokens = tokensOf(text);
  const checks: LabelSelector[] = [];
  while (tokens.peek().kind !== 'end') {
    if (!isStart(tokens.peek())) return refused(tokens.peek(), "!, identifier, or 'end of string'");
    const check = requirement(tokens);
    if (typeof check === 'string') return refuse(badRequest(`unable to parse requirement: ${check}`));
    checks.push(check);
    const next = tokens.take();
    if (next.kind === 'end') break;
    if (next.kind !== ',') return refused(next, "',' or 'end of string'");
    if (!isStart(tokens.peek())) return refused(tokens.peek(), "identifier after ','");
  }
  return ok((labels) => checks.every((check) => check(labels)));
}

interface Token {
  kind: 'word' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '<' | '>';
  text: string;
}

interface Tokens {
  peek(): Token;
  take(): Token;
}

const end: Token = { kind: 'end', text: '' };

function tokensOf(text: string): Tokens {
  const tokens = [...text.matchAll(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g)].map(([found]): Token => {
    const isMark = /^[=!(),<>]/.test(found);
    return { kind: isMark ? (found as Token['kind']) : 'word', text: found };
  });
  let at = 0;
  return { peek: () => tokens[at] ?? end, take: () => tokens[at++] ?? end };
}

const isStart = ({ kind }: Token): boolean => kind === 'word' || kind === '!';
const unexpected = ({ text }: Token, expected: string): string => `found '${text}', expected: ${expected}`;
const refused = (token: Token, expected: string) => refuse(badRequest(unexpected(token, expected)));

function requirement(tokens: Tokens): LabelSelector | string {
  const isAbsent = tokens.peek().kind === '!';
  if (isAbsent) tokens.take();
  const token = tokens.take();
  if (token.kind !== 'word') return unexpected(token, 'identifier');
  const key = token.text;
  const wrong = keyProblem(key);
  if (wrong) return wrong;
  if (isAbsent) return (labels) => !Object.hasOwn(labels, key);
  const next = tokens.peek();
  if (next.kind === 'end' || next.kind === ',') return (labels) => Object.hasOwn(labels, key);
  return comparison(tokens, key);
}

const operators = ['in', 'notin', '=', '==', '!=', '>', '<'];

function comparison(tokens: Tokens, key: string): LabelSelector | string {
  const token = tokens.take();
  if (!operators.includes(token.text)) return unexpected(token, 'in, notin, =, ==, !=, gt, lt');
  const isSet = token.kind === 'word';
  const values = isSet ? setOf(tokens) : exactValue(tokens);
  if (typeof values === 'string') return values;
  if (token.kind === '<' || token.kind === '>') return ordered(key, token.kind, values[0] ?? '');
  const wrong = values.map(valueProblem).find((found) => found !== undefined);
  if (wrong) return wrong;
  const isOneOf = token.text !== 'notin' && token.kind !== '!=';
  return (labels) => (Object.hasOwn(labels, key) && values.includes(labels[key] ?? '')) === isOneOf;
}

function exactValue(tokens: Tokens): string[] | string {
  const { kind } = tokens.peek();
  if (kind === 'end' || kind === ',') return [''];
  const token = tokens.take();
  return token.kind === 'word' ? [token.text] : unexpected(token, 'identifier');
}

/** `(a, b)`; a comma with nothing before or after it stands for the empty value. */
function setOf(tokens: Tokens): string[] | string {
  const open = tokens.take();
  if (open.kind !== '(') return `found '${open.text}' expected: '('`;
  const first = tokens.peek();
  if (first.kind !== 'word' && first.kind !== ',' && first.kind !== ')')
    return unexpected(first, "',', ')' or identifier");
  const values: string[] = [];
  for (let isValueDue = true; ;) {
    const token = tokens.take();
    if (token.kind === ')') return isValueDue ? [...values, ''] : values;
    if (token.kind === ',') {
      if (isValueDue) values.push('');
      isValueDue = true;
    } else if (token.kind === 'word' && isValueDue) {
      values.push(token.text);
      isValueDue = false;
    } else return unexpected(token, isValueDue ? "',', or identifier" : "',' or ')'");
  }
}

function ordered(key: string, operator: '<' | '>', value: string): LabelSelector | string {
  if (!/^-?\d+$/.test(value))
    return `values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`;
  const limit = Number(value);
  return (labels) => {
    const found = labels[key];
    if (found === undefined || !/^-?\d+$/.test(found)) return false;
    return operator === '>' ? Number(found) > limit : Number(found) < limit;
  };
}

const name = '[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?';
const keyPattern = new RegExp(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?${name}$`);
const valuePattern = new RegExp(`^(${name})?$`);

const keyProblem = (key: string): string | undefined =>
  keyPattern.test(key) && key.length <= 317
    ? undefined
    : `key: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`;

const valueProblem = (value: string): string | undefined =>
  valuePattern.test(value) && value.length <= 63
    ? undefined
    : `values[0]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`;
