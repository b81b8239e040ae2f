// What a condition of a route means: read once into checks, then held against a request.
// The iRule compiler writes the same checks in Tcl, so a meaning is settled here and nowhere else.
import { formatAddress, parseAddress, parseAddressRange, contains, type AddressRange } from './addresses.ts';
import type { Condition, Operator, Subject } from './load-balancer.ts';
import { ok, type Result } from './problem.ts';
import { portable } from './regexp.ts';
import { refuse, type Refusal, type Words } from './words.ts';

/** A request as the listener sees it. For tcp and udp only `client` counts. */
export interface TestRequest {
  /** Address of the client; a route domain behind it (`%1`) is not part of it. */
  client: string;
  /** Path and query as sent, such as `/shop?item=1`. `/` when not given. */
  uri?: string | undefined;
  /** As sent, `Host` and `Cookie` among them; names in any case. */
  headers?: readonly (readonly [name: string, value: string])[] | undefined;
}

export type Check =
  | { operator: 'equal' | 'prefix'; text: string }
  | { operator: 'range'; least: number; most: number }
  | { operator: 'regexp'; pattern: RegExp }
  | { operator: 'within'; range: AddressRange };

/** A condition that was read: true when any of its checks is. */
export interface Clause {
  subject: Subject;
  /** Lower case for headers; empty where the subject has no key. */
  key: string;
  checks: Check[];
}

/** Whole numbers that ranges compare: decimal without sign or leading zero, at most 15 digits, so exact everywhere. */
export const canonicalNumber = /^(?:0|[1-9][0-9]{0,14})$/;

const longestValue = 1024;
const longestKey = 128;

/**
 *   subject  what is compared                                      equal  prefix  regexp  range
 *   host     Host in lower case, without port and brackets         yes    yes     yes     –
 *   path     path without query, as sent                           yes    yes     yes     –
 *   header   its last value when repeated; absent matches nothing  yes    yes     yes     a-b
 *   cookie   its value; absent matches nothing                     yes    yes     yes     a-b
 *   query    first of that name, decoded; absent matches nothing   yes    yes     yes     a-b
 *   address  the client's                                          a, c   –       –       c, f-t
 *
 * `a-b`: whole numbers, both included, a ≤ b. `a` an address, `c` a CIDR, `f-t` from one address to another.
 * Compared byte by byte; only the host is without regard to case.
 */
const operators: Record<Subject, readonly Operator[]> = {
  host: ['equal', 'prefix', 'regexp'],
  path: ['equal', 'prefix', 'regexp'],
  header: ['equal', 'prefix', 'regexp', 'range'],
  cookie: ['equal', 'prefix', 'regexp', 'range'],
  query: ['equal', 'prefix', 'regexp', 'range'],
  address: ['equal', 'range'],
};

/** Refuses (`invalid`, with the field's path) what could never match or would mean something else on the device. */
export function parseCondition(condition: Condition, path: string): Result<Clause, Refusal> {
  const { subject, tests } = condition;
  const key = parseKey(condition, `${path}.key`);
  if (!key.ok) return key;
  if (tests.length === 0) {
    const words = { en: `a condition on ${subject} needs at least one value`, zh: `${subject} 的条件至少需要一个值` };
    return refuse('invalid', words, `${path}.tests`);
  }
  const checks: Check[] = [];
  for (const [i, { operator, value }] of tests.entries()) {
    const at = `${path}.tests[${i}]`;
    if (!operators[subject].includes(operator)) {
      const takes = operators[subject].join(', ');
      const words = {
        en: `operator ${operator} does not fit ${subject}, which takes ${takes}`,
        zh: `运算符 ${operator} 不适用于 ${subject},可用的运算符为:${takes}`,
      };
      return refuse('invalid', words, `${at}.operator`);
    }
    const check = parseCheck(subject, operator, { value, path: `${at}.value` });
    if (!check.ok) return check;
    checks.push(check.value);
  }
  return ok({ subject, key: key.value, checks });
}

