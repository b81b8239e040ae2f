// Messages for users in the two languages that they speak, and the choice between them (docs/adr/0015).
import type { Problem, ProblemCode } from './problem.ts';

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

/** One message in each language. Names of fields, kinds and objects, and what was typed, are the same in all. */
export type Words = Readonly<Record<Language, string>>;

/** A problem with what a user typed: `message` is the English that API servers answer, `zh` the same in simplified Chinese. */
export interface Refusal extends Problem {
  zh: string;
}

export const refusal = (code: ProblemCode, { en, zh }: Words, path?: string): Refusal => ({
  code,
  message: en,
  zh,
  ...(path === undefined ? {} : { path }),
});

/** The problem as objects of clusters carry it, in English alone. */
export const inEnglish = ({ code, message, path }: Problem): Problem => ({
  code,
  message,
  ...(path === undefined ? {} : { path }),
});

/** A result that is a refusal. */
export const refuse = (code: ProblemCode, words: Words, path?: string): { ok: false; problem: Refusal } => ({
  ok: false,
  problem: refusal(code, words, path),
});

/** What the problem says in `language`. What devices and servers said is passed on in the words they used. */
export const inLanguage = (problem: Problem | Refusal, language: Language): string =>
  language === 'zh' && 'zh' in problem ? problem.zh : problem.message;

/**
 * The language to answer in, of an Accept-Language header (RFC 9110 §12.5.4): the one with the highest weight, English
 * when none of ours is asked for. `zh-CN` and `zh-Hans` ask for `zh` (lookup, RFC 4647 §3.4); a language that is named
 * counts before `*`; of equal weights the one written first.
 */
export function preferredLanguage(header: string | null | undefined): Language {
  const ranges = (header ?? '').split(',').flatMap(parseRange);
  const wishes = languages.map((language) => ({ language, ...wishFor(language, ranges) }));
  wishes.sort((a, b) => b.weight - a.weight || a.place - b.place);
  const [best] = wishes;
  return best && best.weight > 0 ? best.language : 'en';
}

interface LanguageRange {
  /** Lower case; `*` for any. */
  language: string;
  /** 0 (not wanted) to 1. */
  weight: number;
}

/** What cannot be read is left out, as if it had not been sent. */
function parseRange(text: string): LanguageRange[] {
  const [tag = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (!/^(\*|[a-z]{1,8}(-[a-z0-9]{1,8})*)$/.test(tag)) return [];
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1';
  if (!/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight)) return [];
  return [{ language: tag.split('-', 1)[0] ?? tag, weight: Number(weight) }];
}

/** By a range of the language itself, else by `*`; not at all when neither is there. `place`: where in the header. */
function wishFor(language: Language, ranges: LanguageRange[]): { weight: number; place: number } {
  const own = ranges.filter((range) => range.language === language);
  const named = own.length > 0 ? own : ranges.filter((range) => range.language === '*');
  const weight = Math.max(0, ...named.map((range) => range.weight));
  const place = ranges.findIndex((range) => named.includes(range) && range.weight === weight);
  return { weight, place: place < 0 ? ranges.length : place };
}
