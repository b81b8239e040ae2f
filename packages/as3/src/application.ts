// The parts of an AS3 declaration as plain data. Only what this package reads or writes is typed; the rest is unknown.
import { formatAddress, parseAddress } from '@fairlead/core';

/** Tells what an object is; all of AS3's objects have it. */
export interface Classed {
  class: string;
  [property: string]: unknown;
}

/** One application: its objects by name, and a few words of its own (`template`, `constants`, `label` …). */
export interface Application extends Classed {
  class: 'Application';
}

/** Applications by name. */
export type Tenant = Readonly<Record<string, Application>>;

export interface PoolMember {
  servicePort: number;
  serverAddresses?: string[];
  shareNodes?: boolean;
  ratio?: number;
  adminState?: 'enable' | 'disable' | 'offline';
  [attribute: string]: unknown;
}

/** The body of a POST to `/mgmt/shared/appsvcs/declare`. */
export interface As3 {
  class: 'AS3';
  action: 'deploy';
  persist: boolean;
  declaration: Adc;
}

export interface Adc extends Classed {
  class: 'ADC';
  schemaVersion: string;
  id: string;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isClassed = (value: unknown): value is Classed => isRecord(value) && typeof value['class'] === 'string';

export const isApplication = (value: unknown): value is Application =>
  isClassed(value) && value.class === 'Application';

/** Properties of an application that look like objects but are words of AS3's own. */
const reserved = new Set(['constants']);

/** The objects of an application, by name. */
export const objectsOf = (application: Application): [name: string, object: Classed][] =>
  Object.entries(application).filter(
    (entry): entry is [string, Classed] => !reserved.has(entry[0]) && isClassed(entry[1]),
  );

/** Order by code units: the same on every machine, whatever its language. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** RFC 5952 text, so that two ways to write one address are equal; what is no address stays as it is. */
export function canonicalAddress(text: string): string {
  const address = parseAddress(text);
  return address.ok ? formatAddress(address.value) : text;
}
