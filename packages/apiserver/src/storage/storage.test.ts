// Both storages against the one suite.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { testStorage } from './conformance.ts';
import { level } from './level.ts';
import { memory } from './memory.ts';

const made: string[] = [];
afterAll(() => Promise.all(made.map((path) => rm(path, { recursive: true, force: true }))));

testStorage('memory', async () => ({ open: async () => memory() }));

testStorage('level', async () => {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-level-'));
  made.push(path);
  return { open: () => level(path), reopen: () => level(path) };
});
