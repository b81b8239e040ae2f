// The binding subresource of a pod: a scheduler gives it a node, once.
import { readObject } from '../body.ts';
import { isTree, timeText, treeOf, type KubeObject, type Tree } from '../object.ts';
import { conflict, ok, refuse, unexplained, type Result } from '../status.ts';
import { update, type Place, type Written } from '../write.ts';

/** POST of a Binding: its target becomes the pod's node. 409 when the pod has one already, or is being deleted. */
export async function bind(place: Place): Promise<Result<Written>> {
  const body = await readObject(place.call, { kind: 'Binding', version: 'v1' });
  if (!body.ok) return body;
  const { name: node, kind = 'Node' } = treeOf(body.value.object.target);
  if (kind !== 'Node' && kind !== '')
    return refuse(
      unexplained(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`),
    );
  if (typeof node !== 'string' || node === '') return refuse(unexplained('target.name: Required value'));
  const { name } = place.call.target;
  const refused = (why: string) => refuse(conflict({ group: '', resource: 'pods/binding' }, name, why));
  return update(place, {
    change(pod) {
      const spec = treeOf(pod.spec);
      if (pod.metadata.deletionTimestamp) return refused(`pod ${name} is being deleted, cannot be assigned to a host`);
      if (typeof spec.nodeName === 'string' && spec.nodeName !== '')
        return refused(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
      return ok(scheduled(pod, node, timeText(place.cluster.clock.now())));
    },
  });
}

function scheduled(pod: KubeObject, node: string, now: string): KubeObject {
  const status: Tree = isTree(pod.status) ? pod.status : {};
  const others = Array.isArray(status.conditions)
    ? status.conditions.filter((one) => treeOf(one).type !== 'PodScheduled')
    : [];
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  return {
    ...pod,
    spec: { ...treeOf(pod.spec), nodeName: node },
    status: { ...status, conditions: [...others, condition] },
  };
}
