// The rules of network policies, service ranges and the record of addresses. Nothing here acts on them.
import { isIP } from 'node:net';
import { containsNetwork, maskedText, networkOf, plainAddressText } from '../cel/addresses.ts';
import { forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { pathProblems, subdomainProblems } from '../names.ts';
import { isEqual, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { isRange, rangeCauses } from './ip.ts';
import { selectorCauses } from './label-selector.ts';
import { isPort, portCauses, portRange } from './ports.ts';

const policyTypes = ['Ingress', 'Egress'];

export const networkPolicy: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const spec = part(object, 'spec');
    if (listOf(spec.policyTypes).length > 0) return;
    // A policy that says nothing of its types is about what comes in, and about what goes out if it has such rules.
    object.spec = { ...spec, policyTypes: ['Ingress', ...(listOf(spec.egress).length > 0 ? ['Egress'] : [])] };
  },
  validate(object) {
    const spec = part(object, 'spec');
    const types = listOf(spec.policyTypes);
    return [
      ...selectorCauses(treeOf(spec.podSelector), 'spec.podSelector'),
      ...listOf(spec.ingress).flatMap((rule, i) => ruleCauses(treeOf(rule), `spec.ingress[${i}]`, 'from')),
      ...listOf(spec.egress).flatMap((rule, i) => ruleCauses(treeOf(rule), `spec.egress[${i}]`, 'to')),
      ...(types.length > policyTypes.length
        ? [invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes')]
        : types.flatMap((type, i) =>
            policyTypes.includes(textOf(type)) ? [] : [unsupported(`spec.policyTypes[${i}]`, type, policyTypes)],
          )),
    ];
  },
};

const ruleCauses = (rule: Tree, path: string, peers: 'from' | 'to'): Cause[] => [
  ...listOf(rule.ports).flatMap((port, i) => policyPortCauses(treeOf(port), `${path}.ports[${i}]`)),
  ...listOf(rule[peers]).flatMap((peer, i) => peerCauses(treeOf(peer), `${path}.${peers}[${i}]`)),
];

const protocols = ['TCP', 'UDP', 'SCTP'];

function policyPortCauses({ protocol, port, endPort }: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  if (protocol !== undefined && !protocols.includes(textOf(protocol)))
    causes.push(unsupported(`${path}.protocol`, protocol, protocols));
  const end = `${path}.endPort`;
  if (port === undefined)
    return endPort === undefined
      ? causes
      : [...causes, invalidValue(end, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port === 'string' && endPort !== undefined)
    causes.push(invalidValue(end, endPort, 'may not be specified when `port` is non-numeric'));
  causes.push(...portCauses(port, `${path}.port`));
  if (typeof port !== 'number' || typeof endPort !== 'number') return causes;
  if (endPort < port) causes.push(invalidValue(end, port, 'must be greater than or equal to `port`'));
  if (!isPort(endPort)) causes.push(invalidValue(end, endPort, portRange));
  return causes;
}

function peerCauses(peer: Tree, path: string): Cause[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const causes = [
    ...(isTree(podSelector) ? selectorCauses(podSelector, `${path}.podSelector`) : []),
    ...(isTree(namespaceSelector) ? selectorCauses(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...(isTree(ipBlock) ? blockCauses(ipBlock, `${path}.ipBlock`) : []),
  ];
  const said = [podSelector, namespaceSelector, ipBlock].filter(isTree);
  if (said.length === 0) causes.push(required(path, 'must specify a peer'));
  else if (said.length > 1 && isTree(ipBlock))
    causes.push(forbiddenField(path, 'may not specify both ipBlock and another peer'));
  return causes;
}

function blockCauses(block: Tree, path: string): Cause[] {
  const cidr = textOf(block.cidr);
  if (cidr === '') return [required(`${path}.cidr`)];
  if (!isRange(cidr)) return rangeCauses(cidr, `${path}.cidr`);
  return listOf(block.except).flatMap((item, i) => {
    const [text, at] = [textOf(item), `${path}.except[${i}]`];
    if (!isRange(text)) return rangeCauses(text, at);
    const [outer, inner] = [networkOf(cidr), networkOf(text)];
    const isWithin = containsNetwork(outer, inner) && inner.length > outer.length;
    return isWithin ? [] : [invalidValue(at, text, 'must be a strict subset of `cidr`')];
  });
}

export const ipAddress: Rules = {
  nameProblems(name) {
    if (isIP(name) === 0 || name.includes('%'))
      return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];
    if (isMapped(name)) return ['must not be an IPv4-mapped IPv6 address'];
    const canonical = plainAddressText(name);
    return canonical === name ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
  },
  validate(object, old) {
    const { parentRef } = part(object, 'spec');
    const causes = isTree(parentRef) ? parentCauses(parentRef) : [required('spec.parentRef')];
    const isChanged = old !== undefined && !isEqual(parentRef, part(old, 'spec').parentRef);
    return isChanged ? [...causes, invalidValue('spec.parentRef', parentRef, 'field is immutable')] : causes;
  },
};

const isMapped = (address: string): boolean => /^(0*:)*:?ffff:\d+\.\d+\.\d+\.\d+$/i.test(address);

function parentCauses(parent: Tree): Cause[] {
  const path = 'spec.parentRef';
  const group = textOf(parent.group);
  const causes = group === '' ? [] : subdomainProblems(group).map((why) => invalidValue(`${path}.group`, group, why));
  for (const field of ['resource', 'name', 'namespace']) {
    const value = textOf(parent[field]);
    if (value === '' && field !== 'namespace') causes.push(required(`${path}.${field}`));
    causes.push(...pathProblems(value).map((why) => invalidValue(`${path}.${field}`, value, why)));
  }
  return causes;
}

const rangesOf = (object: KubeObject): string[] => listOf(part(object, 'spec').cidrs).map(textOf);

export const serviceRange: Rules = {
  nameProblems: subdomainProblems,
  validate(object, old) {
    const [ranges, before] = [rangesOf(object), old && rangesOf(old)];
    if (!before) return newRangeCauses(object, ranges);
    const isFixed = (i: number): Cause[] =>
      ranges[i] === before[i] ? [] : [invalidValue(`spec.cidrs[${i}]`, ranges[i], 'field is immutable')];
    if (ranges.length === before.length) return ranges.flatMap((_, i) => isFixed(i));
    // A range of the other family may be added, and nothing else changes.
    if (before.length === 1 && ranges.length === 2) return [...isFixed(0), ...newRangeCauses(object, ranges)];
    return [invalidValue('spec.cidrs', ranges, 'field is immutable')];
  },
};

function newRangeCauses(object: KubeObject, ranges: string[]): Cause[] {
  const path = 'spec.cidrs';
  if (ranges.length === 0) return [required(path, 'at least one CIDR required')];
  if (ranges.length > 2) return [invalidValue(path, part(object, 'spec'), 'may only hold up to 2 values')];
  const causes = ranges.flatMap((range, i) => strictRangeCauses(range, `${path}[${i}]`));
  const [first, second] = ranges.filter(isRange).map((range) => networkOf(range).address.family);
  if (first !== undefined && first === second) {
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    causes.push(invalidValue(path, ranges, why));
  }
  return causes;
}

function strictRangeCauses(range: string, path: string): Cause[] {
  const loose = rangeCauses(range, path);
  if (loose.length > 0) return loose;
  const [address = '', length = ''] = range.split('/');
  if (/^0\d/.test(length)) return [invalidValue(path, range, 'must not have leading 0s in IP or prefix length')];
  if (isMapped(address)) return [invalidValue(path, range, 'must not have an IPv4-mapped IPv6 address')];
  const canonical = maskedText(networkOf(range));
  if (`${plainAddressText(address)}/${length}` !== canonical)
    return [invalidValue(path, range, 'must not have bits set beyond the prefix length')];
  return range === canonical
    ? []
    : [invalidValue(path, range, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
