// Data-groups: long lists of values, and all lists of addresses, apart from the rule's text.
import { formatAddress, formatCidr, type AddressRange } from '@fairlead/core';
import { byText, type Classed } from '../application.ts';

/** More plain values than this go into a data-group, which the device searches as a tree. */
export const longestInline = 20;

export function textList(values: readonly string[]): Classed {
  return { class: 'Data_Group', keyDataType: 'string', records: records([...new Set(values)].toSorted(byText)) };
}

export function addressList(ranges: readonly AddressRange[]): Classed {
  return { class: 'Data_Group', keyDataType: 'ip', records: records(networks(ranges)) };
}

/** The fewest CIDRs that hold exactly the addresses of `ranges`, IPv4 first, in order; a single address stands alone. */
export function networks(ranges: readonly AddressRange[]): string[] {
  return merged(ranges).flatMap((range) => {
    const bits = range.family === 4 ? 32 : 128;
    const texts: string[] = [];
    for (let first = range.first; first <= range.last;) {
      const length = largestAt(first, range.last, bits);
      const last = first + (1n << BigInt(bits - length)) - 1n;
      const { family } = range;
      texts.push(
        length === bits ? formatAddress({ family, value: first }) : formatCidr({ family, first, last, length }),
      );
      first = last + 1n;
    }
    return texts;
  });
}

const records = (keys: string[]): object[] => keys.map((key) => ({ key, value: '' }));

/** Ranges that overlap or touch become one: a key may stand in a data-group once only. */
function merged(ranges: readonly AddressRange[]): AddressRange[] {
  const sorted = ranges.toSorted((a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const result: AddressRange[] = [];
  for (const { family, first, last } of sorted) {
    const before = result.at(-1);
    if (!before || before.family !== family || before.last + 1n < first) result.push({ family, first, last });
    else if (last > before.last) before.last = last;
  }
  return result;
}

/** The shortest prefix of a network that begins at `first` and ends no later than `last`. */
function largestAt(first: bigint, last: bigint, bits: number): number {
  let length = bits;
  while (length > 0) {
    const size = 1n << BigInt(bits - length + 1);
    if (first % size !== 0n || first + size - 1n > last) break;
    length -= 1;
  }
  return length;
}
