// Cluster addresses and node ports of services: given out once each, kept while the service lives.
import { isIPv4 } from 'node:net';
import type { Addresses } from './cluster.ts';
import { invalidValue } from './field-error.ts';
import { hasNodePorts, isHealthChecked } from './kinds/service-type.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { part } from './resource.ts';
import { internal, invalid, ok, refuse, type Result, type Status } from './status.ts';

const lowestNodePort = 30000;
const highestNodePort = 32767;

interface Options {
  /** The range of cluster addresses, IPv4 CIDR such as `10.96.0.0/16`. */
  serviceCidr: string;
  random(bytes: number): Uint8Array;
}

const isAllocated = 'provided port is already allocated';

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
      const problem = giveAddress(pool, object, old) ?? giveNodePorts(pool, object, old);
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
  const unfit = familyProblem(object);
  if (unfit) return unfit;
  const before = old && textOf(part(old, 'spec').clusterIP);
  const given =
    textOf(spec.clusterIP) ||
    textOf(listOf(spec.clusterIPs)[0]) ||
    free(pool, pool.addresses, addressBand(pool.size - 2), (i) => toAddress(pool.first + 1 + i));
  if (given === undefined) return internal('failed to allocate a serviceIP: range is full');
  if (given !== 'None' && given !== before) {
    const why = refusalOf(pool, given);
    if (why) return refusal(object, 'spec.clusterIPs', [given], `failed to allocate IP ${given}: ${why}`);
  }
  spec.clusterIP = given;
  spec.clusterIPs = [given];
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
  return undefined;
}

/** Why an address cannot be given out; undefined when it can. The first and the last of the range are nobody's. */
function refusalOf({ cidr, first, size, addresses: used }: Pool, address: string): string | undefined {
  const at = isIPv4(address) ? toNumber(address) - first : -1;
  if (at < 0 || at >= size) return 'the provided network does not match the current range';
  if (at === 0 || at === size - 1)
    return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${cidr}`;
  return used.has(address) ? 'provided IP is already allocated' : undefined;
}

/** The range is of IPv4 alone: what asks for another family, or for both, cannot be had. */
function familyProblem(object: KubeObject): Status | undefined {
  const { ipFamilies, ipFamilyPolicy = 'SingleStack' } = part(object, 'spec');
  if (listOf(ipFamilies).length > 1 && ipFamilyPolicy === 'SingleStack') {
    const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
    return refusal(object, 'spec.ipFamilyPolicy', ipFamilyPolicy, why);
  }
  const other = listOf(ipFamilies).findIndex((family) => family !== 'IPv4');
  if (other >= 0)
    return refusal(object, `spec.ipFamilies[${other}]`, listOf(ipFamilies)[other], 'not configured on this cluster');
  if (ipFamilyPolicy !== 'RequireDualStack') return undefined;
  const why = 'this cluster is not configured for dual-stack services';
  return refusal(object, 'spec.ipFamilyPolicy', ipFamilyPolicy, why);
}

/** The fields of a service that hold a port of every node, in the order they are given one. */
function nodePortFields(spec: Tree): { holder: Tree; name: string; path: string }[] {
  const hasPorts =
    hasNodePorts(spec) && !(spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false);
  const ports = listOf(spec.ports).map((item, i) => ({
    holder: treeOf(item),
    name: 'nodePort',
    path: `spec.ports[${i}].nodePort`,
  }));
  return [
    ...ports.filter(({ holder }) => hasPorts || (hasNodePorts(spec) && holder.nodePort)),
    ...(isHealthChecked(spec) ? [{ holder: spec, name: 'healthCheckNodePort', path: 'spec.healthCheckNodePort' }] : []),
  ];
}

function giveNodePorts(pool: Pool, object: KubeObject, old: KubeObject | undefined): Status | undefined {
  const before = new Set(old ? nodePorts(old) : []);
  const others = new Set([...pool.ports].filter((port) => !before.has(port)));
  const fields = nodePortFields(part(object, 'spec'));
  // Two protocols may share a number when both ask for it; one that is only given out is nobody else's.
  const own = new Set(nodePorts(object));
  const seen = new Set<string>();
  for (const { holder, name, path } of fields) {
    const asked = Number(holder[name] ?? 0);
    const key = `${textOf(holder.protocol)} ${asked}`;
    const why = asked === 0 ? undefined : seen.has(key) ? isAllocated : portProblem(asked, others);
    seen.add(key);
    if (why) return refusal(object, path, asked, why);
    if (asked !== 0) continue;
    const count = highestNodePort - lowestNodePort + 1;
    const given = free(pool, new Set([...others, ...own]), portBand(count), (n) => lowestNodePort + n);
    if (given === undefined) return internal('failed to allocate a nodePort: range is full');
    holder[name] = given;
    own.add(given);
  }
  return undefined;
}

function portProblem(port: number, others: Set<number>): string | undefined {
  if (port < lowestNodePort || port > highestNodePort)
    return `provided port is not in the valid range. The range of valid ports is ${lowestNodePort}-${highestNodePort}`;
  return others.has(port) ? isAllocated : undefined;
}

/** A range of `count` whose first `kept` are given to nobody who did not ask for one, until the rest is used up. */
interface Band {
  count: number;
  kept: number;
}

/** Of a range of `count`: one part in `parts`, at least 16 and at most `most`; nothing of a range that is no larger. */
const band = (count: number, parts: number, most: number): Band => ({
  count,
  kept: count <= 16 ? 0 : Math.min(Math.max(16, Math.floor(count / parts)), most),
});

/** Kubernetes' enhancements 3070 (addresses) and 3668 (node ports). */
const addressBand = (count: number): Band => band(count, 16, 256);
const portBand = (count: number): Band => band(count, 32, 128);

/** A free one, looked for from a random place so that addresses are not reused at once. */
function free<T>({ random }: Pool, used: Set<T>, { count, kept }: Band, at: (i: number) => T): T | undefined {
  const start = kept + (Buffer.from(random(4)).readUInt32BE() % (count - kept));
  const search = (from: number, to: number): T | undefined => {
    for (let i = from; i < to; i++) if (!used.has(at(i))) return at(i);
    return undefined;
  };
  return search(start, count) ?? search(kept, start) ?? search(0, kept);
}

/** The first address of a range: the server's own. */
export function firstAddress(serviceCidr: string): string {
  return toAddress(toNumber(serviceCidr.split('/')[0] ?? '') + 1);
}

const clusterAddresses = (object: KubeObject): string[] =>
  [textOf(part(object, 'spec').clusterIP)].filter((address) => address !== '' && address !== 'None');
function nodePorts(object: KubeObject): number[] {
  const { ports, healthCheckNodePort } = part(object, 'spec');
  return [...listOf(ports).map((port) => treeOf(port).nodePort), healthCheckNodePort]
    .map((port) => Number(port ?? 0))
    .filter((port) => port > 0);
}

const refusal = (object: KubeObject, field: string, value: unknown, why: string): Status =>
  invalid({ group: '', kind: 'Service' }, object.metadata.name ?? '', [invalidValue(field, value, why)]);

const toNumber = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
const toAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
