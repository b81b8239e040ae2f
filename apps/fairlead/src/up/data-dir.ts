// What `fairlead up` keeps between runs, in one folder: the databases, the devices' configuration, tokens and ports.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface DataDir {
  readonly path: string;
  readonly ephemeral: boolean;
  file(name: string): string;
  /** Text of a file, or undefined when there is none. */
  load(name: string): string | undefined;
  /** Written whole or not at all: a crash leaves the old text. */
  save(name: string, text: string): void;
  /** A secret that is made once and kept. */
  secret(name: string): string;
  /** Removes the folder if it was for this run only. */
  close(): void;
}

/** The folder at `path`, or one for this run only when `ephemeral`. Readable by its owner alone: it holds tokens. */
export function dataDir(path: string, ephemeral: boolean): DataDir {
  const folder = ephemeral ? mkdtempSync(join(tmpdir(), 'fairlead-')) : path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, name);
  const load = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : undefined);
  const save = (name: string, text: string) => {
    writeFileSync(file(`${name}.new`), text, { mode: 0o600 });
    renameSync(file(`${name}.new`), file(name));
  };
  return {
    path: folder,
    ephemeral,
    file,
    load,
    save,
    secret(name) {
      const kept = load(name)?.trim();
      if (kept) return kept;
      const made = randomBytes(24).toString('base64url');
      save(name, `${made}\n`);
      return made;
    },
    close() {
      if (ephemeral) rmSync(folder, { recursive: true, force: true });
    },
  };
}
