// The rules of golden cases, on cases made in a folder that is removed again.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { goldenCase, type GoldenRun } from './golden.ts';

const asked = '# Two names are joined.\nfirst: a\n---\nfirst: b\n';
const join2: GoldenRun = ({ documents, options }) => ({
  'want.json': { names: documents.map((one) => (one as { first: string }).first), options },
  'want.txt': 'a,b',
});
const wanted = { 'want.json': '{\n  "names": [\n    "a",\n    "b"\n  ]\n}\n', 'want.txt': 'a,b\n' };

function make(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

test('a case whose outputs are as checked in passes', async () => {
  await goldenCase(make({ 'in.yaml': asked, ...wanted }), join2, false);
});

test('options reach the run', async () => {
  const folder = make({ 'in.yaml': asked, 'options.yaml': 'region: r1\n' });
  await goldenCase(folder, ({ options }) => ({ 'want.yaml': options }), true);
  expect(readFileSync(new URL('want.yaml', folder), 'utf8')).toBe('region: r1\n');
});

test('an update writes what the next check accepts', async () => {
  const folder = make({ 'in.yaml': asked, 'want.txt': 'old\n' });
  await goldenCase(folder, join2, true);
  await goldenCase(folder, join2, false);
  expect(readFileSync(new URL('want.json', folder), 'utf8')).toBe(wanted['want.json']);
});

const refused: { rule: string; files: Record<string, string>; says: string }[] = [
  { rule: 'an output that differs', files: { ...wanted, 'want.txt': 'a\n' }, says: 'want.txt' },
  { rule: 'an output that is not checked in', files: { 'want.txt': 'a,b\n' }, says: 'want.json' },
  { rule: 'a file that no output accounts for', files: { ...wanted, 'old.json': '{}' }, says: 'no output' },
  { rule: 'an input without a sentence', files: { ...wanted, 'in.yaml': 'first: a\n' }, says: 'comment' },
  { rule: 'an input that is not YAML', files: { 'in.yaml': '# It is broken.\na: [\n' }, says: 'in.yaml' },
];

for (const { rule, files, says } of refused)
  test(`${rule} fails`, async () => {
    await expect(goldenCase(make({ 'in.yaml': asked, ...files }), join2, false)).rejects.toThrow(says);
  });

test('an output cannot take the place of an input', async () => {
  await expect(goldenCase(make({ 'in.yaml': asked }), () => ({ 'in.yaml': 'x' }), true)).rejects.toThrow('bug');
});
