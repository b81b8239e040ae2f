// The direction of imports, held as a table: architecture §2, with docs/adr/0006 for tickets → as3.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folders, root, sourceFiles } from './tree.ts';

/** What each package may import of ours, and from outside. `node`: may it touch Node's own modules? */
const table: Record<string, { ours: string[]; outside: string[]; node: boolean }> = {
  'packages/core': { ours: [], outside: [], node: false },
  'packages/api': { ours: ['core'], outside: ['typebox', 'yaml'], node: false },
  'packages/kube': { ours: [], outside: ['undici', 'yaml'], node: true },
  'packages/as3': { ours: ['core'], outside: [], node: false },
  'packages/sources': { ours: ['core', 'api', 'kube'], outside: [], node: false },
  'packages/providers': { ours: ['core', 'as3'], outside: [], node: false },
  'packages/engine': { ours: ['core', 'kube', 'sources'], outside: [], node: false },
  'packages/tickets': { ours: ['core', 'api', 'as3', 'kube', 'engine'], outside: [], node: false },
  'packages/apiserver': {
    ours: ['kube'],
    outside: [
      '@bufbuild/re2',
      '@marcbachmann/cel-js',
      '@peculiar/x509',
      'classic-level',
      'diff',
      'fast-json-patch',
      'jose',
      'reflect-metadata',
      'yaml',
    ],
    node: true,
  },
  'packages/testkit': { ours: ['core', 'kube'], outside: ['ajv', 'ajv-formats', 'vitest', 'yaml'], node: true },
  'sims/approver': { ours: [], outside: [], node: true },
  'sims/bigip': { ours: [], outside: [], node: true },
  'sims/cis': { ours: [], outside: [], node: false },
  'sims/cluster': { ours: [], outside: ['undici'], node: true },
};

/** What tests may import besides: the doubles, the suites, the simulators, and the embedded server as a function. */
const inTests = [
  'core',
  'kube',
  'testkit',
  'as3',
  'api',
  'apiserver',
  'engine',
  'providers',
  'sources',
  'sim-approver',
  'sim-bigip',
  'sim-cis',
  'sim-cluster',
];

const ours = (specifier: string) => /^@fairlead\/([^/]+)/.exec(specifier)?.[1];
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

test('every package has a row in the table', () => {
  const homes = ['packages', 'sims'].flatMap((place) => folders(join(root, place)).map((home) => `${place}/${home}`));
  expect(homes.sort()).toEqual(Object.keys(table).sort());
});

test('imports go in the one allowed direction', () => {
  const wrong = sourceFiles().flatMap((file) => {
    const row = table[file.home];
    if (!row) return [];
    return file.imports
      .filter((specifier) => !allowed(specifier, row, file.isTest))
      .map((specifier) => `${file.path} imports ${specifier}`);
  });
  expect(wrong).toEqual([]);
});

test('what a package imports stands in its package.json, and what stands there is imported', () => {
  const files = sourceFiles();
  const homes = [...new Set(files.map((file) => file.home))];
  const wrong = homes.flatMap((home) => {
    const declared = Object.keys(
      (JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8')) as { dependencies: Record<string, string> })
        .dependencies,
    );
    const used = files
      .filter((file) => file.home === home && !file.isTest)
      .flatMap((file) => file.imports.filter(isOutside).map(packageOf));
    return [
      ...[...new Set(used)]
        .filter((name) => name !== 'vitest' && !declared.includes(name))
        .map((name) => `${home} imports ${name} undeclared`),
      ...declared
        .filter((name) => !used.includes(name))
        .map((name) => `${home} declares ${name} and does not import it`),
    ];
  });
  expect(wrong).toEqual([]);
});

const isOutside = (specifier: string) => !specifier.startsWith('.') && !specifier.startsWith('node:');

function allowed(
  specifier: string,
  row: { ours: string[]; outside: string[]; node: boolean },
  isTest: boolean,
): boolean {
  if (specifier.startsWith('.')) return true;
  if (specifier.startsWith('node:')) return row.node || isTest;
  const name = ours(specifier);
  if (name !== undefined) return row.ours.includes(name) || (isTest && inTests.includes(name));
  return row.outside.includes(packageOf(specifier)) || isTest;
}
