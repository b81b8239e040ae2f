// Patterns of schemas and CEL run on RE2, as in Kubernetes: linear time, so a user's pattern cannot stall the server.
import { RE2JS } from '@bufbuild/re2';

const compiled = new Map<string, RE2JS | undefined>();
const most = 2000;

/** The compiled pattern, or undefined when it is not a pattern RE2 takes. Compiled patterns are kept, a bounded number of them. */
export function compilePattern(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= most) compiled.clear();
  const made = attempt(pattern);
  compiled.set(pattern, made);
  return made;
}

function attempt(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    // The library throws for a pattern it cannot read; callers take that as a value and report the pattern.
    return undefined;
  }
}
