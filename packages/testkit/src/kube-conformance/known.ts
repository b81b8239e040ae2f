// The cases that the embedded server is known to answer otherwise than the real one: a list that is to become empty.
import { readFileSync, writeFileSync } from 'node:fs';

/** The first difference of each such case, by the case's name. */
export type KnownDifferences = Record<string, string>;

const file = new URL('known-differences.json', import.meta.url);

export const known = {
  read: (): KnownDifferences => JSON.parse(readFileSync(file, 'utf8')) as KnownDifferences,
  write: (differences: KnownDifferences): void =>
    writeFileSync(file, `${JSON.stringify(differences, Object.keys(differences).sort(), 2)}\n`),
};
