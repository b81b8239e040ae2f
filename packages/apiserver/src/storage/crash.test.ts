// A process that is killed while it writes: what it was told is kept must be there afterwards.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { level } from './level.ts';

// The writer says the number of each write once it is kept; many are under way at a time.
const writer = (storage: string, directory: string) => `
  import { level } from ${JSON.stringify(storage)};
  const storage = await level(${JSON.stringify(directory)});
  let revision = 0;
  const lane = async () => { for (;;) { const n = ++revision; await storage.write([{ key: '/k/' + n, text: 'x'.repeat(2000) }], n); process.stdout.write(n + '\\n'); } };
  await Promise.all(Array.from({ length: 16 }, lane));
`;

test('kill -9 loses nothing that was kept', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-crash-'));
  const source = writer(new URL('./level.ts', import.meta.url).href, directory);
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.length > 20_000) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const kept = said.split('\n').slice(0, -1).map(Number);
  const storage = await level(directory);
  const there = new Set<string>();
  for await (const [key] of storage.entries()) there.add(key);
  expect(kept.length).toBeGreaterThan(1000);
  expect(kept.filter((n) => !there.has(`/k/${n}`))).toEqual([]);
  expect(await storage.revision()).toBeGreaterThanOrEqual(Math.max(...kept));
  await storage.close();
  await rm(directory, { recursive: true });
});
