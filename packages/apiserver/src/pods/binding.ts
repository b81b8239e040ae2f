// Bindings: a scheduler gives a pod a node, once; by the pod's subresource or by the resource of that name.
import { admitted, approved } from '../admission/admit.ts';
import { isDryRun } from '../options.ts';
import { isTree, listOf, textOf, timeText, treeOf, type KubeObject, type Tree } from '../object.ts';
import { inNamespace } from '../object-start.ts';
import { posted } from '../posted.ts';
import { keyOf } from '../resource.ts';
import { decode } from '../store.ts';
import { badRequest, conflict, notFound, ok, refuse, unexplained, type Result } from '../status.ts';
import type { Place } from '../write.ts';

const kind = { group: '', kind: 'Binding', schema: 'io.k8s.api.core.v1.Binding' };
const pods = { group: '', resource: 'pods', isNamespaced: true };

/** POST of a Binding: its target becomes the pod's node. 409 when the pod has one already, or is being deleted. */
export async function bind(place: Place): Promise<Result<void>> {
  const { cluster, call } = place;
  const body = await posted(place, kind);
  if (!body.ok) return body;
  const binding = body.value;
  const named = inNamespace(place, binding);
  if (!named.ok) return named;
  const name = call.target.name || (binding.metadata.name ?? '');
  if (name !== (binding.metadata.name ?? ''))
    return refuse(badRequest('name in URL does not match name in Binding object'));
  const problem = targetProblem(treeOf(binding.target));
  if (problem !== undefined) return refuse(unexplained(problem));
  const { namespace } = call.target;
  const resource = { ...place.resource, kind: kind.kind };
  const asked = { operation: 'CREATE', resource, name, namespace, object: binding, isDryRun: isDryRun(call) } as const;
  const admission = await admitted(cluster, call, asked);
  if (!admission.ok) return admission;
  const object = admission.value ?? binding;
  const approval = await approved(cluster, call, { ...asked, object });
  return approval.ok ? assign(place, name, object) : approval;
}

function targetProblem({ kind: wanted, name }: Tree): string | undefined {
  if (wanted && wanted !== 'Node')
    return `target.kind: Unsupported value: ${JSON.stringify(wanted)}: supported values: "Node", "<empty>"`;
  return name ? undefined : 'target.name: Required value';
}

/** Written past the rules of a change: nobody manages the node, and the pod wanted is still the same. */
function assign({ cluster, call }: Place, name: string, binding: KubeObject): Promise<Result<void>> {
  const key = keyOf(pods, call.target.namespace, name);
  return cluster.store.locked(key, async () => {
    const entry = cluster.store.get(key);
    if (!entry) return refuse(notFound(pods, name));
    const pod = decode(entry.text);
    const why = expected(binding, pod) ?? whyNot(pod);
    if (why !== undefined) return refuse(conflict({ group: '', resource: 'pods/binding' }, name, why));
    scheduled(pod, binding, timeText(cluster.clock.now()));
    if (!isDryRun(call)) await cluster.store.put(key, pod);
    return ok(undefined);
  });
}

function expected({ metadata: { uid, resourceVersion } }: KubeObject, { metadata }: KubeObject): string | undefined {
  if (uid && uid !== metadata.uid)
    return `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`;
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    return `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion ?? ''}`;
  return undefined;
}

function whyNot({ metadata, spec }: KubeObject): string | undefined {
  const { name = '', deletionTimestamp } = metadata;
  const { nodeName, schedulingGates } = treeOf(spec);
  if (deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
  return listOf(schedulingGates).length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

/** The node, the binding's labels and annotations, and the condition PodScheduled. */
function scheduled(pod: KubeObject, { metadata, target }: KubeObject, now: string): void {
  for (const field of ['labels', 'annotations'] as const)
    if (metadata[field]) pod.metadata[field] = { ...pod.metadata[field], ...metadata[field] };
  pod.spec = { ...treeOf(pod.spec), nodeName: textOf(treeOf(target).name) };
  const { nominatedNodeName: _, ...status }: Tree = isTree(pod.status) ? pod.status : {};
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const conditions = listOf(status.conditions);
  const at = conditions.findIndex((one) => treeOf(one).type === condition.type);
  if (at < 0) conditions.push(condition);
  else if (treeOf(conditions[at]).status !== 'True') conditions[at] = condition;
  pod.status = { ...status, conditions };
}
