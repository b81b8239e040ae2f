// A server that is killed in the middle of many writes: what it answered is there afterwards, and it starts by itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { level } from '../storage/level.ts';
import { ledger, type Ledger } from './ledger.ts';

const kills = 10;
const apart = 100_000;

test(
  `kill -9 in a storm of writes, ${kills} times over one database, loses nothing that was answered`,
  { timeout: 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-crash-'));
    const program = await bundled(folder);
    const database = join(folder, 'db');
    const kept = ledger();
    for (let i = 0; i < kills; i++) {
      const before = kept.size;
      // From a start that has hardly begun to write, to one in full storm.
      await killed({ program, database, first: i * apart, after: 1 + i * 1500, kept });
      expect(kept.size).toBeGreaterThan(before);
      expect(kept.problems(await counts(database))).toEqual([]);
    }
    await rm(folder, { recursive: true });
  },
);

test('the ledger tells what is lost and what has come back', () => {
  const kept = ledger();
  kept.note('kept 1 1\nkept 1 2\nkept 3 3\nkept 4 1\ngone 6\nkept 5');
  expect(
    kept.problems(
      new Map([
        [1, 2],
        [4, 3],
      ]),
    ),
  ).toEqual([]);
  expect(
    kept.problems(
      new Map([
        [1, 1],
        [6, 3],
      ]),
    ),
  ).toEqual(['6 was deleted and is back', '1 was kept at 2, found 1', '4 was kept at 1, found nothing']);
});

interface Storm {
  program: string;
  database: string;
  first: number;
  /** Characters the writer has said when it is killed. */
  after: number;
  kept: Ledger;
}

async function killed({ program, database, first, after, kept }: Storm): Promise<void> {
  const child = spawn(process.execPath, [program, database, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.length >= after) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  // A writer that ended otherwise could not start, or was refused.
  expect(signal).toBe('SIGKILL');
  kept.note(said);
}

/** The counts of the objects in the database, by number. */
async function counts(database: string): Promise<Map<number, number>> {
  const storage = await level(database);
  const found = new Map<number, number>();
  for await (const [key, text] of storage.entries()) {
    const n = /^\/registry\/core\/configmaps\/default\/m(\d+)$/.exec(key)?.[1];
    if (n !== undefined) found.set(Number(n), Number((JSON.parse(text) as { data: { count: string } }).data.count));
  }
  await storage.close();
  return found;
}

/** The writer as one file: ten starts from source would take longer than all the writing. */
async function bundled(folder: string): Promise<string> {
  const outfile = join(folder, 'writer.mjs');
  // It has a native part, so it stays where it is, which from the folder has to be said in full.
  const native = createRequire(import.meta.url).resolve('classic-level');
  await build({
    entryPoints: [new URL('writer.ts', import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'classic-level': native },
    external: [native],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}
