// Persistence: which member a client was given before, by address (a table with timeouts) or by cookie (nothing is kept).

import type { Clock } from '../clock.ts';
import { destinationOf, type Member, type Persistence, type Pool } from '../configuration/object.ts';
import { addressHex } from './bind.ts';

interface Entry {
  member: string;
  until: number;
}

/** Records of address and of uie persistence. One counts inside its pool only. */
export class PersistenceTable {
  #clock: Clock;
  #entries = new Map<string, Entry>();
  #sweepAt = 1000;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `timeout` in seconds, counted from the last use. */
  find(key: string, timeout: number): string | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.until < this.#clock.now()) {
      this.#entries.delete(key);
      return undefined;
    }
    entry.until = this.#clock.now() + timeout * 1000;
    return entry.member;
  }

  put(key: string, member: string, timeout: number): void {
    this.#entries.set(key, { member, until: this.#clock.now() + timeout * 1000 });
    if (this.#entries.size < this.#sweepAt) return;
    for (const [old, { until }] of this.#entries) if (until < this.#clock.now()) this.#entries.delete(old);
    this.#sweepAt = this.#entries.size * 2 + 1000;
  }

  /** A virtual server was made anew and remembers nothing. */
  forget(virtual: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(`${virtual} `)) this.#entries.delete(key);
  }
}

export function cookieName(profile: Persistence, pool: Pool): string {
  if (profile.cookieName) return profile.cookieName;
  return `BIGipServer${pool.fullPath.replace(/^\/Common\//, '').replaceAll('/', '~')}`;
}

/** `<address as a little-endian number>.<port with its bytes turned>.0000`, or `vi<hex>.<port>` for IPv6. */
export function cookieValue(member: Member): string {
  const port = ((member.port & 255) << 8) | (member.port >> 8);
  if (member.address.includes(':')) return `vi${addressHex(member.address)}.${port}`;
  const [a = 0, b = 0, c = 0, d = 0] = member.address.split('.').map(Number);
  return `${a + b * 256 + c * 65_536 + d * 16_777_216}.${port}.0000`;
}

export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const cut = pair.indexOf('=');
    if (cut > 0 && pair.slice(0, cut).trim() === name) return pair.slice(cut + 1).trim();
  }
  return undefined;
}

/** The address under the profile's mask: clients of one network stay together. */
export function maskedAddress(address: string, mask: string | undefined): string {
  if (!mask || address.includes(':') || mask.includes(':')) return address;
  const bits = mask.split('.').map(Number);
  return address
    .split('.')
    .map((part, i) => Number(part) & (bits[i] ?? 255))
    .join('.');
}

/** The address of a virtual server, for destination-address persistence. */
export function destinationAddress(destination: string): string {
  return destinationOf(destination)?.address ?? destination;
}
