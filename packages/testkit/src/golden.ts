// Golden cases: a folder each, holding what goes in and, checked in beside it, what must come out.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';

export interface GoldenInput {
  /** The folder's name. */
  name: string;
  /** Where the case lies; ends with a slash. */
  folder: URL;
  /** `in.yaml` as it is written. */
  text: string;
  /** The documents of `in.yaml`, plain. Checking their fields is the run's part: an unknown one must fail. */
  documents: unknown[];
  /** `options.yaml`, plain; undefined when there is none. */
  options: unknown;
}

/**
 * Outputs by file name. A string is written as it is, anything else as YAML (`*.yaml`) or pretty JSON; undefined means
 * that there must be no such file.
 */
export type GoldenRun = (input: GoldenInput) => Record<string, unknown> | Promise<Record<string, unknown>>;

const inputs = new Set(['in.yaml', 'options.yaml']);

/**
 * Registers one test per folder in `folder` (its URL ends with a slash), named by the sentence that opens its
 * `in.yaml`. Fails on a difference and on a file that no output accounts for. With `GOLDEN=update` in the environment
 * it writes the outputs, to be read in the diff before they are committed.
 *
 *   testdata/
 *     canary-rule/       one case, one idea
 *       in.yaml          # A rule with two weighted pools becomes one pick in the iRule.
 *       options.yaml     when the run needs any
 *       want.json        an output
 */
export function golden(folder: URL, run: GoldenRun): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.length === 0) throw new Error(`bug: no golden case in ${folder.pathname}`);
  for (const entry of entries) {
    const at = new URL(`${entry.name}/`, folder);
    test(`${entry.name}: ${sentence(at) ?? 'a golden case'}`, async () => {
      expect(entry.isDirectory(), `${entry.name} is a stray file: each case is a folder`).toBe(true);
      await goldenCase(at, run, process.env['GOLDEN'] === 'update');
    });
  }
}

/** Checks one case, or writes its outputs when `update`. */
export async function goldenCase(folder: URL, run: GoldenRun, update: boolean): Promise<void> {
  const input = read(folder);
  const outputs = Object.entries(await run(input)).filter(([, value]) => value !== undefined);
  if (outputs.length === 0) throw new Error(`bug: the case ${input.name} has no output`);
  for (const [name, value] of outputs) {
    if (inputs.has(name) || !/^[\w-]+\.[\w.-]+$/.test(name)) throw new Error(`bug: an output cannot be named ${name}`);
    const file = new URL(name, folder);
    const text = written(name, value);
    if (update) writeFileSync(file, text);
    else expect(text, `${input.name}/${name}`).toBe(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  }
  const known = new Set([...inputs, ...outputs.map(([name]) => name)]);
  const orphans = readdirSync(folder).filter((name) => !known.has(name));
  expect(orphans, `${input.name} holds files that no output accounts for; remove them`).toEqual([]);
}

function read(folder: URL): GoldenInput {
  const name = folder.pathname.split('/').at(-2) ?? '';
  const text = readFileSync(new URL('in.yaml', folder), 'utf8');
  if (sentence(folder) === undefined) throw new Error(`${name}/in.yaml must open with a comment: one sentence`);
  const documents = parseAllDocuments(text).map((document) => {
    const error = document.errors[0];
    if (error) throw new Error(`${name}/in.yaml: ${error.message}`);
    return document.toJS() as unknown;
  });
  const options = new URL('options.yaml', folder);
  const given: unknown = existsSync(options) ? parse(readFileSync(options, 'utf8')) : undefined;
  // A file of comments only is one empty document to the parser, and none to us.
  return { name, folder, text, documents: documents.filter((document) => document != null), options: given };
}

function sentence(folder: URL): string | undefined {
  const file = new URL('in.yaml', folder);
  if (!existsSync(file)) return undefined;
  return /^# *(\S.*\S\.) *$/.exec(readFileSync(file, 'utf8').split('\n', 1)[0] ?? '')?.[1];
}

function written(name: string, value: unknown): string {
  if (typeof value === 'string') return value.endsWith('\n') ? value : `${value}\n`;
  if (name.endsWith('.yaml')) return stringify(value, { lineWidth: 0 });
  return `${JSON.stringify(value, null, 2)}\n`;
}
