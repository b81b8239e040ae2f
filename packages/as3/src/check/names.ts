// Names and texts: their characters and lengths.
import type { Problem } from '@fairlead/core';
import { isApplication } from '../application.ts';
import { checkName, checkObject } from '../names.ts';
import { tenantsOf, type Scene } from './scene.ts';

export function nameProblems({ adc, objects }: Scene): Problem[] {
  const tenants = tenantsOf(adc);
  const applications = tenants.flatMap(([tenant, body]) =>
    Object.entries(body).flatMap(([name, value]) =>
      isApplication(value) ? [{ name, path: `/${tenant}/${name}` }] : [],
    ),
  );
  const results = [
    ...tenants.map(([name]) => checkName(name, `/${name}`)),
    ...applications.map(({ name, path }) => checkName(name, path)),
    ...objects.map(({ tenant, application, name, path }) => checkObject(`/${tenant}/${application}`, name, path)),
  ];
  const texts = objects.flatMap(({ object, path }) => [
    ...textProblems(object['remark'], `${path}/remark`),
    ...textProblems(object['label'], `${path}/label`),
  ]);
  return [...results.flatMap((result) => (result.ok ? [] : [result.problem])), ...texts];
}

function textProblems(text: unknown, path: string): Problem[] {
  const isForbidden = (character: string) =>
    character < ' ' || character === '"' || character === '\\' || character === '\x7f';
  if (text === undefined || (typeof text === 'string' && text.length <= 64 && ![...text].some(isForbidden))) return [];
  return [
    {
      code: 'invalid',
      message: 'at most 64 characters, without double quotes, backslashes and control characters',
      path,
    },
  ];
}
