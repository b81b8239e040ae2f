// The rules of Nodes: taints, the range of pod addresses, and the status a kubelet has yet to fill in.
import { duplicate, forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { labelValueProblems, qualifiedProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { rangeCauses } from './ip.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
const facts = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

export const node: Rules = {
  nameProblems: subdomainProblems,
  prepare(object, old) {
    // A new node takes no pods until whoever watches nodes has seen it Ready.
    if (!old) taint(object);
  },
  fill(object) {
    const spec = part(object, 'spec');
    if (spec.podCIDR && spec.podCIDRs === undefined) spec.podCIDRs = [spec.podCIDR];
    fillStatus(object);
  },
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = [
      ...taintCauses(listOf(spec.taints)),
      ...listOf(spec.podCIDRs).flatMap((range, i) => rangeCauses(textOf(range), `spec.podCIDRs[${i}]`)),
    ];
    return old ? [...causes, ...changeCauses(spec, part(old, 'spec'))] : causes;
  },
  fields: { 'spec.unschedulable': (object) => String(part(object, 'spec').unschedulable === true) },
};

function taint(object: KubeObject): void {
  const spec = part(object, 'spec');
  const taints = listOf(spec.taints);
  const isSame = (one: Tree): boolean => one.key === notReady.key && one.effect === notReady.effect;
  if (taints.some((one) => isSame(treeOf(one)))) return;
  object.spec = { ...spec, taints: [...taints, { ...notReady }] };
}

function fillStatus(object: KubeObject): void {
  const status = part(object, 'status');
  object.status = {
    ...status,
    daemonEndpoints: { kubeletEndpoint: { Port: 0 }, ...treeOf(status.daemonEndpoints) },
    nodeInfo: { ...Object.fromEntries(facts.map((fact) => [fact, ''])), ...treeOf(status.nodeInfo) },
    ...(status.capacity && !status.allocatable ? { allocatable: { ...treeOf(status.capacity) } } : {}),
  };
}

/** Told as of the metadata, where taints were once kept. */
function taintCauses(taints: unknown[]): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [i, item] of taints.entries()) {
    const { key, value, effect } = treeOf(item);
    const path = `metadata.taints[${i}]`;
    causes.push(...qualifiedProblems(textOf(key)).map((why) => invalidValue(`${path}.key`, key ?? '', why)));
    causes.push(...labelValueProblems(textOf(value)).map((why) => invalidValue(`${path}.value`, value, why)));
    if (!effect) causes.push(required(`${path}.effect`));
    else if (!effects.includes(textOf(effect))) causes.push(unsupported(`${path}.effect`, effect, effects));
    const pair = `${textOf(key)} ${textOf(effect)}`;
    if (seen.has(pair)) causes.push(duplicate(path, 'taints must be unique by key and effect pair'));
    seen.add(pair);
  }
  return causes;
}

function changeCauses(spec: Tree, before: Tree): Cause[] {
  const causes: Cause[] = [];
  if (listOf(before.podCIDRs).length > 0 && !isEqual(spec.podCIDRs, before.podCIDRs))
    causes.push(forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  if (before.providerID && spec.providerID !== before.providerID)
    causes.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  return causes;
}
