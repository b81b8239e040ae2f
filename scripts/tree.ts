// The source files of the repository and what each imports, for the tests of the repository itself.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

export interface SourceFile {
  /** From the root, such as `packages/core/src/plan.ts`. */
  path: string;
  /** Folder of its package, such as `packages/core`. */
  home: string;
  text: string;
  isTest: boolean;
  /** Module specifiers, type imports included. */
  imports: string[];
}

const places = ['packages', 'sims', 'apps'];

/** All TypeScript files of packages, sims and apps. Reading by pattern sees type imports too, which a bundler drops. */
export function sourceFiles(): SourceFile[] {
  return places.flatMap((place) =>
    folders(join(root, place)).flatMap((home) =>
      walk(join(root, place, home, 'src'))
        .filter((path) => /\.tsx?$/.test(path))
        .map((path) => read(path, `${place}/${home}`)),
    ),
  );
}

export function folders(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

/** Every TypeScript file there is, from the root; of what is installed or made, none. */
export function typeScriptFiles(): string[] {
  return folders(root)
    .filter((name) => !/^(\.|dist$|node_modules$)/.test(name))
    .flatMap((name) => walk(join(root, name)))
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .map((path) => relative(root, path));
}

function read(path: string, home: string): SourceFile {
  const text = readFileSync(path, 'utf8');
  const imports = [
    ...text.matchAll(
      /^\s*(?:import|export)\b[^'";]*?\bfrom\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ];
  const isTest = /\.(test|test-d)\.tsx?$/.test(path) || /\/(testing|testdata|conformance)\b/.test(path);
  return { path: relative(root, path), home, text, isTest, imports: imports.map((m) => m[1] ?? m[2] ?? m[3] ?? '') };
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : walk(path);
    return [path];
  });
}
