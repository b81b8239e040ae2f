// Addresses and ranges of them in services, slices and nodes: what is wrong with one, in the real server's words.
import { BlockList, isIP, isIPv4 } from 'node:net';
import { invalidValue } from '../field-error.ts';
import type { Cause } from '../status.ts';

const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

export const addressCauses = (address: string, path: string): Cause[] =>
  isAddress(address)
    ? []
    : [invalidValue(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];

const bits = (address: string): number => (isIPv4(address) ? 32 : 128);

/** `192.0.2.0/24`: an address and how many of its bits are the network's. */
export function isRange(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  return isAddress(address) && rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits(address);
}

export const rangeCauses = (range: string, path: string): Cause[] =>
  isRange(range) ? [] : [invalidValue(path, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];

function ranges(...networks: [network: string, length: number][]): BlockList {
  const list = new BlockList();
  for (const [network, length] of networks) list.addSubnet(network, length, isIPv4(network) ? 'ipv4' : 'ipv6');
  return list;
}

type Special = [list: BlockList, why: string];

// Addresses that no other machine could reach: traffic sent there would stay on the node, or leave its tenant.
const special: Special[] = [
  [ranges(['0.0.0.0', 32], ['::', 128]), 'may not be unspecified (0.0.0.0 or ::)'],
  [ranges(['169.254.0.0', 16], ['fe80::', 10]), 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [ranges(['224.0.0.0', 24], ['ff02::', 10]), 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];
const loopback: Special = [
  ranges(['127.0.0.0', 8], ['::1', 128]),
  'may not be in the loopback range (127.0.0.0/8, ::1/128)',
];

/** What keeps an address from being one that traffic from outside may be sent to. */
export const externalCauses = (address: string, path: string): Cause[] =>
  causesBy([...special, loopback], address, path);

/** The same for endpoints, which may be loopback addresses where pods are simulated: they listen there. */
export const endpointCauses = (address: string, path: string, mayLoop: boolean): Cause[] =>
  mayLoop ? causesBy(special, address, path) : externalCauses(address, path);

function causesBy(lists: Special[], address: string, path: string): Cause[] {
  const causes = addressCauses(address, path);
  if (causes.length > 0) return causes;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  return lists.filter(([list]) => list.check(address, family)).map(([, why]) => invalidValue(path, address, why));
}
