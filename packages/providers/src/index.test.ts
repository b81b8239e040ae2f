// The list of providers is whole.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { providers } from './index.ts';

test('each file and folder here is in the list of providers', () => {
  const here = readdirSync(new URL('.', import.meta.url)).filter((name) => !/^index|\.test\.ts$/.test(name));
  expect(here.map((name) => name.replace(/\.ts$/, '')).sort()).toEqual(Object.keys(providers).sort());
});
