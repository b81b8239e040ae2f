// Errors of a declaration as AS3 words them, and the checks of single properties that collect them.

import { isIP } from 'node:net';
import type { Json } from '../rest/body.ts';
import { isKnown } from './words.ts';

/** Collects errors under a path. */
export class Errors {
  readonly list: string[] = [];

  add(path: string, why: string): void {
    this.list.push(`${path}: ${why}`);
  }

  integer(json: Json, path: string, name: string, [least, most]: readonly [number, number]): void {
    const value = json[name];
    if (value === undefined) return;
    if (typeof value !== 'number' || !Number.isInteger(value)) this.add(`${path}/${name}`, 'should be integer');
    else if (value < least) this.add(`${path}/${name}`, `should be >= ${least}`);
    else if (value > most) this.add(`${path}/${name}`, `should be <= ${most}`);
  }

  boolean(json: Json, path: string, name: string): void {
    if (json[name] !== undefined && typeof json[name] !== 'boolean') this.add(`${path}/${name}`, 'should be boolean');
  }

  word(json: Json, path: string, name: string, words: readonly string[]): void {
    const value = json[name];
    if (value !== undefined && !words.some((word) => word === value)) {
      this.add(
        `${path}/${name}`,
        `should be equal to one of the allowed values (${words.join(', ')}), not ${JSON.stringify(value)}`,
      );
    }
  }

  known(json: Json, path: string, className: string): void {
    for (const name of Object.keys(json)) {
      if (!isKnown(className, name))
        this.add(
          `${path}/${name}`,
          `should NOT have additional properties: ${className} has no "${name}" in this simulator`,
        );
    }
  }

  /** remark and label: 64 characters, no double quote, backslash or control character. */
  remarks(json: Json, path: string): void {
    for (const name of ['remark', 'label']) {
      const value = json[name];
      if (value === undefined) continue;
      if (typeof value !== 'string') this.add(`${path}/${name}`, 'should be string');
      else if (value.length > 64) this.add(`${path}/${name}`, 'should NOT be longer than 64 characters');
      else if (hasForbidden(value))
        this.add(`${path}/${name}`, 'should match pattern "^[^\\x00-\\x1f\\x22\\x5c\\x7f]*$"');
    }
  }
}

function hasForbidden(value: string): boolean {
  return [...value].some((char) => char < ' ' || char === '"' || char === '\\' || char === '\u007f');
}

/** An address with or without a route domain or mask. */
export function isAddress(value: unknown): boolean {
  return typeof value === 'string' && isIP(value.replace(/%\d+/, '').replace(/\/.*$/, '')) !== 0;
}
