// JSON text as a value, or what is wrong with it in the words of Go's decoder, which the clients' users know.

export type Parsed = { ok: true; value: unknown } | { ok: false; message: string };

/** Deeper than this, Go's decoder gives up. */
const deepest = 10_000;

export const parseJson = (text: string): Parsed => parse(text, () => Buffer.from(text));

/** The same of bytes, which need not be text at all. */
export const parseJsonBytes = (bytes: Buffer): Parsed => parse(bytes.toString('utf8'), () => bytes);

function parse(text: string, bytes: () => Buffer): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(text, deepest) ? { ok: false, message: depthText(text) } : { ok: true, value };
  } catch (error) {
    // Go's decoder reads bytes: each is a character of its own here.
    if (error instanceof SyntaxError) return { ok: false, message: problemIn(bytes().toString('latin1')) };
    throw error;
  }
}

function depthText(text: string): string {
  return `invalid character '${/[[{][^[{]*$/.exec(text)?.[0][0] ?? '['}' exceeded max depth`;
}

/** Counts brackets outside of strings; texts too short to be that deep are not looked through. */
function isDeeper(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (mark === '[' || mark === '{') depth++;
    else if (mark === ']' || mark === '}') depth--;
    if (depth > limit) return true;
  }
  return false;
}

/** What the scanner expects next; `stack` holds the brackets it is in. */
interface Scan {
  text: string;
  at: number;
  stack: ('[' | '{')[];
  expects: 'value' | 'value or ]' | 'key or }' | 'key' | 'colon' | 'comma';
}

const ended = 'unexpected end of JSON input';
const literals: Record<string, string> = { t: 'true', f: 'false', n: 'null' };

/** The first thing wrong with a text that JSON.parse refuses. */
function problemIn(text: string): string {
  const scan: Scan = { text, at: 0, stack: [], expects: 'value' };
  for (;;) {
    scan.at += /^[ \t\r\n]*/.exec(text.slice(scan.at, scan.at + 65_536))?.[0].length ?? 0;
    const mark = text[scan.at];
    if (mark === undefined) return ended;
    if (/[ \t\r\n]/.test(mark)) continue;
    if (scan.stack.length > deepest) return `${said(mark)} exceeded max depth`;
    const problem = scan.expects === 'comma' ? afterValue(scan, mark) : step(scan, mark);
    if (problem !== undefined) return problem;
  }
}

const escapes: Record<string, string> = {
  "'": "\\'",
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** The character as Go prints it. */
function said(mark: string): string {
  const code = mark.charCodeAt(0);
  const hex = code.toString(16);
  const hidden = code < 32 || code === 127 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
  return `invalid character '${escapes[mark] ?? (/[ -~\xa1-\xac\xae-\xff]/.test(mark) ? mark : hidden)}'`;
}

function step(scan: Scan, mark: string): string | undefined {
  switch (scan.expects) {
    case 'key or }':
      if (mark === '}') return closed(scan);
      return key(scan, mark);
    case 'key':
      return key(scan, mark);
    case 'colon':
      if (mark !== ':') return `${said(mark)} after object key`;
      scan.at++;
      scan.expects = 'value';
      return undefined;
    case 'value or ]':
      if (mark === ']') return closed(scan);
      return value(scan, mark);
    default:
      return value(scan, mark);
  }
}

function closed(scan: Scan): undefined {
  scan.at++;
  scan.stack.pop();
  scan.expects = 'comma';
}

function key(scan: Scan, mark: string): string | undefined {
  if (mark !== '"') return `${said(mark)} looking for beginning of object key string`;
  const problem = stringIn(scan);
  scan.expects = 'colon';
  return problem;
}

function value(scan: Scan, mark: string): string | undefined {
  if (mark === '[' || mark === '{') {
    scan.at++;
    scan.stack.push(mark);
    scan.expects = mark === '[' ? 'value or ]' : 'key or }';
    return undefined;
  }
  scan.expects = 'comma';
  if (mark === '"') return stringIn(scan);
  if (literals[mark]) return literalIn(scan, literals[mark]);
  if (/[-\d]/.test(mark)) return numberIn(scan);
  return `${said(mark)} looking for beginning of value`;
}

function afterValue(scan: Scan, mark: string): string | undefined {
  const inside = scan.stack.at(-1);
  if (inside === undefined) return `${said(mark)} after top-level value`;
  if (mark === (inside === '[' ? ']' : '}')) return closed(scan);
  if (mark !== ',') return `${said(mark)} after ${inside === '[' ? 'array element' : 'object key:value pair'}`;
  scan.at++;
  scan.expects = inside === '[' ? 'value' : 'key';
  return undefined;
}

function stringIn(scan: Scan): string | undefined {
  for (scan.at++; ; scan.at++) {
    const mark = scan.text[scan.at];
    if (mark === undefined) return ended;
    if (mark === '"') break;
    if (mark < ' ') return `${said(mark)} in string literal`;
    if (mark !== '\\') continue;
    const escape = scan.text[++scan.at];
    if (escape === undefined) return ended;
    if (!/["\\/bfnrtu]/.test(escape)) return `${said(escape)} in string escape code`;
  }
  scan.at++;
  return undefined;
}

function literalIn(scan: Scan, word: string): string | undefined {
  for (let i = 0; i < word.length; i++, scan.at++) {
    const mark = scan.text[scan.at];
    if (mark === undefined) return ended;
    if (mark !== word[i]) return `${said(mark)} in literal ${word} (expecting '${word[i] ?? ''}')`;
  }
  return undefined;
}

function numberIn(scan: Scan): string | undefined {
  const found = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(scan.text.slice(scan.at, scan.at + 400))?.[0] ?? '';
  const next = scan.text[scan.at + Math.max(found.length, 1)];
  if (found === '') return next === undefined ? ended : `${said(next)} in numeric literal`;
  scan.at += found.length;
  return undefined;
}
