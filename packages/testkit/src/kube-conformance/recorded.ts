// The real server's answers as kept in the repository: a file of JSON for each chapter, and the differences to them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Json } from './case.ts';
import { isTree } from './part.ts';
import type { Answer, Outcome } from './run.ts';

/** The answers of a chapter's cases by their names, and the version of the server they are of. */
export interface Recording {
  server: string;
  cases: Record<string, Answer[]>;
}

const fileOf = (chapter: string): URL => new URL(`answers/${chapter}.json`, import.meta.url);

export function readRecording(chapter: string): Recording | undefined {
  const file = fileOf(chapter);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Recording) : undefined;
}

export function writeRecording(chapter: string, recording: Recording): void {
  writeFileSync(fileOf(chapter), `${printed(recording as unknown as Json)}\n`);
}

/** Where `ours` differs from what was recorded, each as `path: real … ours …`; empty when it does not. */
export function differences(real: Answer[], ours: Outcome): string[] {
  if ('failed' in ours) return [`cannot be asked: ${ours.failed}`];
  return between(real as unknown as Json, ours.answers as unknown as Json, '');
}

/** The first of the differences, which is what the list of known ones keeps. */
export const difference = (real: Answer[], ours: Outcome): string | undefined => differences(real, ours)[0];

function between(real: Json | undefined, ours: Json | undefined, path: string): string[] {
  if (Array.isArray(real) && Array.isArray(ours)) {
    const length = Math.max(real.length, ours.length);
    return Array.from({ length }, (_, index) => between(real[index], ours[index], `${path}[${index}]`)).flat();
  }
  if (isTree(real) && isTree(ours)) {
    // A failure's status and message say more than the kind it has instead of an object.
    const keys = [...new Set(['status', 'reason', 'message', ...Object.keys(real), ...Object.keys(ours)])];
    return keys.flatMap((key) => between(real[key], ours[key], `${path}.${key}`));
  }
  return real === ours ? [] : [`${path}: real ${shown(real)}, ours ${shown(ours)}`];
}

const shown = (value: Json | undefined): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
};

const width = 140;

/** JSON with whatever fits kept on one line: short to read, and a change shows as a changed line. */
function printed(value: Json, indent = ''): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= width) return flat;
  const inner = `${indent} `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const lines = Array.isArray(value)
    ? value.map((element) => inner + printed(element, inner))
    : Object.entries(value).map(([key, element]) => `${inner}${JSON.stringify(key)}: ${printed(element, inner)}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
