// Rules of the repository that no compiler holds: time and chance as arguments, READMEs alike, generated files fresh, lists complete.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crdFiles } from '@fairlead/api';
import { expect, test } from 'vitest';
import { folders, root, sourceFiles, typeScriptFiles } from './tree.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('packages take time, chance and environment as arguments', () => {
  const banned = /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bMath\.random\(|\bprocess\.env\b/;
  const wrong = sourceFiles()
    .filter((file) => file.home.startsWith('packages/') && file.home !== 'packages/testkit' && !file.isTest)
    .filter((file) => banned.test(file.text));
  expect(wrong.map((file) => file.path)).toEqual([]);
});

test('the compiler sees every TypeScript file', () => {
  const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] };
  const seen = include.map((path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}(/|$)`));
  const files = typeScriptFiles();
  expect(files.some((path) => path.startsWith('e2e/'))).toBe(true);
  expect(files.filter((path) => !seen.some((one) => one.test(path)))).toEqual([]);
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

const pages = [
  'README.md',
  'MAP.md',
  'CONTRIBUTING.md',
  'SCOPE.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ...['packages', 'sims', 'apps'].flatMap((place) =>
    folders(join(root, place)).map((home) => `${place}/${home}/README.md`),
  ),
];

test('every place that a page names exists', () => {
  const top = folders(root).filter((name) => !/^\.|^(dist|node_modules)$/.test(name));
  const fromRoot = new RegExp(`(?<![\\w./-])(?:${top.join('|')})/[\\w./-]*`, 'g');
  const fromPackage = /(?<![\w./-])(?:src|testdata)\/[\w./-]*/g;
  const named = pages.flatMap((page) => {
    const quoted = [...read(page).matchAll(/`([^`\n]+)`/g)].map((m) => m[1] ?? '').join('\n');
    const own = page.endsWith('/README.md') ? (quoted.match(fromPackage) ?? []) : [];
    return [...(quoted.match(fromRoot) ?? []), ...own.map((path) => join(dirname(page), path))].map((path) => ({
      page,
      path,
    }));
  });
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

test('every source file that a page names is somewhere', () => {
  const files = new Set(sourceFiles().map((file) => basename(file.path)));
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`([\w.-]+\.ts)`/g)].map((m) => ({ page, name: m[1] ?? '' })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !files.has(name))).toEqual([]);
});

test('every link inside the repository leads somewhere', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map((m) => ({ page, to: m[1] ?? '' })),
  );
  const inside = links.filter(({ to }) => !/^[a-z]+:/.test(to));
  expect(inside.length).toBeGreaterThan(5);
  const lost = inside.filter(({ page, to }) => {
    const [path = '', heading] = to.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    return !existsSync(join(root, file)) || (heading !== undefined && !headingsOf(read(file)).includes(heading));
  });
  expect(lost).toEqual([]);
});

/** As links name them. */
const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map((m) =>
    (m[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

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
