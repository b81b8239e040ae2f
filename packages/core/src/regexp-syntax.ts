// Reads the regular expressions that Tcl's ARE and JavaScript take for the same language into a tree.
import { fail, ok, type Result } from './problem.ts';

/** One character out of ranges of code points, or, when `negated`, any but these. */
export interface CharacterSet {
  kind: 'set';
  negated: boolean;
  ranges: readonly (readonly [number, number])[];
}

export interface Repeat {
  kind: 'repeat';
  of: Expression;
  least: number;
  /** Infinity when unbounded. */
  most: number;
}

export type Expression =
  | CharacterSet
  | Repeat
  | { kind: 'anchor'; text: '^' | '$' }
  | { kind: 'sequence'; parts: Expression[] }
  | { kind: 'choice'; branches: Expression[] };

/** Tcl counts no further in `{m,n}`. */
export const longestCount = 255;

/**
 *   written                   taken as
 *   a  /  -  other plain      itself
 *   \.  \/  any punctuation   itself
 *   .                         any character
 *   \d \w \s  \D \W \S        ASCII classes; Tcl's own would follow the locale, so they are spelt out
 *   [a-z_.]  [^/]             a set; \d \w \s may stand in it
 *   ^  $                      start and end of the value
 *   ab  a|b  (a)  (?:a)       sequence, choice, group (nothing is captured)
 *   * + ? {m} {m,} {m,n}      greedy repetition
 *   everything else           refused with its place: \b \1 (?=a) (?i) a*? [[:alpha:]] {x …
 */
export function parseExpression(text: string): Result<Expression> {
  const reader: Reader = { text, at: 0, problem: undefined };
  const tree = choice(reader);
  if (reader.at < text.length) refuse(reader, reader.at, 'a ")" without its "("');
  if (reader.problem === undefined) return ok(tree);
  return fail('invalid', `regexp "${text}": ${reader.problem}`);
}

interface Reader {
  text: string;
  at: number;
  /** The first thing found wrong; reading goes on to the end, which is simpler than unwinding. */
  problem: string | undefined;
}

function refuse(reader: Reader, at: number, why: string): void {
  reader.problem ??= `at character ${at + 1}: ${why}`;
  reader.at = reader.text.length;
}

function take(reader: Reader, wanted: string): boolean {
  if (!reader.text.startsWith(wanted, reader.at)) return false;
  reader.at += wanted.length;
  return true;
}

function choice(reader: Reader): Expression {
  const branches = [sequence(reader)];
  while (take(reader, '|')) branches.push(sequence(reader));
  return branches.length === 1 && branches[0] ? branches[0] : { kind: 'choice', branches };
}

function sequence(reader: Reader): Expression {
  const start = reader.at;
  const parts: Expression[] = [];
  while (reader.at < reader.text.length && !/[|)]/.test(reader.text.charAt(reader.at))) parts.push(repeated(reader));
  if (parts.length === 0) refuse(reader, start, 'nothing stands here; write (a)? for an optional part');
  return parts.length === 1 && parts[0] ? parts[0] : { kind: 'sequence', parts };
}

