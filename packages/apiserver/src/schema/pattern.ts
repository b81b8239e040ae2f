// Patterns of schemas and CEL run on RE2, as in Kubernetes: linear time, so a user's pattern cannot stall the server.
import { RE2JS } from '@bufbuild/re2';
import { recent } from '../recent.ts';

const compiled = new Map<string, RE2JS | string>();
const most = 2000;

/** The compiled pattern, or undefined when it is not a pattern RE2 takes. Compiled patterns are kept, a bounded number of them. */
export function compilePattern(pattern: string): RE2JS | undefined {
  const found = compile(pattern);
  return typeof found === 'string' ? undefined : found;
}

// The same names and reasons come again and again, and RE2 takes its time. Only short texts are kept.
const fitting = recent(5000);
const longest = 64;

/** Whether a pattern is found in `text`; also where it is no pattern. */
export function fits(pattern: string, text: string): boolean {
  const key = text.length > longest ? '' : `${pattern.length} ${pattern}${text}`;
  if (key !== '' && fitting.has(key)) return true;
  const isFound = compilePattern(pattern)?.test(text) !== false;
  if (isFound && key !== '') fitting.add(key);
  return isFound;
}

/** Why RE2 does not take a pattern, in its words; undefined when it does. */
export function patternProblem(pattern: string): string | undefined {
  const found = compile(pattern);
  return typeof found === 'string' ? found : undefined;
}

function compile(pattern: string): RE2JS | string {
  const found = compiled.get(pattern);
  if (found !== undefined) return found;
  if (compiled.size >= most) compiled.clear();
  const made = attempt(pattern);
  compiled.set(pattern, made);
  return made;
}

function attempt(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    // The library throws for a pattern it cannot read; callers report that to whoever wrote the pattern.
    return error instanceof Error ? error.message : String(error);
  }
}
