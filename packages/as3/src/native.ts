// Applications that came in AS3's own words: only their frame is looked at, for check() reads the whole declaration.
import { fail, ok, type Result } from '@fairlead/core';
import { isApplication, isRecord, objectsOf, type Application } from './application.ts';
import { withConstants, wordsOfOurs } from './mark.ts';
import { checkObject } from './names.ts';

/** `place`: `/tenant/application`. The answer shares nothing with what was given. */
export function nativeApplication(native: unknown, place: string): Result<Application> {
  const [, , name = ''] = place.split('/');
  if (!isApplication(native)) return fail('invalid', `${place} is not of class Application`, `${name}.class`);
  for (const [object] of objectsOf(native)) {
    const checked = checkObject(place, object, `${name}.${object}`);
    if (!checked.ok) return checked;
  }
  const { constants } = native;
  const taken = isRecord(constants) ? wordsOfOurs.filter((word) => word in constants) : [];
  if (taken.length > 0)
    return fail(
      'invalid',
      `constants ${taken.join(', ')} are kept for Fairlead's mark; use other names`,
      `${name}.constants.${taken[0]}`,
    );
  // Empty constants could not be told from ours once the mark was taken off again.
  return ok(withConstants(structuredClone(native), {}));
}
