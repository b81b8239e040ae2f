// The body of a REST request, read property by property: wrong types and unknown properties are refused by name.

import { Refusal } from '../configuration/refusal.ts';

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Shown by the device, and taken back from a client that sends what it read.
const shown = [
  'kind',
  'name',
  'partition',
  'subPath',
  'fullPath',
  'generation',
  'selfLink',
  'isSubcollection',
  'membersReference',
  'nameReference',
];

export class Body {
  #json: Json;
  #read = new Set(shown);

  constructor(json: unknown) {
    if (!isObject(json)) throw new Refusal(400, 'the body must be a JSON object');
    this.#json = json;
  }

  text(name: string): string | undefined {
    return this.#take(name, (value): value is string => typeof value === 'string', 'a string');
  }

  /** A string, where `none` means that there is none. */
  path<T>(name: string, before: T): string | undefined | T {
    if (!this.has(name)) return before;
    const text = this.text(name);
    return text === undefined || text === 'none' || text === '' ? undefined : text;
  }

  number(name: string, least: number, most: number): number | undefined {
    const isNumber = (value: unknown): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
    return this.#take(name, isNumber, `an integer from ${least} to ${most}`);
  }

  flag(name: string): boolean | undefined {
    return this.#take(name, (value): value is boolean => typeof value === 'boolean', 'true or false');
  }

  list(name: string): unknown[] | undefined {
    return this.#take(name, (value): value is unknown[] => Array.isArray(value), 'an array');
  }

  word<T extends string>(name: string, words: readonly T[]): T | undefined {
    return this.#take(name, (value): value is T => words.some((word) => word === value), `one of ${words.join(', ')}`);
  }

  has(name: string): boolean {
    return this.#json[name] !== undefined && this.#json[name] !== null;
  }

  /** Refuses what has not been read. */
  end(): void {
    const unknown = Object.keys(this.#json).find((name) => !this.#read.has(name));
    if (unknown !== undefined)
      throw new Refusal(400, `one or more properties must be specified correctly: "${unknown}" unknown property`);
  }

  #take<T>(name: string, is: (value: unknown) => value is T, what: string): T | undefined {
    this.#read.add(name);
    const value = this.#json[name];
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    throw new Refusal(400, `invalid property value "${name}":"${JSON.stringify(value)}": must be ${what}`);
  }
}
