// Names in AS3: how ours are made (spec tickets.md §5), and which AS3 takes (spec as3.md §7.3, schema 3.17 and later).
import { fail, ok, type Protocol, type Result } from '@fairlead/core';

/**
 *   applicationName('default', 'http')   default_http_app
 *   poolName('svc01', 8080)              svc01_8080_pool
 *   virtualName('test', 80)              test_80_vs
 *   virtualName('80test', 80)            n80test_80_vs      AS3's names begin with a letter
 *   ruleName('test_80_vs')               test_80_vs_irule
 */
export const applicationName = (namespace: string, protocol: Protocol): string =>
  letterFirst(`${namespace}_${protocol}_app`);
export const poolName = (service: string, port: number): string => letterFirst(`${service}_${port}_pool`);
export const virtualName = (ticket: string, port: number): string => letterFirst(`${ticket}_${port}_vs`);
export const ruleName = (virtual: string): string => `${virtual}_irule`;
export const tenantName = (text: string): string => letterFirst(text);

const letterFirst = (name: string): string => (/^[0-9]/.test(name) ? `n${name}` : name);

const longestPath = 195;

/** `path`: the field the name comes from. */
export function checkName(name: string, path: string): Result<string> {
  if (/^[A-Za-z][0-9A-Za-z_.-]{0,188}[0-9A-Za-z_.]$/.test(name)) return ok(name);
  const rule = 'a letter, then letters, digits, "_", "." or "-", not ending in "-", 2 to 190 in all';
  return fail('invalid', `"${name}" cannot be a name in AS3: ${rule}`, path);
}

/** Words of an application itself, which no object can be named. */
const reserved = new Set(['class', 'constants', 'enable', 'label', 'remark', 'schemaOverlay', 'template']);

/** An object's name, and its path on the device. `place`: `/tenant/application`; `path`: the field the name comes from. */
export function checkObject(place: string, name: string, path: string): Result<void> {
  const checked = checkName(name, path);
  if (!checked.ok) return checked;
  if (reserved.has(name)) return fail('invalid', `"${name}" is a word of AS3's own; use another name`, path);
  const whole = `${place}/${name}`;
  if (whole.length <= longestPath) return ok(undefined);
  return fail(
    'invalid',
    `${whole} has ${whole.length} characters; the device takes ${longestPath}. Shorten the name`,
    path,
  );
}