/** The check that holds for `request`, or undefined when none does. */
export function holding(clause: Clause, request: TestRequest): Check | undefined {
  if (clause.subject === 'address') {
    const client = parseAddress(clientAddress(request));
    if (!client.ok) return undefined;
    return clause.checks.find((check) => check.operator === 'within' && contains(check.range, client.value));
  }
  const value = compared(clause, request);
  return value === undefined ? undefined : clause.checks.find((check) => checkHolds(check, value));
}

/** What the clause compares, or undefined when the request has no such thing. */
export function compared({ subject, key }: Clause, request: TestRequest): string | undefined {
  if (subject === 'address') return clientAddress(request);
  if (subject === 'host') return plainHost(header(request, 'host') ?? '') || undefined;
  if (subject === 'path') return (request.uri ?? '/').split('?', 1)[0];
  if (subject === 'header') return header(request, key);
  if (subject === 'cookie') return cookie(request, key);
  return queryParameter(request.uri ?? '/', key);
}

/** The client's address without route domain, in canonical text when it is an address. */
export function clientAddress(request: TestRequest): string {
  const text = request.client.split('%', 1)[0] ?? '';
  const address = parseAddress(text);
  return address.ok ? formatAddress(address.value) : text;
}

/** The last value of a header, as the device's `HTTP::header value` gives it. */
export const header = (request: TestRequest, name: string): string | undefined =>
  request.headers?.findLast(([given]) => given.toLowerCase() === name)?.[1].trim();

function parseKey({ subject, key = '' }: Condition, path: string): Result<string, Refusal> {
  const needsKey = subject === 'header' || subject === 'cookie' || subject === 'query';
  if (!needsKey) {
    const words = { en: `a condition on ${subject} takes no key`, zh: `${subject} 的条件没有 key` };
    return key === '' ? ok('') : refuse('invalid', words, path);
  }
  const isQuery = subject === 'query';
  // Names of headers and cookies are tokens: RFC 9110 §5.6.2, RFC 6265 §4.1.1.
  const valid = isQuery ? /^[ -~]+$/.test(key) : /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(key);
  if (!valid || key.length > longestKey) {
    const signs = "!#$%&'*+.^_`|~-";
    const rule = isQuery
      ? { en: 'printable ASCII', zh: '可打印的 ASCII 字符' }
      : { en: `letters, digits and ${signs}`, zh: `字母、数字和 ${signs}` };
    const words = {
      en: `the name of a ${subject} is 1 to ${longestKey} of ${rule.en}; "${key}" is not`,
      zh: `${subject} 的名称须为 1 到 ${longestKey} 个${rule.zh};"${key}" 不是`,
    };
    return refuse('invalid', words, path);
  }
  return ok(subject === 'header' ? key.toLowerCase() : key);
}

interface GivenValue {
  value: string;
  path: string;
}

function parseCheck(subject: Subject, operator: Operator, given: GivenValue): Result<Check, Refusal> {
  if (subject === 'address') return parseWithin(operator, given);
  if (operator === 'regexp') {
    const pattern = portable(given.value);
    if (!pattern.ok) return { ok: false, problem: { ...pattern.problem, path: given.path } };
    return ok({ operator, pattern: pattern.value });
  }
  return operator === 'range' ? parseNumbers(given) : parseText(subject, operator, given);
}

function parseWithin(operator: Operator, { value, path }: GivenValue): Result<Check, Refusal> {
  const isNetwork = value.includes('/') || value.includes('-');
  if (operator === 'range' && !isNetwork) {
    const words = {
      en: `"${value}" is no range; write 10.0.0.0/24 or 10.0.0.1-10.0.0.9, or use equal`,
      zh: `"${value}" 不是地址范围;请写成 10.0.0.0/24 或 10.0.0.1-10.0.0.9,或改用 equal`,
    };
    return refuse('invalid', words, path);
  }
  if (operator === 'equal' && value.includes('-')) {
    const words = {
      en: `"${value}": equal takes an address or a CIDR; use range`,
      zh: `"${value}":equal 只接受单个地址或 CIDR 网段;请改用 range`,
    };
    return refuse('invalid', words, path);
  }
  const range = parseAddressRange(value, path);
  return range.ok ? ok({ operator: 'within', range: range.value }) : range;
}

