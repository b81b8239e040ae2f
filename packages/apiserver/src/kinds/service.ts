// Services: what is filled in, and what a change keeps or gives up. Addresses and ports are given out in addresses.ts.
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { dns1035Problems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import { serviceCauses } from './service-rules.ts';
import { serviceStatus } from './statuses.ts';
import { hasNodePorts, isExposed, isHealthChecked } from './service-type.ts';

const lists = ['ports', 'clusterIPs', 'ipFamilies', 'externalIPs', 'loadBalancerSourceRanges'];

export const service: Rules = {
  nameProblems: dns1035Problems,
  fill(object) {
    const spec = part(object, 'spec');
    object.spec = spec;
    object.status = { loadBalancer: {}, ...part(object, 'status') };
    for (const list of lists) if (Array.isArray(spec[list]) && spec[list].length === 0) delete spec[list];
    for (const item of listOf(spec.ports)) {
      const port = treeOf(item);
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
    }
    if (spec.type === 'LoadBalancer') {
      spec.allocateLoadBalancerNodePorts ??= true;
      fillAddresses(object);
    }
    if (isExposed(spec)) spec.externalTrafficPolicy ??= 'Cluster';
    fillAffinity(spec);
    if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
  },
  prepare(object, old) {
    if (!old) return;
    const spec = part(object, 'spec');
    const before = part(old, 'spec');
    // Nothing is filled in yet.
    spec.type ??= 'ClusterIP';
    keepGiven(spec, before);
    giveUp(spec, before);
  },
  validateStatus: serviceStatus,
  validate: (object, old) => serviceCauses(part(object, 'spec'), old && part(old, 'spec')),
  fields: {
    'spec.clusterIP': (object) => textOf(part(object, 'spec').clusterIP),
    'spec.type': (object) => textOf(part(object, 'spec').type),
  },
};

/** An address that traffic comes in with, as against one that sends it on. */
function fillAddresses(object: KubeObject): void {
  for (const item of listOf(treeOf(part(object, 'status').loadBalancer).ingress)) {
    const entry = treeOf(item);
    if (entry.ip) entry.ipMode ??= 'VIP';
  }
}

function fillAffinity(spec: Tree): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else if (treeOf(treeOf(spec.sessionAffinityConfig).clientIP).timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } };
}

const hasAddress = (spec: Tree): boolean => spec.type !== 'ExternalName';
const addressFields = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

/** A full replace that leaves out what was given out keeps it, as the real server does. */
function keepGiven(spec: Tree, before: Tree): void {
  if (hasAddress(spec) && hasAddress(before)) for (const field of addressFields) keep(spec, before, field);
  if (hasNodePorts(spec) && hasNodePorts(before)) keepNodePorts(spec, before);
  if (isHealthChecked(spec) && isHealthChecked(before)) keep(spec, before, 'healthCheckNodePort');
}

function keep(spec: Tree, before: Tree, field: string): void {
  if ((spec[field] === undefined || spec[field] === '') && before[field] !== undefined) spec[field] = before[field];
}

function keepNodePorts(spec: Tree, before: Tree): void {
  const old = new Map(listOf(before.ports).map((item) => [textOf(treeOf(item).name), treeOf(item).nodePort]));
  const ports = listOf(spec.ports).map(treeOf);
  const used = new Set(ports.map((port) => port.nodePort));
  for (const port of ports) {
    const kept = old.get(textOf(port.name));
    if (port.nodePort || !kept || used.has(kept)) continue;
    port.nodePort = kept;
    used.add(kept);
  }
}

/*
   of the old type, and not of the new | is given up when it was left as it was
   ------------------------------------+---------------------------------------------------------
   with a cluster address              | clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy
   with node ports                     | ports[].nodePort
   checked for health                  | healthCheckNodePort
   reached from outside                | externalTrafficPolicy
   LoadBalancer                        | allocateLoadBalancerNodePorts, loadBalancerClass

   What the writer changed at the same time was meant, and is refused if it does not fit the new type.
*/
function giveUp(spec: Tree, before: Tree): void {
  const was = (has: (one: Tree) => boolean): boolean => has(before) && !has(spec);
  if (was(hasAddress)) for (const field of addressFields) drop(spec, before, field);
  if (was(hasNodePorts)) {
    const held = new Set(listOf(before.ports).map((item) => treeOf(item).nodePort));
    for (const item of listOf(spec.ports)) if (held.has(treeOf(item).nodePort)) delete treeOf(item).nodePort;
  }
  if (was(isHealthChecked)) drop(spec, before, 'healthCheckNodePort');
  if (was(isExposed)) drop(spec, before, 'externalTrafficPolicy');
  if (was(({ type }) => type === 'LoadBalancer')) {
    drop(spec, before, 'allocateLoadBalancerNodePorts');
    drop(spec, before, 'loadBalancerClass');
  }
}

function drop(spec: Tree, before: Tree, field: string): void {
  if (isEqual(spec[field], before[field])) delete spec[field];
}
