// Each message stands twice in the source, and its Chinese half is Chinese and is told the same values.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const literal = String.raw`'(?:[^'\\]|\\.)*'|\`(?:[^\`\\]|\\.)*\``;
const pair = new RegExp(String.raw`\b(?:en|message):\s*(${literal}),\s*zh:\s*(${literal})`, 'g');
const chinese = new RegExp(String.raw`\bzh:\s*(${literal})`, 'g');

const sources = ['core', 'api'].flatMap((name) =>
  readdirSync(`packages/${name}/src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({
      file: `packages/${name}/src/${file}`,
      text: readFileSync(`packages/${name}/src/${file}`, 'utf8'),
    })),
);

/** The values that a template is filled with; those that are words themselves are there in the language's own form. */
const values = (template: string) =>
  [
    ...new Set(
      [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, value = '']) => value.replace(/(\.|\b)(en|zh|message)\b/, '')),
    ),
  ].sort();

test('every Chinese message is Chinese', () => {
  const found = sources.flatMap(({ file, text }) => [...text.matchAll(chinese)].map(([, zh = '']) => `${file}: ${zh}`));
  expect(found.length).toBeGreaterThan(80);
  expect(found.filter((one) => !/\p{Script=Han}/u.test(one))).toEqual([]);
});

test('both halves are told the same values', () => {
  const pairs = sources.flatMap(({ file, text }) =>
    [...text.matchAll(pair)].map(([, en = '', zh = '']) => ({ file, en, zh })),
  );
  expect(pairs.length).toBeGreaterThan(80);
  expect(pairs.filter(({ en, zh }) => values(en).join() !== values(zh).join())).toEqual([]);
});
