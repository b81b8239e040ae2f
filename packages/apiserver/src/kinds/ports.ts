// Port numbers and port names, as pods, probes and services write them.
import { invalidValue } from '../field-error.ts';
import type { Cause } from '../status.ts';

export const portRange = 'must be between 1 and 65535, inclusive';
export const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65535;

/** Why `name` cannot be the name of a port (RFC 6335's service names); empty when it can. */
export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(name)) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** A port by its number or by its name. */
export function portCauses(port: unknown, path: string): Cause[] {
  if (typeof port === 'string') return portNameProblems(port).map((why) => invalidValue(path, port, why));
  return isPort(port) ? [] : [invalidValue(path, port ?? 0, portRange)];
}