function repeated(reader: Reader): Expression {
  const start = reader.at;
  const of = atom(reader);
  const at = reader.at;
  const count = quantifier(reader);
  if (!count) return of;
  if (of.kind === 'anchor') refuse(reader, start, `"${of.text}" cannot be repeated`);
  if (/[*+?{]/.test(reader.text.charAt(reader.at)))
    refuse(reader, reader.at, 'a repetition of a repetition, or a lazy one, means different things in Tcl');
  if (count.least > count.most) refuse(reader, at, 'the first count is above the second');
  const highest = Number.isFinite(count.most) ? count.most : count.least;
  if (highest > longestCount) refuse(reader, at, `counts go up to ${longestCount}`);
  return { kind: 'repeat', of, ...count };
}

function quantifier(reader: Reader): { least: number; most: number } | undefined {
  if (take(reader, '*')) return { least: 0, most: Infinity };
  if (take(reader, '+')) return { least: 1, most: Infinity };
  if (take(reader, '?')) return { least: 0, most: 1 };
  const counts = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(reader.text.slice(reader.at));
  if (!counts) return undefined;
  reader.at += counts[0].length;
  const least = Number(counts[1]);
  if (counts[2] === undefined) return { least, most: least };
  return { least, most: counts[3] ? Number(counts[3]) : Infinity };
}

const nothing: Expression = { kind: 'sequence', parts: [] };
const character = (text: string): CharacterSet => {
  const code = text.charCodeAt(0);
  return { kind: 'set', negated: false, ranges: [[code, code]] };
};

const classes: Record<string, readonly (readonly [number, number])[]> = {
  d: [[0x30, 0x39]],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  s: [
    [0x09, 0x0d],
    [0x20, 0x20],
  ],
};

function atom(reader: Reader): Expression {
  const start = reader.at;
  const sign = reader.text.charAt(start);
  reader.at += 1;
  if (sign === '(') return group(reader, start);
  if (sign === '[') return bracket(reader, start);
  if (sign === '\\') return escape(reader, start);
  if (sign === '.') return { kind: 'set', negated: true, ranges: [] };
  if (sign === '^' || sign === '$') return { kind: 'anchor', text: sign };
  if (/[*+?]/.test(sign)) refuse(reader, start, `"${sign}" has nothing to repeat; write \\${sign} for the character`);
  else if (/[{}\]]/.test(sign)) refuse(reader, start, `write \\${sign} for the character, or {m,n} for a repetition`);
  else if (!/[ -~]/.test(sign)) refuse(reader, start, 'only printable ASCII characters can be matched');
  return character(sign);
}

function group(reader: Reader, start: number): Expression {
  if (!take(reader, '?:') && reader.text.charAt(reader.at) === '?') {
    refuse(reader, start, 'of the groups that open with "(?" only "(?:" means the same in Tcl');
    return nothing;
  }
  const inside = choice(reader);
  if (!take(reader, ')')) refuse(reader, start, 'this "(" is not closed');
  return inside;
}

function escape(reader: Reader, start: number): Expression {
  const sign = reader.text.charAt(reader.at);
  reader.at += 1;
  const ranges = classes[sign.toLowerCase()];
  if (ranges) return { kind: 'set', negated: sign !== sign.toLowerCase(), ranges };
  if (!/^[!-/:-@[-`{-~]$/.test(sign))
    refuse(reader, start, `"\\${sign}" is not one of \\d \\w \\s \\D \\W \\S or punctuation`);
  return character(sign);
}

function bracket(reader: Reader, start: number): Expression {
  const negated = take(reader, '^');
  const ranges: (readonly [number, number])[] = [];
  while (reader.at < reader.text.length && reader.text.charAt(reader.at) !== ']') ranges.push(...bracketItem(reader));
  if (!take(reader, ']')) refuse(reader, start, 'this "[" is not closed');
  if (ranges.length === 0) refuse(reader, start, 'an empty set; write \\] for the character in a set');
  return { kind: 'set', negated, ranges };
}

function bracketItem(reader: Reader): readonly (readonly [number, number])[] {
  const start = reader.at;
  const first = bracketCharacter(reader);
  if (first.length !== 1 || first[0]?.[0] !== first[0]?.[1]) return first;
  const isRange = reader.text.charAt(reader.at) === '-' && reader.text.charAt(reader.at + 1) !== ']';
  if (!isRange) return first;
  reader.at += 1;
  const last = bracketCharacter(reader);
  const from = first[0]?.[0] ?? 0;
  const to = last[0]?.[1] ?? 0;
  if (last.length !== 1 || last[0]?.[0] !== to) refuse(reader, start, 'a range ends in a character, not in a class');
  else if (from > to) refuse(reader, start, 'this range goes backwards');
  return [[from, to]];
}

function bracketCharacter(reader: Reader): readonly (readonly [number, number])[] {
  const start = reader.at;
  const sign = reader.text.charAt(start);
  reader.at += 1;
  if (sign === '[') refuse(reader, start, 'write \\[ for the character; [:name:] is not taken');
  if (sign !== '\\') {
    if (!/[ -~]/.test(sign)) refuse(reader, start, 'only printable ASCII characters can be matched');
    return character(sign).ranges;
  }
  const set = escape(reader, start);
  if (set.kind === 'set' && !set.negated) return set.ranges;
  refuse(reader, start, 'of the classes only \\d \\w \\s may stand in a set');
  return [];
}
