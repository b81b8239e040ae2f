// Services: defaults, ports, and what may not change. Addresses and node ports are given out in addresses.ts.
import { duplicate, invalidValue, required } from '../field-error.ts';
import { listOf, textOf, treeOf, type Tree } from '../object.ts';
import { dns1035Problems, labelProblems, validateLabels } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { isPort, portRange } from './pod.ts';

export const service: Rules = {
  nameProblems: dns1035Problems,
  fill(object) {
    const spec = part(object, 'spec');
    object.spec = spec;
    object.status = { loadBalancer: {}, ...part(object, 'status') };
    for (const item of listOf(spec.ports)) {
      const port = treeOf(item);
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
    }
    if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
    if (isExposed(spec)) spec.externalTrafficPolicy ??= 'Cluster';
    if (spec.sessionAffinity === 'ClientIP') spec.sessionAffinityConfig ??= { clientIP: { timeoutSeconds: 10800 } };
    if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
  },
  prepare(object, old) {
    if (!old) return;
    const spec = part(object, 'spec');
    const before = part(old, 'spec');
    if (spec.type === 'ExternalName') return;
    // A full replace that leaves out what was given out keeps it, as the real server does.
    spec.clusterIP ??= before.clusterIP;
    spec.clusterIPs ??= before.clusterIPs;
    spec.ipFamilies ??= before.ipFamilies;
    spec.ipFamilyPolicy ??= before.ipFamilyPolicy;
    if (isExposed(spec)) keepNodePorts(spec, before);
  },
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = [...portCauses(spec), ...validateLabels(spec.selector, 'spec.selector'), ...typeCauses(spec)];
    if (old) causes.push(...changeCauses(spec, part(old, 'spec')));
    return causes;
  },
  fields: {
    'spec.clusterIP': (object) => textOf(part(object, 'spec').clusterIP),
    'spec.type': (object) => textOf(part(object, 'spec').type),
  },
};

/** Whether traffic from outside the cluster reaches it. */
export const isExposed = (spec: Tree): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';

function keepNodePorts(spec: Tree, before: Tree): void {
  const old = listOf(before.ports).map(treeOf);
  for (const item of listOf(spec.ports)) {
    const port = treeOf(item);
    const same = old.find((one) => one.port === port.port && one.protocol === port.protocol);
    if (!port.nodePort && same?.nodePort) port.nodePort = same.nodePort;
  }
}

function portCauses(spec: Tree): Cause[] {
  const ports = listOf(spec.ports).map(treeOf);
  const causes: Cause[] = [];
  if (ports.length === 0 && spec.type !== 'ExternalName' && spec.clusterIP !== 'None')
    causes.push(required('spec.ports'));
  const names = new Set<unknown>();
  const seen = new Set<string>();
  ports.forEach((port, i) => {
    const path = `spec.ports[${i}]`;
    const name = textOf(port.name);
    if (name === '' && ports.length > 1) causes.push(required(`${path}.name`));
    if (name !== '') causes.push(...labelProblems(name).map((why) => invalidValue(`${path}.name`, name, why)));
    if (name !== '' && names.has(name)) causes.push(duplicate(`${path}.name`, name));
    names.add(name);
    if (!isPort(port.port)) causes.push(invalidValue(`${path}.port`, port.port ?? 0, portRange));
    causes.push(...targetCauses(port.targetPort, path));
    if (port.nodePort && !isExposed(spec))
      causes.push({
        reason: 'FieldValueForbidden',
        message: "Forbidden: may not be used when `type` is 'ClusterIP'",
        field: `${path}.nodePort`,
      });
    const key = JSON.stringify({ name, protocol: port.protocol, port: port.port });
    if (seen.has(key)) causes.push(duplicate(path, { port: port.port, protocol: port.protocol }));
    seen.add(key);
  });
  return causes;
}

function targetCauses(target: unknown, path: string): Cause[] {
  if (typeof target === 'number' && !isPort(target)) return [invalidValue(`${path}.targetPort`, target, portRange)];
  if (typeof target === 'string' && !/^(?=.*[a-z])[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(target)) {
    return [invalidValue(`${path}.targetPort`, target, 'must contain at least one letter (a-z)')];
  }
  return [];
}

function typeCauses(spec: Tree): Cause[] {
  const causes: Cause[] = [];
  if (spec.type === 'ExternalName') {
    if (!spec.externalName) causes.push(required('spec.externalName'));
    if (spec.clusterIP)
      causes.push({
        reason: 'FieldValueForbidden',
        message: 'Forbidden: may not be set when `type` is "ExternalName"',
        field: 'spec.clusterIPs[0]',
      });
  }
  if (spec.type === 'LoadBalancer' && spec.clusterIP === 'None') {
    causes.push(invalidValue('spec.clusterIPs[0]', 'None', "may not be set to 'None' for LoadBalancer services"));
  }
  return causes;
}

function changeCauses(spec: Tree, before: Tree): Cause[] {
  const isKept = before.type === 'ExternalName' || spec.type === 'ExternalName' || !before.clusterIP;
  if (isKept || spec.clusterIP === before.clusterIP) return [];
  return [invalidValue('spec.clusterIPs[0]', spec.clusterIP, 'may not change once set')];
}
