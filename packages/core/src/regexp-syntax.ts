// Reads the regular expressions that Tcl's ARE and JavaScript take for the same language into a tree.
import { ok, type Result } from './problem.ts';
import { refuse as refusedAs, type Refusal, type Words } from './words.ts';

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
const longestCount = 255;

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
export function parseExpression(text: string): Result<Expression, Refusal> {
  const reader: Reader = { text, at: 0, problem: undefined };
  const tree = choice(reader);
  if (reader.at < text.length) refuse(reader, reader.at, { en: 'a ")" without its "("', zh: '")" 没有对应的 "("' });
  if (reader.problem === undefined) return ok(tree);
  const { en, zh } = reader.problem;
  return refusedAs('invalid', { en: `regexp "${text}": ${en}`, zh: `正则表达式 "${text}":${zh}` });
}

interface Reader {
  text: string;
  at: number;
  /** The first thing found wrong; reading goes on to the end, which is simpler than unwinding. */
  problem: Words | undefined;
}

function refuse(reader: Reader, at: number, { en, zh }: Words): void {
  reader.problem ??= { en: `at character ${at + 1}: ${en}`, zh: `第 ${at + 1} 个字符:${zh}` };
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
  if (parts.length === 0)
    refuse(reader, start, {
      en: 'nothing stands here; write (a)? for an optional part',
      zh: '此处为空;可选部分请写成 (a)?',
    });
  return parts.length === 1 && parts[0] ? parts[0] : { kind: 'sequence', parts };
}

function repeated(reader: Reader): Expression {
  const start = reader.at;
  const of = atom(reader);
  const at = reader.at;
  const count = quantifier(reader);
  if (!count) return of;
  if (of.kind === 'anchor')
    refuse(reader, start, { en: `"${of.text}" cannot be repeated`, zh: `"${of.text}" 不能重复` });
  if (/[*+?{]/.test(reader.text.charAt(reader.at)))
    refuse(reader, reader.at, {
      en: 'a repetition of a repetition, or a lazy one, means different things in Tcl',
      zh: '重复的重复以及非贪婪重复在 Tcl 中含义不同',
    });
  if (count.least > count.most)
    refuse(reader, at, { en: 'the first count is above the second', zh: '第一个次数大于第二个' });
  const highest = Number.isFinite(count.most) ? count.most : count.least;
  if (highest > longestCount)
    refuse(reader, at, { en: `counts go up to ${longestCount}`, zh: `次数最大为 ${longestCount}` });
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

const onlyPrintable = {
  en: 'only printable ASCII characters can be matched',
  zh: '只能匹配可打印的 ASCII 字符',
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
  if (/[*+?]/.test(sign))
    refuse(reader, start, {
      en: `"${sign}" has nothing to repeat; write \\${sign} for the character`,
      zh: `"${sign}" 之前没有可重复的内容;该字符本身请写成 \\${sign}`,
    });
  else if (/[{}\]]/.test(sign))
    refuse(reader, start, {
      en: `write \\${sign} for the character, or {m,n} for a repetition`,
      zh: `该字符本身请写成 \\${sign},重复请写成 {m,n}`,
    });
  else if (!/[ -~]/.test(sign)) refuse(reader, start, onlyPrintable);
  return character(sign);
}

function group(reader: Reader, start: number): Expression {
  if (!take(reader, '?:') && reader.text.charAt(reader.at) === '?') {
    refuse(reader, start, {
      en: 'of the groups that open with "(?" only "(?:" means the same in Tcl',
      zh: '以 "(?" 开头的分组中,只有 "(?:" 在 Tcl 中含义相同',
    });
    return nothing;
  }
  const inside = choice(reader);
  if (!take(reader, ')')) refuse(reader, start, { en: 'this "(" is not closed', zh: '此 "(" 没有闭合' });
  return inside;
}

function escape(reader: Reader, start: number): Expression {
  const sign = reader.text.charAt(reader.at);
  reader.at += 1;
  const ranges = classes[sign.toLowerCase()];
  if (ranges) return { kind: 'set', negated: sign !== sign.toLowerCase(), ranges };
  if (!/^[!-/:-@[-`{-~]$/.test(sign))
    refuse(reader, start, {
      en: `"\\${sign}" is not one of \\d \\w \\s \\D \\W \\S or punctuation`,
      zh: `"\\${sign}" 不是 \\d \\w \\s \\D \\W \\S 之一,也不是标点`,
    });
  return character(sign);
}

function bracket(reader: Reader, start: number): Expression {
  const negated = take(reader, '^');
  const ranges: (readonly [number, number])[] = [];
  while (reader.at < reader.text.length && reader.text.charAt(reader.at) !== ']') ranges.push(...bracketItem(reader));
  if (!take(reader, ']')) refuse(reader, start, { en: 'this "[" is not closed', zh: '此 "[" 没有闭合' });
  if (ranges.length === 0)
    refuse(reader, start, {
      en: 'an empty set; write \\] for the character in a set',
      zh: '字符集为空;字符集中的该字符请写成 \\]',
    });
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
  if (last.length !== 1 || last[0]?.[0] !== to)
    refuse(reader, start, {
      en: 'a range ends in a character, not in a class',
      zh: '字符范围须以字符结尾,不能以字符类结尾',
    });
  else if (from > to) refuse(reader, start, { en: 'this range goes backwards', zh: '此字符范围前后颠倒' });
  return [[from, to]];
}

function bracketCharacter(reader: Reader): readonly (readonly [number, number])[] {
  const start = reader.at;
  const sign = reader.text.charAt(start);
  reader.at += 1;
  if (sign === '[')
    refuse(reader, start, {
      en: 'write \\[ for the character; [:name:] is not taken',
      zh: '该字符本身请写成 \\[;不支持 [:name:]',
    });
  if (sign !== '\\') {
    if (!/[ -~]/.test(sign)) refuse(reader, start, onlyPrintable);
    return character(sign).ranges;
  }
  const set = escape(reader, start);
  if (set.kind === 'set' && !set.negated) return set.ranges;
  refuse(reader, start, {
    en: 'of the classes only \\d \\w \\s may stand in a set',
    zh: '字符集中只能使用字符类 \\d \\w \\s',
  });
  return [];
}
