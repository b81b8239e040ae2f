// Names in AS3: which it takes. How ours are made is core's, for admission knows of it too.
import { fail, isAs3Name, longestPath, ok, type Result } from '@fairlead/core';

export { applicationName, poolName, ruleName, tenantName, virtualName } from '@fairlead/core';

/** `path`: the field the name comes from. */
export function checkName(name: string, path: string): Result<string> {
  if (isAs3Name(name)) return ok(name);
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
