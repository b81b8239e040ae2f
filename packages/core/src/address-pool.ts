// Gives out the addresses of one CIDR: one holder per address, lowest free first, nothing enumerated (spec/cloud.md §4.4).
import {
  contains,
  formatAddress,
  parseAddress,
  parseAddressRange,
  parseCidr,
  type Address,
  type AddressRange,
  type Cidr,
} from './addresses.ts';
import { minHeap } from './heap.ts';
import { fail, ok, type Result } from './problem.ts';

export interface AddressPoolOptions {
  cidr: string;
  /** Addresses, CIDRs or `a-b` ranges that are never given out. */
  exclude: readonly string[];
  /** Who holds what already, senior first: of two holders of one address the first keeps it. */
  taken: Iterable<readonly [address: string, holder: string]>;
}

export interface AddressPool {
  /**
   * `requested`, or the lowest free address, now held by `holder`. Asking again for what one holds gives it again.
   * Problems: `invalid` (no address, or never given out), `taken` (the message names the holder), `exhausted`.
   */
  take(holder: string, requested?: string): Result<string>;
  /**
   * Notes that `holder` has `address`, though it may be excluded or outside the CIDR by now: who has one keeps it.
   * Gives whoever holds it afterwards, the present holder if there was one; undefined for what is no address.
   */
  hold(holder: string, address: string): string | undefined;
  /** Frees the address if `holder` holds it, so that a late clean-up never frees what another got since. Did it? */
  release(address: string, holder: string): boolean;
  holderOf(address: string): string | undefined;
  /** May it be given out, held or not? */
  includes(address: string): boolean;
  /** Of the addresses that may be given out. `total` is capped at 2^53-1, for an IPv6 /64 has more than a number can say. */
  capacity(): { total: number; used: number };
}

/*
 *  usable ranges:   |first......last|   |first.......last|      (the CIDR without network, broadcast, exclude)
 *                    <---- passed ----------^cursor
 *  An address before the cursor is free only if it is in the heap; one from the cursor on is free unless held.
 *  So the lowest free one is the top of the heap, else the cursor: O(log n), whatever the size of the CIDR.
 */
export function addressPool(options: AddressPoolOptions): Result<AddressPool> {
  const cidr = parseCidr(options.cidr, 'cidr');
  if (!cidr.ok) return cidr;
  const excluded = parseExclude(options.exclude, cidr.value.family);
  if (!excluded.ok) return excluded;
  const ranges = subtract(usable(cidr.value), excluded.value);
  const held = new Map<string, string>();
  for (const [address, holder] of options.taken) {
    const parsed = parseAddress(address);
    if (!parsed.ok) return parsed;
    const text = formatAddress(parsed.value);
    if (!held.has(text)) held.set(text, holder);
  }
  return ok(makePool(options.cidr, { cidr: cidr.value, ranges, held }));
}

interface Parts {
  cidr: Cidr;
  /** Disjoint, ascending. */
  ranges: AddressRange[];
  /** By canonical text. May hold addresses outside `ranges`: who has one keeps it when a CIDR shrinks. */
  held: Map<string, string>;
}

