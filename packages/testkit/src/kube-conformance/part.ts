// Parts of an answer, named by a path, and texts with blanks filled in.
import type { Json, Tree } from './case.ts';

/**
 * The part of `value` at `path`; undefined when there is none. Steps are separated by dots: `metadata.name`, an index
 * `items.0`, an element by one of its fields `groups[name=apps]`, and `*` for a field of every element.
 */
export function partOf(value: Json | undefined, path: string): Json | undefined {
  return follow(value, path.match(/\[[^\]]*\]|[^.[]+/g) ?? []);
}

function follow(value: Json | undefined, [step, ...rest]: string[]): Json | undefined {
  if (step === undefined) return value;
  if (step === '*') return Array.isArray(value) ? value.map((element) => follow(element, rest) ?? null) : undefined;
  return follow(one(value, step), rest);
}

function one(value: Json | undefined, step: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return step.startsWith('[') ? undefined : value[step];
  const [, field = '', wanted = ''] = /^\[([^=]+)=(.*)\]$/.exec(step) ?? [];
  if (field === '') return value[Number(step)];
  return value.find((element) => follow(element, field.split('.')) === wanted);
}

export const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `text` with each `<word>` that has a meaning replaced by it. */
export function filled(text: string, words: ReadonlyMap<string, string>): string {
  return text.replace(/<([a-z]+\d?)>/g, (blank, word: string) => words.get(word) ?? blank);
}

/** Every text and key in `value` filled in. */
export function filledTree(value: Json, words: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return filled(value, words);
  if (Array.isArray(value)) return value.map((element) => filledTree(element, words));
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [filled(key, words), filledTree(inner, words)]),
  );
}
