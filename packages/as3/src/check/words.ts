// Unknown words: AS3 refuses only those found nowhere in its schema, and quietly ignores known ones in a wrong place.
import type { Problem } from '@fairlead/core';
import { isApplication, isClassed, isRecord } from '../application.ts';
import { words } from '../gen/words.ts';
import { listOf, tenantsOf, type Scene } from './scene.ts';

const known = new Map(Object.entries(words).map(([name, list]) => [name, new Set(list.split(' '))]));

/** Of classes we do not emit the words are not known here; the schema has them. */
export function wordProblems({ adc, objects }: Scene): Problem[] {
  const tenants = tenantsOf(adc);
  const applications = tenants.flatMap(([tenant, body]) =>
    Object.entries(body).flatMap(([name, value]) =>
      isApplication(value) ? [{ value, path: `/${tenant}/${name}` }] : [],
    ),
  );
  return [
    ...unknown(adc, 'ADC', '', isClassed),
    ...tenants.flatMap(([name, body]) => unknown(body, 'Tenant', `/${name}`, isClassed)),
    ...applications.flatMap(({ value, path }) => unknown(value, 'Application', path, isClassed)),
    ...objects.flatMap(({ object, path }) => unknown(object, object.class, path)),
    ...objects.flatMap(({ object, path }) => (object.class === 'Pool' ? memberWords(object['members'], path) : [])),
  ];
}

const memberWords = (members: unknown, path: string): Problem[] =>
  listOf(members).flatMap((member, i) =>
    isRecord(member) ? unknown(member, 'Pool_Member', `${path}/members/${i}`) : [],
  );

function unknown(
  object: Record<string, unknown>,
  name: string,
  path: string,
  isNamedObject: (value: unknown) => boolean = () => false,
): Problem[] {
  const mayHave = known.get(name);
  if (!mayHave) return [];
  const strange = Object.keys(object).filter((word) => !mayHave.has(word) && !isNamedObject(object[word]));
  return strange.map((word) => ({
    code: 'invalid',
    message: `${name} has no property "${word}"`,
    path: `${path}/${word}`,
  }));
}
