// Text functions of Kubernetes' CEL: patterns by RE2, and the string functions the evaluator lacks.
import type { Environment } from '@marcbachmann/cel-js';
import { compilePattern } from '../schema/pattern.ts';

/** The name `matches` is rewritten to: the evaluator's own runs on JavaScript's engine, which a pattern can stall. */
export const safeMatches = 'matchesPattern';

export function addText(environment: Environment): void {
  environment
    .registerFunction(`string.${safeMatches}(string): bool`, isMatch)
    .registerFunction(`${safeMatches}(string, string): bool`, isMatch)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => text.charAt(Number(at)))
    .registerFunction('string.format(list): string', format);
}

function isMatch(text: string, pattern: string): boolean {
  const compiled = compilePattern(pattern);
  if (!compiled) throw new Error(`error parsing regexp: ${pattern}`);
  return compiled.test(text);
}

function replaceSome(text: string, from: string, to: string, count: bigint): string {
  if (count < 0n) return text.replaceAll(from, () => to);
  let out = text;
  let at = 0;
  for (let left = count; left > 0n; left--) {
    const found = out.indexOf(from, at);
    if (found < 0) break;
    out = out.slice(0, found) + to + out.slice(found + from.length);
    at = found + to.length;
  }
  return out;
}

function format(pattern: string, values: unknown[]): string {
  let next = 0;
  return pattern.replace(/%(%|s|d|(?:\.(\d+))?f|x)/g, (_: string, verb: string, digits?: string) => {
    if (verb === '%') return '%';
    if (next >= values.length) throw new Error('index out of range in format arguments');
    const value = values[next++];
    if (verb === 'x') return BigInt(value as bigint).toString(16);
    return verb.endsWith('f') ? Number(value).toFixed(Number(digits ?? 6)) : String(value);
  });
}
