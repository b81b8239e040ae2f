// What a service's spec may say, and what of it may not change.
import { duplicate, forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { isEqual, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { labelProblems, qualifiedProblems, subdomainProblems, validateLabels } from '../names.ts';
import type { Cause } from '../status.ts';
import { addressCauses, externalCauses, rangeCauses } from './ip.ts';
import { isPort, portCauses, portRange } from './ports.ts';
import { isExposed, isHealthChecked } from './service-type.ts';

const unchangeable = 'may not change once set';
const balancerOnly = "may only be used when `type` is 'LoadBalancer'";

/** Every reason to refuse `spec`; `before` is the spec it is to replace. */
export function serviceCauses(spec: Tree, before: Tree | undefined): Cause[] {
  return [
    ...(before ? changeCauses(spec, before) : []),
    ...typeCauses(spec),
    ...portsCauses(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...affinityCauses(spec),
    ...(spec.type === 'ExternalName' ? [] : clusterAddressCauses(spec)),
    ...listOf(spec.externalIPs).flatMap((address, i) => externalCauses(textOf(address), `spec.externalIPs[${i}]`)),
    ...twiceCauses(spec),
    ...balancerCauses(spec),
    ...trafficCauses(spec),
  ];
}

function changeCauses(spec: Tree, before: Tree): Cause[] {
  const causes: Cause[] = [];
  const isKept = before.type === 'ExternalName' || spec.type === 'ExternalName' || !before.clusterIP;
  if (!isKept && spec.clusterIP !== before.clusterIP)
    causes.push(invalidValue('spec.clusterIPs[0]', spec.clusterIPs, unchangeable));
  const wasBalancer = before.type === 'LoadBalancer' && spec.type === 'LoadBalancer';
  if (wasBalancer && !isEqual(spec.loadBalancerClass, before.loadBalancerClass))
    causes.push(invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, unchangeable));
  return causes;
}

function typeCauses(spec: Tree): Cause[] {
  const causes: Cause[] = [];
  const isHeadless = spec.clusterIP === 'None';
  if (listOf(spec.ports).length === 0 && spec.type !== 'ExternalName' && !isHeadless)
    causes.push(required('spec.ports'));
  if (isHeadless && (spec.type === 'LoadBalancer' || spec.type === 'NodePort'))
    causes.push(
      invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${textOf(spec.type)} services`),
    );
  return spec.type === 'ExternalName' ? [...causes, ...externalNameCauses(spec)] : causes;
}

function externalNameCauses(spec: Tree): Cause[] {
  const causes: Cause[] = [];
  const said = spec.clusterIP ? ['clusterIPs'] : [];
  said.push(...['ipFamilies', 'ipFamilyPolicy'].filter((field) => spec[field] !== undefined));
  causes.push(...said.map((field) => forbiddenField(`spec.${field}`, 'may not be set for ExternalName services')));
  const name = textOf(spec.externalName).replace(/\.$/, '');
  if (name === '') return [...causes, required('spec.externalName')];
  return [...causes, ...subdomainProblems(name).map((why) => invalidValue('spec.externalName', name, why))];
}

function portsCauses(spec: Tree): Cause[] {
  const ports = listOf(spec.ports).map(treeOf);
  const causes: Cause[] = [];
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const path = `spec.ports[${i}]`;
    const name = textOf(port.name);
    if (name === '' && ports.length > 1) causes.push(required(`${path}.name`));
    if (name !== '') causes.push(...labelProblems(name).map((why) => invalidValue(`${path}.name`, name, why)));
    if (name !== '' && names.has(name)) causes.push(duplicate(`${path}.name`, name));
    names.add(name);
    if (!isPort(port.port)) causes.push(invalidValue(`${path}.port`, port.port ?? 0, portRange));
    causes.push(...portCauses(port.targetPort, `${path}.targetPort`));
    const protocol = textOf(port.appProtocol);
    if (protocol !== '')
      causes.push(...qualifiedProblems(protocol).map((why) => invalidValue(`${path}.appProtocol`, protocol, why)));
  }
  return causes;
}

const longestAffinity = 86400;

function affinityCauses(spec: Tree): Cause[] {
  const seconds = treeOf(treeOf(spec.sessionAffinityConfig).clientIP).timeoutSeconds;
  if (typeof seconds !== 'number' || (seconds > 0 && seconds <= longestAffinity)) return [];
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return [invalidValue(path, seconds, `must be greater than 0 and less than ${longestAffinity}`)];
}

const families = ['IPv4', 'IPv6'];

function clusterAddressCauses(spec: Tree): Cause[] {
  const said = listOf(spec.ipFamilies);
  const causes = said.flatMap((family, i) => {
    if (!families.includes(textOf(family))) return [unsupported(`spec.ipFamilies[${i}]`, family, families)];
    return said.indexOf(family) < i ? [duplicate(`spec.ipFamilies[${i}]`, family)] : [];
  });
  const { clusterIP = '' } = spec;
  const addresses = listOf(spec.clusterIPs);
  if (clusterIP === '' && addresses.length > 0)
    causes.push(invalidValue('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified'));
  else if (addresses.length > 0 && addresses[0] !== clusterIP)
    causes.push(invalidValue('spec.clusterIPs', addresses, 'first value must match `clusterIP`'));
  if (addresses.includes('None') && addresses.length > 1)
    causes.push(invalidValue('spec.clusterIPs', addresses, "'None' must be the first and only value"));
  const given = addresses.length > 0 ? addresses : [clusterIP];
  for (const [i, address] of given.entries())
    if (address !== '' && address !== 'None') causes.push(...addressCauses(textOf(address), `spec.clusterIPs[${i}]`));
  return causes;
}

/** Ports that would be the same one on the service's address, and ports of nodes where there are none. */
function twiceCauses(spec: Tree): Cause[] {
  const ports = listOf(spec.ports).map(treeOf);
  const causes: Cause[] = [];
  const onService = new Set<string>();
  for (const [i, { nodePort }] of ports.entries())
    if (nodePort && spec.type === 'ClusterIP')
      causes.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  for (const [i, { port, protocol }] of ports.entries()) {
    const key = `${textOf(protocol)} ${String(port)}`;
    // Told as the real server holds the part of a port that is compared.
    const told = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    if (onService.has(key)) causes.push(twice(`spec.ports[${i}]`, told));
    onService.add(key);
  }
  return causes;
}

const twice = (field: string, told: Tree): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(told)}`,
  field,
});

/** What only a load balancer has. */
function balancerCauses(spec: Tree): Cause[] {
  const isBalancer = spec.type === 'LoadBalancer';
  const sources = listOf(spec.loadBalancerSourceRanges);
  // The field is written so: with a capital letter.
  const path = 'spec.LoadBalancerSourceRanges';
  const causes = sources.flatMap((range, i) => rangeCauses(textOf(range), `${path}[${i}]`));
  if (sources.length > 0 && !isBalancer) causes.unshift(forbiddenField(path, balancerOnly));
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalancer)
    causes.push(forbiddenField('spec.allocateLoadBalancerNodePorts', balancerOnly));
  const name = spec.loadBalancerClass;
  if (typeof name !== 'string') return causes;
  if (!isBalancer) return [...causes, forbiddenField('spec.loadBalancerClass', balancerOnly)];
  return [...causes, ...qualifiedProblems(name).map((why) => invalidValue('spec.loadBalancerClass', name, why))];
}

function trafficCauses(spec: Tree): Cause[] {
  const causes: Cause[] = [];
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = spec;
  if (policy && !isExposed(spec))
    causes.push(
      invalidValue('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'),
    );
  if (port && !isHealthChecked(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    causes.push(invalidValue('spec.healthCheckNodePort', port, why));
  }
  return causes;
}