function makePool(name: string, { cidr, ranges, held }: Parts): AddressPool {
  const next = lowestFree(cidr.family, ranges, held);
  const total = ranges.reduce((sum, range) => sum + range.last - range.first + 1n, 0n);
  const isUsable = (address: Address) => inRanges(ranges, address);
  let used = 0;
  for (const text of held.keys()) if (isUsable(parsedEarlier(text))) used += 1;

  const give = (text: string, holder: string) => {
    held.set(text, holder);
    used += 1;
    return ok(text);
  };
  const takeRequested = (holder: string, requested: string): Result<string> => {
    const address = parseAddress(requested);
    if (!address.ok) return address;
    const text = formatAddress(address.value);
    const present = held.get(text);
    if (present === holder) return ok(text);
    if (present !== undefined) return fail('taken', `${text} is held by ${present}; choose another or leave it empty`);
    if (!contains(cidr, address.value)) return fail('invalid', `${text} is not in ${name}`);
    if (!isUsable(address.value)) return fail('invalid', `${text} of ${name} is reserved or excluded; choose another`);
    return give(text, holder);
  };
  return {
    take(holder, requested) {
      if (requested !== undefined) return takeRequested(holder, requested);
      const free = next.find();
      return free === undefined ? fail('exhausted', `no address is free in ${name}`) : give(free, holder);
    },
    hold(holder, address) {
      const parsed = parseAddress(address);
      if (!parsed.ok) return undefined;
      const text = formatAddress(parsed.value);
      const present = held.get(text);
      if (present !== undefined) return present;
      held.set(text, holder);
      if (isUsable(parsed.value)) used += 1;
      return holder;
    },
    release(address, holder) {
      const parsed = parseAddress(address);
      if (!parsed.ok) return false;
      const text = formatAddress(parsed.value);
      if (held.get(text) !== holder) return false;
      held.delete(text);
      if (isUsable(parsed.value)) {
        used -= 1;
        next.freed(parsed.value.value);
      }
      return true;
    },
    holderOf(address) {
      const parsed = parseAddress(address);
      return parsed.ok ? held.get(formatAddress(parsed.value)) : undefined;
    },
    includes: (address) => isIn(ranges, address),
    capacity: () => ({ total: Number(total > CAP ? CAP : total), used }),
  };
}

const CAP = BigInt(Number.MAX_SAFE_INTEGER);

/** Where the next free address is found; see the drawing above. */
function lowestFree(family: 4 | 6, ranges: AddressRange[], held: ReadonlyMap<string, string>) {
  const heap = minHeap();
  let index = 0;
  let cursor = ranges[0]?.first ?? 0n;
  const text = (value: bigint) => formatAddress({ family, value });
  const passed = (value: bigint) => index >= ranges.length || value < cursor;

  const step = (range: AddressRange) => {
    if (cursor < range.last) cursor += 1n;
    else {
      index += 1;
      cursor = ranges[index]?.first ?? cursor;
    }
  };
  return {
    find(): string | undefined {
      // One in the heap may have been requested by its address meanwhile: it is dropped when it comes up.
      for (let value = heap.pop(); value !== undefined; value = heap.pop()) {
        if (!held.has(text(value))) return text(value);
      }
      for (let range = ranges[index]; range !== undefined; range = ranges[index]) {
        const address = text(cursor);
        step(range);
        if (!held.has(address)) return address;
      }
      return undefined;
    },
    freed(value: bigint) {
      if (passed(value)) heap.push(value);
    },
  };
}

function parseExclude(exclude: readonly string[], family: 4 | 6): Result<AddressRange[]> {
  const ranges: AddressRange[] = [];
  for (const [i, text] of exclude.entries()) {
    const range = parseAddressRange(text, `exclude[${i}]`);
    if (!range.ok) return range;
    if (range.value.family !== family)
      return fail('invalid', `"${text}" is not of the family of the CIDR (IPv${family})`, `exclude[${i}]`);
    ranges.push(range.value);
  }
  return ok(ranges.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0)));
}

/** Without network and broadcast (IPv4), without the subnet-router anycast address (IPv6, RFC 4291 §2.6.1). Two or one addresses are all usable (RFC 3021, RFC 6164). */
function usable({ family, first, last }: Cidr): AddressRange {
  if (last - first < 2n) return { family, first, last };
  return { family, first: first + 1n, last: family === 4 ? last - 1n : last };
}

/** What is left of `whole`; `excluded` ascends by `first`. */
function subtract(whole: AddressRange, excluded: AddressRange[]): AddressRange[] {
  const left: AddressRange[] = [];
  let first = whole.first;
  for (const gap of excluded) {
    if (gap.first > whole.last) break;
    if (gap.first > first) left.push({ ...whole, first, last: gap.first - 1n });
    if (gap.last >= first) first = gap.last + 1n;
  }
  if (first <= whole.last) left.push({ ...whole, first });
  return left;
}

function inRanges(ranges: AddressRange[], { family, value }: Address): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.last ?? 0n) < value) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range.family === family && range.first <= value;
}

function isIn(ranges: AddressRange[], text: string): boolean {
  const parsed = parseAddress(text);
  return parsed.ok && inRanges(ranges, parsed.value);
}

function parsedEarlier(text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(`bug: a held address does not parse: ${text}`);
  return parsed.value;
}
