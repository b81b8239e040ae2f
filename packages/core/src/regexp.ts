// The portable subset of regular expressions: what is taken here means the same to the device (Tcl's ARE) and to
// JavaScript, and neither can be driven into a search without end.
import { ok, type Result } from './problem.ts';
import { parseExpression, type CharacterSet, type Expression } from './regexp-syntax.ts';
import { refuse, type Refusal, type Words } from './words.ts';

const longestText = 256;
/** Single characters after `{m,n}` is written out: Tcl builds its automaton from these. */
const largestSize = 1000;
/** Each unbounded repetition adds one power of the value's length to JavaScript's worst case. */
const mostUnbounded = 5;

/**
 * `text` as a regular expression whose `source` is valid, with the same meaning, in Tcl too: classes are spelt out as
 * ASCII sets and nothing is captured. Tests for a match anywhere in the value; `^` and `$` are the ends of the value.
 * Refused (`invalid`, with the place): syntax on which the two differ, and repetitions that can match one text in
 * several ways, such as `(a+)+` or `(a|a)*`, on which a backtracking search takes exponential time.
 */
export function portable(text: string): Result<RegExp, Refusal> {
  if (text.length > longestText) {
    return refuse('invalid', {
      en: `regexp of ${text.length} characters; ${longestText} is the most`,
      zh: `正则表达式有 ${text.length} 个字符;最多 ${longestText} 个`,
    });
  }
  const tree = parseExpression(text);
  if (!tree.ok) return tree;
  const wrong = excess(tree.value) ?? ambiguity(tree.value);
  if (wrong !== undefined)
    return refuse('invalid', { en: `regexp "${text}": ${wrong.en}`, zh: `正则表达式 "${text}":${wrong.zh}` });
  return ok(new RegExp(write(tree.value), 's'));
}

function excess(tree: Expression): Words | undefined {
  if (size(tree) > largestSize) {
    return {
      en: `its counted repetitions come to more than ${largestSize} characters written out`,
      zh: `计数重复展开后超过 ${largestSize} 个字符`,
    };
  }
  const unbounded = repeats(tree).filter((repeat) => repeat.most === Infinity).length;
  if (unbounded <= mostUnbounded) return undefined;
  return {
    en: `${unbounded} unbounded repetitions; ${mostUnbounded} is the most`,
    zh: `有 ${unbounded} 个无上限的重复;最多 ${mostUnbounded} 个`,
  };
}

function size(tree: Expression): number {
  const sum = (parts: Expression[]) => parts.reduce((total, part) => total + size(part), 0);
  if (tree.kind === 'sequence') return sum(tree.parts);
  if (tree.kind === 'choice') return sum(tree.branches);
  if (tree.kind === 'repeat')
    return size(tree.of) * Math.max(1, Number.isFinite(tree.most) ? tree.most : tree.least + 1);
  return 1;
}

type RepeatExpression = Extract<Expression, { kind: 'repeat' }>;

function repeats(tree: Expression): RepeatExpression[] {
  if (tree.kind === 'sequence') return tree.parts.flatMap(repeats);
  if (tree.kind === 'choice') return tree.branches.flatMap(repeats);
  return tree.kind === 'repeat' ? [tree, ...repeats(tree.of)] : [];
}

/**
 * A repeated group must leave no choice: after each character at most one place of the group can take the next one
 * (its position automaton is deterministic, counting each way to a place). Then a search never tries the same text twice.
 */
function ambiguity(tree: Expression): Words | undefined {
  for (const repeat of repeats(tree)) {
    if (repeat.most <= 1 || repeat.of.kind === 'set') continue;
    const follow = new Map<CharacterSet, CharacterSet[]>();
    const { first } = positions(repeat, follow);
    const wrong = [first, ...follow.values()].some(overlapping);
    if (!wrong) continue;
    const inside = write(repeat.of);
    return {
      en: `the repetition of (${inside}) can match one text in several ways, which may take for ever`,
      zh: `(${inside}) 的重复可以用多种方式匹配同一文本,匹配可能永远不会结束`,
    };
  }
  return undefined;
}

