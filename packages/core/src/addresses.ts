// IP addresses, CIDRs and ranges as numbers: strict parsing, canonical text, containment.
// One shape for IPv4 and IPv6, so that whatever counts addresses has no second case.
import { ok, type Result } from './problem.ts';
import { refuse, type Refusal } from './words.ts';

export interface Address {
  family: 4 | 6;
  /** 0 to 2^32-1 or 2^128-1. */
  value: bigint;
}

/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  family: 4 | 6;
  first: bigint;
  last: bigint;
}

export interface Cidr extends AddressRange {
  /** Of the prefix, in bits. */
  length: number;
}

/** IPv4 as four decimal numbers without leading zeros; IPv6 as in RFC 4291 §2.2. No zone, no port, no short IPv4 such as `10.1`. */
export function parseAddress(text: string, path?: string): Result<Address, Refusal> {
  const family = text.includes(':') ? 6 : 4;
  const value = family === 6 ? parseV6(text) : parseV4(text);
  if (value !== undefined) return ok({ family, value });
  const words = {
    en: `"${text}" is not an IP address; write it as 10.0.0.1 (no leading zeros) or 2001:db8::1`,
    zh: `"${text}" 不是 IP 地址;请写成 10.0.0.1(不带前导零)或 2001:db8::1`,
  };
  return refuse('invalid', words, path);
}

/** Canonical text: RFC 5952 for IPv6 (lower case, longest run of zeros as `::`, IPv4-mapped with dots). */
export function formatAddress({ family, value }: Address): string {
  if (family === 4) return formatV4(value);
  if (value >> 32n === 0xffffn) return `::ffff:${formatV4(value & 0xffffffffn)}`;
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => Number((value >> shift) & 0xffffn));
  const run = longestZeros(groups);
  const text = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return text(groups);
  return `${text(groups.slice(0, run.start))}::${text(groups.slice(run.start + run.length))}`;
}

/** `10.0.0.0/24`. Host bits are refused with the network that was meant, for which of the two is the slip only the writer knows. */
export function parseCidr(text: string, path?: string): Result<Cidr, Refusal> {
  const [head = '', tail, ...rest] = text.split('/');
  if (tail === undefined || rest.length > 0) return refuse('invalid', noCidr(text), path);
  const address = parseAddress(head, path);
  if (!address.ok) {
    const { message, zh } = address.problem;
    const words = { en: `"${text}" is not a CIDR: ${message}`, zh: `"${text}" 不是 CIDR 网段:${zh}` };
    return refuse('invalid', words, path);
  }
  const { family, value } = address.value;
  const length = /^(0|[1-9]\d{0,2})$/.test(tail) ? Number(tail) : Infinity;
  if (length > bits(family)) {
    const words = {
      en: `"${text}": the prefix length of an IPv${family} CIDR is 0 to ${bits(family)}`,
      zh: `"${text}":IPv${family} CIDR 网段的前缀长度为 0 到 ${bits(family)}`,
    };
    return refuse('invalid', words, path);
  }
  const cidr = network(family, value, length);
  if (cidr.first !== value) {
    const words = {
      en: `"${text}" has bits set behind its prefix; the network is ${formatCidr(cidr)}`,
      zh: `"${text}" 在前缀之后还有非零位;该网段应写成 ${formatCidr(cidr)}`,
    };
    return refuse('invalid', words, path);
  }
  return ok(cidr);
}

const noCidr = (text: string) => ({
  en: `"${text}" is not a CIDR; write it as 10.0.0.0/24 or 2001:db8::/64`,
  zh: `"${text}" 不是 CIDR 网段;请写成 10.0.0.0/24 或 2001:db8::/64`,
});

export const formatCidr = (cidr: Cidr): string =>
  `${formatAddress({ family: cidr.family, value: cidr.first })}/${cidr.length}`;

/** An address, a CIDR, or `a-b` with a ≤ b of one family: the forms of `exclude` and of rules of type `ip`. */
export function parseAddressRange(text: string, path?: string): Result<AddressRange, Refusal> {
  if (text.includes('/')) return parseCidr(text, path);
  const [head = '', tail, ...rest] = text.split('-');
  if (rest.length > 0) {
    const words = {
      en: `"${text}" is not a range; write it as 10.0.0.1-10.0.0.9`,
      zh: `"${text}" 不是地址范围;请写成 10.0.0.1-10.0.0.9`,
    };
    return refuse('invalid', words, path);
  }
  const first = parseAddress(head, path);
  if (!first.ok) return first;
  const last = tail === undefined ? first : parseAddress(tail, path);
  if (!last.ok) return last;
  if (first.value.family !== last.value.family || first.value.value > last.value.value) {
    const words = {
      en: `"${text}": a range goes from a lower to a higher address of one family`,
      zh: `"${text}":地址范围须从低地址到高地址,且两端属于同一地址族`,
    };
    return refuse('invalid', words, path);
  }
  return ok({ family: first.value.family, first: first.value.value, last: last.value.value });
}

export const contains = (range: AddressRange, { family, value }: Address): boolean =>
  range.family === family && range.first <= value && value <= range.last;

/** Have `a` and `b` an address in common? */
export const overlaps = (a: AddressRange, b: AddressRange): boolean =>
  a.family === b.family && a.first <= b.last && b.first <= a.last;

/** Is all of `b` in `a`? */
export const covers = (a: AddressRange, b: AddressRange): boolean =>
  a.family === b.family && a.first <= b.first && b.last <= a.last;

const bits = (family: 4 | 6): number => (family === 4 ? 32 : 128);

function network(family: 4 | 6, value: bigint, length: number): Cidr {
  const hosts = BigInt(bits(family) - length);
  const first = (value >> hosts) << hosts;
  return { family, first, last: first + (1n << hosts) - 1n, length };
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.');
  // A leading zero is octal to some readers and decimal to others, so it is neither here.
  const strict = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return strict ? parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) : undefined;
}

function formatV4(value: bigint): string {
  const bits = Number(value);
  return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const gap = halves.length === 2;
  // Dots may only stand at the very end, so the first half may have them only when it is the whole.
  const head = parseGroups(halves[0] ?? '', !gap);
  const tail = parseGroups(halves[1] ?? '', true);
  if (!head || !tail) return undefined;
  const count = head.length + tail.length;
  if (gap ? count > 7 : count !== 8) return undefined;
  const groups = [...head, ...Array.from({ length: 8 - count }, () => 0), ...tail];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
}

function parseGroups(text: string, dots: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (dots && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part);
      if (v4 === undefined) return undefined;
      groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn));
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** The first of the longest runs: RFC 5952 §4.2.3. */
function longestZeros(groups: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [i, group] of groups.entries()) {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}
