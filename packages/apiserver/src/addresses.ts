// Cluster addresses and node ports of services: given out once each, kept while the service lives.
import { isIPv4 } from 'node:net';
import type { Addresses } from './cluster.ts';
import { invalidValue } from './field-error.ts';
import { isExposed } from './kinds/service.ts';
import { listOf, textOf, treeOf, type KubeObject } from './object.ts';
import { part } from './resource.ts';
import { internal, invalid, ok, refuse, type Result, type Status } from './status.ts';

const lowestNodePort = 30000;
const highestNodePort = 32767;

interface Options {
  /** The range of cluster addresses, IPv4 CIDR such as `10.96.0.0/16`. */
  serviceCidr: string;
  random(bytes: number): Uint8Array;
}

/** What is in use, and the range it is taken from. */
interface Pool {
  cidr: string;
  first: number;
  size: number;
  addresses: Set<string>;
  ports: Set<number>;
  random(bytes: number): Uint8Array;
}

export function addresses({ serviceCidr, random }: Options): Addresses {
  const [network = '', length = ''] = serviceCidr.split('/');
  const first = toNumber(network);
  const size = 2 ** (32 - Number(length));
  if (!isIPv4(network) || !(size >= 8) || first % size !== 0)
    throw new Error(`serviceCidr ${serviceCidr} is not an IPv4 network of at least 8 addresses`);
  const pool: Pool = { cidr: serviceCidr, first, size, addresses: new Set(), ports: new Set(), random };
  return {
    give(object, old): Result<void> {
      const problem = giveAddress(pool, object, old) ?? givePorts(pool, object, old);
      if (problem) return refuse(problem);
      for (const address of clusterAddresses(object)) pool.addresses.add(address);
      for (const port of nodePorts(object)) pool.ports.add(port);
      return ok(undefined);
    },
    release(object, kept) {
      const keptAddresses = kept ? clusterAddresses(kept) : [];
      const keptPorts = kept ? nodePorts(kept) : [];
      for (const address of clusterAddresses(object))
        if (!keptAddresses.includes(address)) pool.addresses.delete(address);
      for (const port of nodePorts(object)) if (!keptPorts.includes(port)) pool.ports.delete(port);
    },
  };
}

function giveAddress(pool: Pool, object: KubeObject, old: KubeObject | undefined): Status | undefined {
  const spec = part(object, 'spec');
  if (spec.type === 'ExternalName') return undefined;
  const before = old && textOf(part(old, 'spec').clusterIP);
  const given =
    textOf(spec.clusterIP) ||
    textOf(listOf(spec.clusterIPs)[0]) ||
    free(pool, pool.addresses, pool.size - 2, (i) => toAddress(pool.first + 1 + i));
  if (given === undefined) return internal('failed to allocate a serviceIP: range is full');
  if (given !== 'None' && given !== before) {
    const why = !isInRange(pool, given)
      ? `the provided IP (${given}) is not in the valid range. The range of valid IPs is ${pool.cidr}`
      : pool.addresses.has(given) && 'provided IP is already allocated';
    if (why) return refusal(object, 'spec.clusterIPs', [given], `failed to allocate IP ${given}: ${why}`);
  }
  spec.clusterIP = given;
  spec.clusterIPs = [given];
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
  return undefined;
}

const isInRange = ({ first, size }: Pool, address: string): boolean =>
  isIPv4(address) && toNumber(address) > first && toNumber(address) < first + size - 1;

function givePorts(pool: Pool, object: KubeObject, old: KubeObject | undefined): Status | undefined {
  const spec = part(object, 'spec');
  const before = new Set(old ? nodePorts(old) : []);
  const taken = new Set([...pool.ports].filter((port) => !before.has(port)));
  if (!isExposed(spec) || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false))
    return undefined;
  for (const [i, item] of listOf(spec.ports).entries()) {
    const port = treeOf(item);
    const field = `spec.ports[${i}].nodePort`;
    const asked = Number(port.nodePort ?? 0);
    if (asked === 0) port.nodePort = free(pool, taken, highestNodePort - lowestNodePort + 1, (n) => lowestNodePort + n);
    else if (asked < lowestNodePort || asked > highestNodePort)
      return refusal(
        object,
        field,
        asked,
        `provided port is not in the valid range. The range of valid ports is ${lowestNodePort}-${highestNodePort}`,
      );
    else if (taken.has(asked)) return refusal(object, field, asked, 'provided port is already allocated');
    if (port.nodePort === undefined) return internal('failed to allocate a nodePort: range is full');
    taken.add(Number(port.nodePort));
  }
  return undefined;
}

/** A free one, looked for from a random place so that addresses are not reused at once. */
function free<T>({ random }: Pool, used: Set<T>, count: number, at: (i: number) => T): T | undefined {
  const start = Buffer.from(random(4)).readUInt32BE() % count;
  for (let i = 0; i < count; i++) {
    const candidate = at((start + i) % count);
    if (!used.has(candidate)) return candidate;
  }
  return undefined;
}

/** The first address of a range: the server's own. */
export function firstAddress(serviceCidr: string): string {
  return toAddress(toNumber(serviceCidr.split('/')[0] ?? '') + 1);
}

const clusterAddresses = (object: KubeObject): string[] =>
  [textOf(part(object, 'spec').clusterIP)].filter((address) => address !== '' && address !== 'None');
const nodePorts = (object: KubeObject): number[] =>
  listOf(part(object, 'spec').ports)
    .map((port) => Number(treeOf(port).nodePort ?? 0))
    .filter((port) => port > 0);

const refusal = (object: KubeObject, field: string, value: unknown, why: string): Status =>
  invalid({ group: '', kind: 'Service' }, object.metadata.name ?? '', [invalidValue(field, value, why)]);

const toNumber = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
const toAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