interface Ends {
  first: CharacterSet[];
  last: CharacterSet[];
  isNullable: boolean;
}

function positions(tree: Expression, follow: Map<CharacterSet, CharacterSet[]>): Ends {
  const link = (from: CharacterSet[], to: CharacterSet[]) => from.forEach((place) => follow.get(place)?.push(...to));
  if (tree.kind === 'anchor') return { first: [], last: [], isNullable: true };
  if (tree.kind === 'set') {
    // A fresh place for each occurrence.
    const place = { ...tree };
    follow.set(place, []);
    return { first: [place], last: [place], isNullable: false };
  }
  if (tree.kind === 'repeat') {
    const inside = positions(tree.of, follow);
    if (tree.most > 1) link(inside.last, inside.first);
    return { ...inside, isNullable: inside.isNullable || tree.least === 0 };
  }
  if (tree.kind === 'choice') {
    const branches = tree.branches.map((branch) => positions(branch, follow));
    return {
      first: branches.flatMap((branch) => branch.first),
      last: branches.flatMap((branch) => branch.last),
      isNullable: branches.some((branch) => branch.isNullable),
    };
  }
  return tree.parts.reduce<Ends>(
    (before, part) => {
      const next = positions(part, follow);
      link(before.last, next.first);
      return {
        first: before.isNullable ? [...before.first, ...next.first] : before.first,
        last: next.isNullable ? [...before.last, ...next.last] : next.last,
        isNullable: before.isNullable && next.isNullable,
      };
    },
    { first: [], last: [], isNullable: true },
  );
}

function overlapping(sets: CharacterSet[]): boolean {
  return sets.some((set, i) => sets.slice(i + 1).some((other) => shareCharacter(set, other)));
}

function shareCharacter(a: CharacterSet, b: CharacterSet): boolean {
  // Two complements of ASCII sets always share what lies beyond ASCII.
  if (a.negated && b.negated) return true;
  if (a.negated) return shareCharacter(b, a);
  const inRanges = (code: number) => b.ranges.some(([from, to]) => from <= code && code <= to);
  for (const [from, to] of a.ranges) {
    for (let code = from; code <= to; code += 1) if (inRanges(code) !== b.negated) return true;
  }
  return false;
}

function write(tree: Expression): string {
  if (tree.kind === 'anchor') return tree.text;
  if (tree.kind === 'set') return writeSet(tree);
  if (tree.kind === 'sequence')
    return tree.parts.map((part) => (part.kind === 'choice' ? `(?:${write(part)})` : write(part))).join('');
  if (tree.kind === 'choice') return tree.branches.map(write).join('|');
  const inside = tree.of.kind === 'set' ? write(tree.of) : `(?:${write(tree.of)})`;
  return `${inside}${writeCount(tree)}`;
}

function writeCount({ least, most }: { least: number; most: number }): string {
  if (most === Infinity) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`;
  if (least === 0 && most === 1) return '?';
  return least === most ? `{${least}}` : `{${least},${most}}`;
}

function writeSet({ negated, ranges }: CharacterSet): string {
  if (ranges.length === 0) return '.';
  const [only, ...more] = ranges;
  if (!negated && more.length === 0 && only && only[0] === only[1])
    return String.fromCharCode(only[0]).replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`);
  // A backslash before these is plain in sets of both languages; control characters occur only through \s.
  const one = (code: number) =>
    code < 0x20
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : String.fromCharCode(code).replace(/[\\\]^[-]/, String.raw`\$&`);
  const text = ranges.map(([from, to]) => (from === to ? one(from) : `${one(from)}-${one(to)}`)).join('');
  return `[${negated ? '^' : ''}${text}]`;
}
