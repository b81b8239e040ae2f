// Rules of the repository that no compiler holds: time and chance as arguments, READMEs alike, generated files fresh, lists complete.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { crdFiles } from '@fairlead/api';
import { expect, test } from 'vitest';
import { folders, root, sourceFiles } from './tree.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('packages take time, chance and environment as arguments', () => {
  const banned = /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bMath\.random\(|\bprocess\.env\b/;
  const wrong = sourceFiles()
    .filter((file) => file.home.startsWith('packages/') && file.home !== 'packages/testkit' && !file.isTest)
    .filter((file) => banned.test(file.text));
  expect(wrong.map((file) => file.path)).toEqual([]);
});

test('no test waits for real time or mocks a module', () => {
  const banned = /\bsetTimeout\(|\bsetInterval\(|vi\.(useFakeTimers|mock)\(/;
  const wrong = sourceFiles().filter((file) => file.isTest && banned.test(file.text));
  expect(wrong.map((file) => file.path)).toEqual([]);
});

test('every package README has the same five headings and fits a screen', () => {
  const wrong = ['packages', 'sims', 'apps'].flatMap((place) =>
    folders(join(root, place)).flatMap((home) => {
      const path = `${place}/${home}/README.md`;
      if (!existsSync(join(root, path))) return [`${path} is missing`];
      const text = read(path);
      const headings = [...text.matchAll(/^## (.+)$/gm)].map((m) => m[1]);
      const lines = text.split('\n').length;
      return [
        ...(headings.join(', ') === 'What, Words, Use, Rules, Limits'
          ? []
          : [`${path} has the headings ${headings.join(', ')}`]),
        ...(lines > 61 ? [`${path} has ${lines} lines`] : []),
      ];
    }),
  );
  expect(wrong).toEqual([]);
});

test('generated files are as npm run gen would write them', () => {
  const stale = Object.entries(crdFiles()).filter(
    ([path, text]) => !existsSync(join(root, path)) || read(path) !== text,
  );
  expect(stale.map(([path]) => path)).toEqual([]);
});

test('every place that MAP.md and the README name exists', () => {
  const named = ['README.md', 'MAP.md', 'docs/tour.md', 'CONTRIBUTING.md'].flatMap((doc) =>
    [...read(doc).matchAll(/`((?:packages|sims|apps|examples|deploy|docs|scripts|bench)\/[\w./-]*)`/g)].map((m) => ({
      doc,
      path: m[1] ?? '',
    })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path }) => !existsSync(join(root, path))).map(({ doc, path }) => `${doc}: ${path}`)).toEqual(
    [],
  );
});

test('the list of providers names every provider file', () => {
  const folder = join(root, 'packages/providers/src');
  const list = readFileSync(join(folder, 'index.ts'), 'utf8');
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'kit' && entry.name !== 'index.ts' && !entry.name.includes('.test.'))
    .map((entry) => entry.name.replace(/\.ts$/, ''));
  expect(names.filter((name) => !new RegExp(`providers\\b[^}]*\\b${name}\\b`).test(list))).toEqual([]);
});

test('architecture decisions are numbered without a gap and say context, decision, consequences, status', () => {
  const files = readdirSync(join(root, 'docs/adr')).sort();
  const wrong = files.flatMap((file, i) => {
    const text = read(`docs/adr/${file}`);
    const missing = ['Context', 'Decision', 'Consequences', 'Status'].filter(
      (heading) => !text.includes(`## ${heading}`),
    );
    return [
      ...(file.startsWith(String(i + 1).padStart(4, '0')) ? [] : [`${file} is out of order`]),
      ...missing.map((m) => `${file} lacks ${m}`),
    ];
  });
  expect(wrong).toEqual([]);
});
