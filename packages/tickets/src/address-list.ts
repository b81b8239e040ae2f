// The address pairs of a Loadbalancer as its status lists them. Pure.
import type { LoadbalancerIp } from '@fairlead/api';
import { parseAddress } from '@fairlead/core';

/**
 * An API server keeps objects of some 1.5 MiB: at 530 bytes for the longest entry these fit twice, and 16,000 tickets of
 * one Loadbalancer would not.
 */
const mostListed = 2000;

export interface AddressList {
  ips: LoadbalancerIp[];
  /** Pairs that are held and not listed; absent when all are. */
  moreIps?: number;
}

/**
 * By VE address, as a person reads them. When there are too many, those that rest come before those that are held: of a
 * quarantine whose ticket is gone nothing else tells. `resting`: in the order in which they began, so that one that is
 * listed stays listed.
 */
export function addressList(
  held: readonly LoadbalancerIp[],
  resting: readonly LoadbalancerIp[],
  most = mostListed,
): AddressList {
  const first = resting.slice(0, most);
  const ips = byAddress([...first, ...byAddress(held).slice(0, most - first.length)]);
  const more = held.length + resting.length - ips.length;
  return more > 0 ? { ips, moreIps: more } : { ips };
}

function byAddress(ips: readonly LoadbalancerIp[]): LoadbalancerIp[] {
  const placed = ips.map((ip) => {
    const address = parseAddress(ip.veip);
    return { ip, place: address.ok ? address.value.value : 0n };
  });
  return placed.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0)).map(({ ip }) => ip);
}