function parseNumbers({ value, path }: GivenValue): Result<Check, Refusal> {
  const [least = '', most = '', ...rest] = value.split('-');
  if (rest.length > 0 || !canonicalNumber.test(least) || !canonicalNumber.test(most)) {
    const words = {
      en: `"${value}" is no range; write two whole numbers of at most 15 digits, such as 100-1000`,
      zh: `"${value}" 不是数值范围;请写两个不超过 15 位的整数,例如 100-1000`,
    };
    return refuse('invalid', words, path);
  }
  if (Number(least) > Number(most)) {
    const words = {
      en: `"${value}": a range goes from the lower to the higher`,
      zh: `"${value}":范围须从小到大`,
    };
    return refuse('invalid', words, path);
  }
  return ok({ operator: 'range', least: Number(least), most: Number(most) });
}

function parseText(
  subject: Subject,
  operator: 'equal' | 'prefix',
  { value, path }: GivenValue,
): Result<Check, Refusal> {
  const why = wrongText(subject, value);
  if (why !== undefined) {
    const words = {
      en: `value "${value}" of ${subject}: ${why.en}`,
      zh: `${subject} 的值 "${value}":${why.zh}`,
    };
    return refuse('invalid', words, path);
  }
  if (subject !== 'host') return ok({ operator, text: value });
  return ok({ operator, text: value.toLowerCase().replace(/^\[([0-9a-f:.]+)\]$/, '$1') });
}

function wrongText(subject: Subject, value: string): Words | undefined {
  if (value === '' || value.length > longestValue)
    return { en: `it has to have 1 to ${longestValue} characters`, zh: `长度须为 1 到 ${longestValue} 个字符` };
  // Beyond ASCII, what the device compares depends on its encoding of the rule; control characters cannot be sent at all.
  if (!/^[ -~]+$/.test(value)) {
    return {
      en: 'only printable ASCII characters; percent-encode others in a path',
      zh: '只能使用可打印的 ASCII 字符;路径中的其他字符请用百分号编码',
    };
  }
  if (subject === 'path' && !value.startsWith('/')) return { en: 'a path begins with "/"', zh: '路径须以 "/" 开头' };
  if (subject === 'path' && value.includes('?')) {
    return {
      en: 'the path is compared without the query; use query for that',
      zh: '比较路径时不含查询参数;查询参数请用 query',
    };
  }
  if (subject === 'host' && /^[^[\]:]+:[0-9]+$/.test(value))
    return { en: 'the host is compared without the port', zh: '比较域名时不含端口' };
  return undefined;
}

function checkHolds(check: Check, value: string): boolean {
  switch (check.operator) {
    case 'equal':
      return value === check.text;
    case 'prefix':
      return value.startsWith(check.text);
    case 'regexp':
      return check.pattern.test(value);
    case 'range':
      return canonicalNumber.test(value) && check.least <= Number(value) && Number(value) <= check.most;
    case 'within':
      throw new Error('bug: only an address is within a range of addresses');
  }
}

function plainHost(host: string): string {
  const lower = host.toLowerCase();
  return (lower.startsWith('[') ? lower.slice(1).split(']', 1)[0] : lower.split(':', 1)[0]) ?? '';
}

/** The first of that name, without blanks around it (RFC 6265 §5.2). */
export function cookie(request: TestRequest, name: string): string | undefined {
  const jars = (request.headers ?? []).filter(([given]) => given.toLowerCase() === 'cookie');
  for (const pair of jars.flatMap(([, value]) => value.split(';'))) {
    const cut = pair.indexOf('=');
    if (cut > 0 && pair.slice(0, cut).trim() === name) return pair.slice(cut + 1).trim();
  }
  return undefined;
}

function queryParameter(uri: string, name: string): string | undefined {
  const query = uri.includes('?') ? uri.slice(uri.indexOf('?') + 1) : '';
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=');
    if (decode(at < 0 ? pair : pair.slice(0, at)) === name) return at < 0 ? '' : decode(pair.slice(at + 1));
  }
  return undefined;
}

/** Percent-decoding into bytes, `+` as a space (as forms send it); a `%` without two hexadecimal digits stands for itself. */
const decode = (text: string): string =>
  text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
