// The ip and cidr types of Kubernetes' CEL, IPv4 and IPv6.
import { isIP, isIPv4 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { isCidr } from '../schema/format.ts';

/** An address as a number of 32 or 128 bits. */
export class Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }
}

/** A network: an address and how many of its first bits count. */
export class Network {
  readonly address: Address;
  readonly length: number;
  constructor(address: Address, length: number) {
    this.address = address;
    this.length = length;
  }
}

// Kubernetes takes no zones and no IPv4 written as IPv6.
const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%') && !/^::ffff:\d+\./i.test(text);

export function addAddresses(environment: Environment): void {
  environment
    .registerType('net.IP', { ctor: Address, fields: {} })
    .registerType('net.CIDR', { ctor: Network, fields: {} })
    .registerOperator('net.IP == net.IP', (a: Address, b: Address) => a.family === b.family && a.bits === b.bits)
    .registerOperator(
      'net.CIDR == net.CIDR',
      (a: Network, b: Network) =>
        a.length === b.length && a.address.family === b.address.family && a.address.bits === b.address.bits,
    )
    .registerFunction('isIP(string): bool', isAddress)
    .registerFunction('ip(string): net.IP', addressOf)
    .registerFunction('isCIDR(string): bool', (text: string) => isCidr(text) && isAddress(text.split('/')[0] ?? ''))
    .registerFunction('cidr(string): net.CIDR', networkOf)
    .registerFunction('string(net.IP): string', addressText)
    .registerFunction(
      'string(net.CIDR): string',
      (network: Network) => `${addressText(network.address)}/${network.length}`,
    )
    .registerFunction('net.IP.family(): int', (ip: Address) => BigInt(ip.family))
    .registerFunction('net.IP.isUnspecified(): bool', (ip: Address) => ip.bits === 0n)
    .registerFunction('net.IP.isLoopback(): bool', (ip: Address) => inAny(ip, ['127.0.0.0/8', '::1/128']))
    .registerFunction('net.IP.isLinkLocalUnicast(): bool', (ip: Address) => inAny(ip, ['169.254.0.0/16', 'fe80::/10']))
    .registerFunction('net.IP.isLinkLocalMulticast(): bool', (ip: Address) => inAny(ip, ['224.0.0.0/24', 'ff02::/16']))
    .registerFunction('net.IP.isGlobalUnicast(): bool', isGlobalUnicast)
    .registerFunction('net.CIDR.containsIP(net.IP): bool', contains)
    .registerFunction('net.CIDR.containsIP(string): bool', (network: Network, text: string) =>
      contains(network, addressOf(text)),
    )
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', containsNetwork)
    .registerFunction('net.CIDR.containsCIDR(string): bool', (network: Network, text: string) =>
      containsNetwork(network, networkOf(text)),
    )
    .registerFunction('net.CIDR.ip(): net.IP', (network: Network) => network.address)
    .registerFunction('net.CIDR.prefixLength(): int', (network: Network) => BigInt(network.length))
    .registerFunction('net.CIDR.masked(): net.CIDR', masked);
}

export function addressOf(text: string): Address {
  if (!isAddress(text)) throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  if (isIPv4(text))
    return new Address(
      4,
      text.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n),
    );
  return new Address(6, bits6(text));
}

function bits6(text: string): bigint {
  // The URL parser writes an IPv6 address in its one canonical form, an IPv4 tail included.
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const words = (side: string) => (side === '' ? [] : side.split(':'));
  const after = tail === undefined ? [] : words(tail);
  const gap = tail === undefined ? 0 : 8 - words(head).length - after.length;
  return [...words(head), ...Array<string>(gap).fill('0'), ...after].reduce(
    (sum, word) => sum * 65536n + BigInt(`0x${word}`),
    0n,
  );
}

export function networkOf(text: string): Network {
  if (!isCidr(text))
    throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  const [address = '', length = ''] = text.split('/');
  return new Network(addressOf(address), Number(length));
}

const width = (address: Address): number => (address.family === 4 ? 32 : 128);
const prefix = (address: Address, length: number): bigint => address.bits >> BigInt(width(address) - length);
const contains = (network: Network, ip: Address): boolean =>
  network.address.family === ip.family && prefix(network.address, network.length) === prefix(ip, network.length);
export const containsNetwork = (network: Network, inner: Network): boolean =>
  inner.length >= network.length && contains(network, inner.address);
const inAny = (ip: Address, networks: string[]): boolean => networks.some((text) => contains(networkOf(text), ip));
const isGlobalUnicast = (ip: Address): boolean =>
  ip.bits !== 0n &&
  !inAny(ip, [
    '127.0.0.0/8',
    '::1/128',
    '169.254.0.0/16',
    'fe80::/10',
    '224.0.0.0/4',
    'ff00::/8',
    '255.255.255.255/32',
  ]);

function masked({ address, length }: Network): Network {
  const drop = BigInt(width(address) - length);
  return new Network(new Address(address.family, (address.bits >> drop) << drop), length);
}

function addressText({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => ((bits >> shift) & 255n).toString()).join('.');
  const words = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  return new URL(`http://[${words.join(':')}]/`).hostname.slice(1, -1);
}

/** An address in its one canonical form. */
export const plainAddressText = (text: string): string => addressText(addressOf(text));

/** A network in its one canonical form, the bits beyond its length off. */
export function maskedText(network: Network): string {
  const { address, length } = masked(network);
  return `${addressText(address)}/${length}`;
}
