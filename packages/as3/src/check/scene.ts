// A declaration laid out for checking: every object with its place, and a way to look one up by what points at it.
import { isApplication, isClassed, isRecord, objectsOf, type Classed } from '../application.ts';

export interface Placed {
  tenant: string;
  application: string;
  name: string;
  object: Classed;
  /** `/tenant/application/name`, as AS3 itself writes where a fault is. */
  path: string;
}

export interface Scene {
  adc: Record<string, unknown>;
  objects: Placed[];
  byPath: ReadonlyMap<string, Placed>;
  tenants: ReadonlySet<string>;
  /** `/tenant/application` of all that are declared. */
  applications: ReadonlySet<string>;
}

export function scene(adc: Record<string, unknown>): Scene {
  const objects: Placed[] = [];
  for (const [tenant, body] of tenantsOf(adc)) {
    for (const [application, inside] of Object.entries(body)) {
      if (!isApplication(inside)) continue;
      for (const [name, object] of objectsOf(inside))
        objects.push({ tenant, application, name, object, path: `/${tenant}/${application}/${name}` });
    }
  }
  const byPath = new Map(objects.map((placed) => [placed.path, placed]));
  const tenants = new Set(tenantsOf(adc).map(([name]) => name));
  const applications = new Set(objects.map(({ tenant, application }) => `/${tenant}/${application}`));
  return { adc, objects, byPath, tenants, applications };
}

export const tenantsOf = (adc: Record<string, unknown>): [string, Classed][] =>
  Object.entries(adc).filter((entry): entry is [string, Classed] => isClassed(entry[1]) && entry[1].class === 'Tenant');

/** The path an AS3 pointer of `from` leads to: a name beside it, an absolute path, or `@` for its tenant or application. */
export function pointed(from: Placed, pointer: string): string {
  if (!pointer.startsWith('/')) return `/${from.tenant}/${from.application}/${pointer}`;
  const [, tenant = '', application = '', ...rest] = pointer.split('/');
  const places = [tenant === '@' ? from.tenant : tenant, application === '@' ? from.application : application];
  return `/${[...places, ...rest].join('/')}`;
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The name in a pointer: text, or `{use: text}`. What `{bigip: …}` names is on the device already. */
export function pointerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return isRecord(value) && typeof value['use'] === 'string' ? value['use'] : undefined;
}
