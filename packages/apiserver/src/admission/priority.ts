// How important a pod is: its class gives it a priority, and says whether it may push others off their nodes.
import type { Cluster } from '../cluster.ts';
import { textOf, type KubeObject, type Tree } from '../object.ts';
import { keyOf, part, type Resource } from '../resource.ts';
import { decode } from '../store.ts';
import { forbidden, ok, refuse, type Result } from '../status.ts';

interface Priority {
  priority: number;
  preemptionPolicy: string;
}

const preempting = 'PreemptLowerPriority';
/** The classes that every cluster has. */
const ofSystem: Record<string, number> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const classes = { group: 'scheduling.k8s.io', resource: 'priorityclasses', isNamespaced: false };

interface Written {
  cluster: Cluster;
  resource: Resource;
  object: KubeObject;
  old: KubeObject | undefined;
}

/*
   a pod that            | gets
   ----------------------+-------------------------------------------
   is there already      | what it has, where the change does not say
   names a class         | the class's; Forbidden without such a class
   names none            | 0
*/
export function givePriority({ cluster, resource, object, old }: Written): Result<void> {
  if (resource.group !== '' || resource.resource !== 'pods') return ok(undefined);
  const spec = part(object, 'spec');
  if (old) {
    const before = part(old, 'spec');
    for (const field of ['priority', 'preemptionPolicy'])
      if (spec[field] === undefined && before[field] !== undefined) spec[field] = before[field];
    return ok(undefined);
  }
  const name = textOf(spec.priorityClassName);
  const found = name === '' ? { priority: 0, preemptionPolicy: preempting } : classOf(cluster, name);
  const why = found ? contradiction(spec, found) : `no PriorityClass with name ${name} was found`;
  if (!found || why !== undefined) return refuse(forbidden(resource, object.metadata.name ?? '', why ?? ''));
  Object.assign(spec, found);
  return ok(undefined);
}

function classOf({ store }: Cluster, name: string): Priority | undefined {
  const system = ofSystem[name];
  if (system !== undefined) return { priority: system, preemptionPolicy: preempting };
  const entry = store.get(keyOf(classes, '', name));
  if (!entry) return undefined;
  const { value, preemptionPolicy = preempting } = decode(entry.text);
  return { priority: Number(value), preemptionPolicy: String(preemptionPolicy) };
}

/** What a pod says of its own importance has to be what it gets. */
function contradiction(spec: Tree, { priority, preemptionPolicy }: Priority): string | undefined {
  if (spec.priority !== undefined && spec.priority !== priority)
    return `the integer value of priority (${String(spec.priority)}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
    return `the string value of PreemptionPolicy (${String(spec.preemptionPolicy)}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
  return undefined;
}
