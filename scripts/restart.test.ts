// Killed at any moment and started again, `fairlead up` converges: same addresses, nothing twice.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './tree.ts';

interface Run {
  code: number | null;
  output: string;
}

/** `npm start` with a kept data folder. Killed with SIGKILL once its output has `until`; without, it runs to its end. */
function start(args: string[], until?: string): Promise<Run> {
  const child: ChildProcess = spawn(process.execPath, [join(root, 'scripts/start.mjs'), ...args], { cwd: root });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    if (until !== undefined && output.includes(until)) child.kill('SIGKILL');
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

interface Summary {
  ok: boolean;
  failures: string[];
  tickets: { name: string; veip: string; ltmip: string }[];
}

const moments = [
  'controllers',
  'applied to acp-region01',
  'applied to management',
  'tickets are enabled',
  'programmed on the device',
];

test('whenever it is killed, the next start finds the same addresses and carries traffic', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-restart-'));
  const data = ['--data-dir', join(folder, 'data')];
  const summaryOf = async (name: string): Promise<Summary> => {
    const out = join(folder, name);
    const run = await start([...data, '--once', '--requests', '300', '--out', out]);
    expect(run.code, run.output).toBe(0);
    return JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as Summary;
  };
  for (const moment of moments) expect((await start(data, moment)).output).toContain(moment);
  const first = await summaryOf('first');
  for (const moment of moments) await start(data, moment);
  const second = await summaryOf('second');
  expect(second).toMatchObject({ ok: true, failures: [], tickets: first.tickets });

  const declared = (name: string) => readFileSync(join(folder, name, 'declarations', 'acp-region01.json'), 'utf8');
  const virtuals = (text: string) => text.match(/"[\w-]+_vs": \{/g)?.sort();
  expect(virtuals(declared('second'))).toEqual(['"test_22_vs": {', '"test_80_vs": {']);
  rmSync(folder, { recursive: true, force: true });
}, 180_000);
