// Two Loadbalancers that would give out the same addresses of one device. Admission refuses that; where it did not, the newer
// gives out none (spec/cloud.md §4.4, I-2), and what it gave before stays.
import { networkOverlaps, type Loadbalancer } from '@fairlead/api';
import { inEnglish, type Problem } from '@fairlead/core';
import { createdAt } from './names.ts';

/** By Loadbalancer that comes after another with the same addresses: which that is. */
export function overlappedNetworks(all: Iterable<Loadbalancer>): Map<string, Problem> {
  const bySeniority = [...all].sort(
    (a, b) => createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  return new Map(
    bySeniority.flatMap((one, i): [string, Problem][] => {
      const [first] = networkOverlaps(one, bySeniority.slice(0, i));
      return first ? [[one.metadata.name, inEnglish(first)]] : [];
    }),
  );
}
