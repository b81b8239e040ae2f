// Text functions of Kubernetes' CEL: patterns by RE2, and the string functions the evaluator lacks.
import type { Environment } from '@marcbachmann/cel-js';
import type { RE2JS } from '@bufbuild/re2';
import { isTree } from '../object.ts';
import { compilePattern, patternProblem } from '../schema/pattern.ts';

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
    .registerFunction('string.format(list): string', format)
    .registerFunction('string(google.protobuf.Timestamp): string', momentText)
    .registerFunction('string(google.protobuf.Duration): string', durationText);
}

function patternOf(pattern: string): RE2JS {
  const compiled = compilePattern(pattern);
  if (!compiled) throw new Error(patternProblem(pattern));
  return compiled;
}

const isMatch = (text: string, pattern: string): boolean => patternOf(pattern).test(text);

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
    return verb.endsWith('f') ? Number(value).toFixed(Number(digits ?? 6)) : shown(value);
  });
}

/** A value in a formatted text; texts within lists and maps are quoted. */
function shown(value: unknown, isInside = false): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return isInside ? JSON.stringify(value) : value;
  if (value instanceof Date) return isInside ? `timestamp("${momentText(value)}")` : momentText(value);
  if (isDuration(value)) return isInside ? `duration("${durationText(value)}")` : durationText(value);
  if (Array.isArray(value)) return `[${value.map((item) => shown(item, true)).join(', ')}]`;
  if (!isTree(value)) return String(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${shown(value[key], true)}`);
  return `{${fields.join(', ')}}`;
}

interface Duration {
  seconds: bigint;
  nanos: number;
}

const isDuration = (value: unknown): value is Duration =>
  isTree(value) && typeof value.seconds === 'bigint' && typeof value.nanos === 'number';

/** In RFC 3339, without a fraction where there is none. */
const momentText = (moment: Date): string => moment.toISOString().replace(/\.?0*Z$/, 'Z');

const durationText = ({ seconds, nanos }: Duration): string => `${Number(seconds) + nanos / 1e9}s`;
