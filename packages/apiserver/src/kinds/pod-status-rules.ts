// What a pod's status may say: addresses, conditions, and that no container comes back which is not to be run again.
import { isIPv4 } from 'node:net';
import { forbiddenField, invalidValue } from '../field-error.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part } from '../resource.ts';
import type { Cause } from '../status.ts';
import { addressCauses } from './ip.ts';

const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];
const notWhole = 'must be a non-negative integer';

export function podStatusCauses(object: KubeObject, old: KubeObject): Cause[] {
  const [status, before, spec] = [part(object, 'status'), part(old, 'status'), part(old, 'spec')];
  const causes = listOf(status.conditions).flatMap((item, i) => conditionCauses(treeOf(item), i));
  causes.push(...nominationCauses(status, before, spec));
  if (Number(status.observedGeneration ?? 0) < 0)
    causes.push(invalidValue('status.observedGeneration', status.observedGeneration, notWhole));
  if (status.qosClass !== before.qosClass)
    causes.push(invalidValue('status.qosClass', status.qosClass, 'field is immutable'));
  causes.push(...returnCauses(status, before, spec));
  causes.push(...addressesCauses(status, before, 'podIPs'));
  const [host] = listOf(status.hostIPs).map(treeOf);
  if (host && host.ip !== status.hostIP)
    causes.push(invalidValue('status.hostIPs[0].ip', host.ip, 'must be equal to `hostIP`'));
  return [...causes, ...addressesCauses(status, before, 'hostIPs')];
}

function conditionCauses(condition: Tree, i: number): Cause[] {
  const path = `status.conditions[${i}]`;
  const type = textOf(condition.type);
  const causes: Cause[] = [];
  if (Number(condition.observedGeneration ?? 0) < 0)
    causes.push(invalidValue(`${path}.observedGeneration`, condition.observedGeneration, notWhole));
  if (systemConditions.includes(type)) return causes;
  return [...causes, ...qualifiedProblems(type).map((why) => invalidValue(`${path}.Type`, type, why))];
}

function nominationCauses(status: Tree, before: Tree, spec: Tree): Cause[] {
  const path = 'status.nominatedNodeName';
  const name = textOf(status.nominatedNodeName);
  if (name === '' || name === textOf(before.nominatedNodeName)) return [];
  const causes = subdomainProblems(name).map((why) => invalidValue(path, name, why));
  if (spec.nodeName) causes.push(forbiddenField(path, 'may not be set on pods that are already bound to a node'));
  return causes;
}

/** Addresses that were there before may stay; there is one of each family. */
function addressesCauses(status: Tree, before: Tree, field: 'podIPs' | 'hostIPs'): Cause[] {
  const path = `status.${field}`;
  const addresses = (of: Tree): string[] => listOf(of[field]).map((item) => textOf(treeOf(item).ip));
  const kept = addresses(before);
  const all = addresses(status);
  const causes = all.flatMap((address, i) => (kept.includes(address) ? [] : addressCauses(address, `${path}[${i}]`)));
  const families = new Set(all.map(isIPv4));
  if (all.length > families.size)
    causes.push(
      invalidValue(
        path,
        all.map((IP) => ({ IP })),
        'may specify no more than one IP for each IP family',
      ),
    );
  return causes;
}

const isEnded = (status: Tree): boolean => isTree(treeOf(status.state).terminated);

/** A container that has ended stays ended, unless its restart policy has it run again. */
function returnCauses(status: Tree, before: Tree, spec: Tree): Cause[] {
  const causes: Cause[] = [];
  for (const [list, containers] of [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', undefined],
  ] as const) {
    const now = listOf(status[list]).map(treeOf);
    for (const [i, item] of listOf(before[list]).entries()) {
      const was = treeOf(item);
      if (!isEnded(was) || !now.some((one) => one.name === was.name && !isEnded(one))) continue;
      if (containers !== undefined && mayReturn(was, containers, spec)) continue;
      causes.push(forbiddenField(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state'));
    }
  }
  return causes;
}

function mayReturn(was: Tree, containers: 'containers' | 'initContainers', spec: Tree): boolean {
  const container = listOf(spec[containers])
    .map(treeOf)
    .find((one) => one.name === was.name);
  const code = Number(treeOf(treeOf(was.state).terminated).exitCode ?? 0);
  const policy = container?.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}
