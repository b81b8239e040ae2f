// Tcl's rules of words (tcl.tk, "Tcl" manual page, rules 1 to 9), as far as telling commands and words apart needs.

export interface Word {
  kind: 'braced' | 'quoted' | 'bare';
  /** Without the braces or quotes around it. */
  text: string;
  /** Where `text` begins in the script it was read from. */
  at: number;
}

export interface Command {
  words: Word[];
  at: number;
}

/** The text ended where more was needed, or a word where it may not. `at`: where the fault began. */
export class TclFault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** The commands of a script, comments left out. Throws TclFault. */
export function commands(script: string): Command[] {
  const found: Command[] = [];
  let at = 0;
  while ((at = skip(script, at, /[\s;]/)) < script.length) {
    if (script[at] === '#') at = lineEnd(script, at);
    else {
      const command = readCommand(script, at, '');
      found.push({ words: command.words, at });
      at = command.end;
    }
  }
  return found;
}

/**
 * Where braces stop to balance, counted as Tcl counts inside a braced word: quotes and comments do not matter, only a
 * backslash does. AS3 puts the rule between braces, so this, not the rule's own reading, decides where it ends.
 */
export function unbalanced(text: string): number | undefined {
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '{') open.push(at);
    else if (text[at] === '}' && open.pop() === undefined) return at;
  }
  return open.at(-1);
}

function readCommand(script: string, start: number, end: '' | ']'): { words: Word[]; end: number } {
  const words: Word[] = [];
  let at = start;
  for (;;) {
    at = skipBlanks(script, at);
    const sign = script[at];
    if (sign === undefined || sign === '\n' || sign === ';' || (end !== '' && sign === end)) return { words, end: at };
    const word = readWord(script, at, end);
    words.push(word.word);
    at = word.end;
  }
}

function readWord(script: string, at: number, end: '' | ']'): { word: Word; end: number } {
  const braced = script[at] === '{';
  if (braced || script[at] === '"') {
    const close = braced ? closeBrace(script, at) : closeQuote(script, at);
    const text = script.slice(at + 1, close);
    return { word: { kind: braced ? 'braced' : 'quoted', text, at: at + 1 }, end: close + 1 };
  }
  let to = at;
  for (let sign = script[to]; sign !== undefined && !/[\s;]/.test(sign) && sign !== end; sign = script[to]) {
    if (sign === '\\') to += 2;
    else if (sign === '[') to = closeBracket(script, to) + 1;
    else if (sign === '$' && script[to + 1] === '{') to = closeBrace(script, to + 1) + 1;
    else to += 1;
  }
  return { word: { kind: 'bare', text: script.slice(at, to), at }, end: Math.min(to, script.length) };
}

function closeBrace(script: string, start: number): number {
  let depth = 0;
  for (let at = start; at < script.length; at += 1) {
    if (script[at] === '\\') at += 1;
    else if (script[at] === '{') depth += 1;
    else if (script[at] === '}' && (depth -= 1) === 0) return at;
  }
  throw new TclFault('this brace is not closed', start);
}

function closeQuote(script: string, start: number): number {
  for (let at = start + 1; at < script.length; at += 1) {
    if (script[at] === '\\') at += 1;
    else if (script[at] === '"') return at;
    else if (script[at] === '[') at = closeBracket(script, at);
  }
  throw new TclFault('this quote is not closed', start);
}

function closeBracket(script: string, start: number): number {
  let at = start + 1;
  while ((at = skip(script, at, /[\s;]/)) < script.length) {
    if (script[at] === ']') return at;
    at = readCommand(script, at, ']').end;
  }
  throw new TclFault('this bracket is not closed', start);
}

function skip(script: string, start: number, signs: RegExp): number {
  let at = start;
  while (at < script.length && signs.test(script[at] ?? '')) at += 1;
  return at;
}

/** Blanks, and line ends behind a backslash, which go on with the command. */
function skipBlanks(script: string, start: number): number {
  let at = start;
  for (;;) {
    if (script.startsWith('\\\n', at)) at += 2;
    else if (/[ \t\r\f\v]/.test(script[at] ?? '')) at += 1;
    else return at;
  }
}

function lineEnd(script: string, start: number): number {
  let at = start;
  while (at < script.length && script[at] !== '\n') at += script[at] === '\\' ? 2 : 1;
  return at;
}
