// EndpointSlices and Endpoints: where the traffic of a service may go.
import { isIPv4, isIPv6 } from 'node:net';
import { duplicate, invalidValue, required, tooMany } from '../field-error.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { labelProblems, qualifiedProblems, subdomainProblems } from '../names.ts';
import type { Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { addressCauses, endpointCauses } from './ip.ts';
import { isPort, portRange } from './ports.ts';

const mostEndpoints = 1000;
const mostAddresses = 100;

export const endpointSlice = (mayLoop: boolean): Rules => ({
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    for (const endpoint of listOf(object.endpoints)) if (isTree(endpoint)) endpoint.conditions ??= {};
  },
  validate(object, old) {
    const causes: Cause[] = [];
    const { addressType } = object;
    if (!addressType) causes.push(required('addressType'));
    else if (old && old.addressType !== addressType)
      causes.push(invalidValue('addressType', addressType, 'field is immutable'));
    const endpoints = listOf(object.endpoints).map(treeOf);
    if (endpoints.length > mostEndpoints) causes.push(tooMany('endpoints', endpoints.length, mostEndpoints));
    for (const [i, endpoint] of endpoints.entries())
      causes.push(...targetCauses(endpoint, { type: textOf(addressType), mayLoop }, `endpoints[${i}]`));
    return [...causes, ...slicePortCauses(listOf(object.ports))];
  },
});

/** How the addresses of a slice are to be. */
interface Wanted {
  type: string;
  mayLoop: boolean;
}

function targetCauses({ addresses, hostname }: Tree, wanted: Wanted, path: string): Cause[] {
  const all = listOf(addresses).map(textOf);
  const causes: Cause[] = [];
  if (all.length === 0) causes.push(required(`${path}.addresses`, 'must contain at least 1 address'));
  if (all.length > mostAddresses) causes.push(tooMany(`${path}.addresses`, all.length, mostAddresses));
  for (const [i, address] of all.entries())
    causes.push(...typedCauses(address, wanted, { list: `${path}.addresses`, i }));
  if (typeof hostname === 'string' && hostname !== '')
    causes.push(...labelProblems(hostname).map((why) => invalidValue(`${path}.hostname`, hostname, why)));
  return causes;
}

function typedCauses(address: string, { type, mayLoop }: Wanted, { list, i }: { list: string; i: number }): Cause[] {
  const path = `${list}[${i}]`;
  if (type === 'FQDN') return nameCauses(address, path);
  const causes = addressCauses(address, path);
  if (causes.length > 0 || (type !== 'IPv4' && type !== 'IPv6')) return causes;
  const isOther = type === 'IPv4' ? !isIPv4(address) : !isIPv6(address);
  // Told of the list, as the real server does.
  const other = isOther ? [invalidValue(list, address, `must be an ${type} address`)] : [];
  return [...other, ...endpointCauses(address, path, mayLoop)];
}

function nameCauses(name: string, path: string): Cause[] {
  const causes = subdomainProblems(name).map((why) => invalidValue(path, name, why));
  if (causes.length > 0 || name.includes('.')) return causes;
  return [invalidValue(path, name, 'should be a domain with at least two segments separated by dots')];
}

function slicePortCauses(ports: unknown[]): Cause[] {
  const causes: Cause[] = [];
  const names = new Set<string>();
  for (const [i, item] of ports.entries()) {
    const { name: given, appProtocol } = treeOf(item);
    const name = textOf(given);
    if (name !== '') causes.push(...labelProblems(name).map((why) => invalidValue(`ports[${i}].name`, name, why)));
    if (names.has(name)) causes.push(duplicate(`ports[${i}].name`, name));
    names.add(name);
    const protocol = textOf(appProtocol);
    if (protocol !== '')
      causes.push(...qualifiedProblems(protocol).map((why) => invalidValue(`ports[${i}].appProtocol`, protocol, why)));
  }
  return causes;
}

export const endpoints = (mayLoop: boolean): Rules => ({
  nameProblems: subdomainProblems,
  validate: (object) =>
    listOf(object.subsets).flatMap((subset, i) => subsetCauses(treeOf(subset), `subsets[${i}]`, mayLoop)),
});

function subsetCauses(subset: Tree, path: string, mayLoop: boolean): Cause[] {
  const causes: Cause[] = [];
  if (listOf(subset.addresses).length === 0 && listOf(subset.notReadyAddresses).length === 0)
    causes.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  for (const list of ['addresses', 'notReadyAddresses'])
    for (const [i, item] of listOf(subset[list]).entries()) {
      const { ip, hostname } = treeOf(item);
      const at = `${path}.${list}[${i}]`;
      causes.push(...endpointCauses(textOf(ip), `${at}.ip`, mayLoop));
      if (typeof hostname === 'string' && hostname !== '')
        causes.push(...labelProblems(hostname).map((why) => invalidValue(`${at}.hostname`, hostname, why)));
    }
  return [...causes, ...subsetPortCauses(listOf(subset.ports), path)];
}

function subsetPortCauses(ports: unknown[], path: string): Cause[] {
  const causes: Cause[] = [];
  for (const [i, item] of ports.entries()) {
    const { name: given, port } = treeOf(item);
    const name = textOf(given);
    const at = `${path}.ports[${i}]`;
    if (name === '' && ports.length > 1) causes.push(required(`${at}.name`));
    if (name !== '') causes.push(...labelProblems(name).map((why) => invalidValue(`${at}.name`, name, why)));
    if (!isPort(port)) causes.push(invalidValue(`${at}.port`, port ?? 0, portRange));
  }
  return causes;
}
