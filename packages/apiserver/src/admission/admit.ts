// The way of a write through admission.
//   mutating webhooks → in-process checks → (defaults, validation) → policies → validating webhooks
import type { Cluster, Denial } from '../cluster.ts';
import { isTree, type KubeObject } from '../object.ts';
import { isDryRun } from '../options.ts';
import type { Call } from '../request.ts';
import type { Resource } from '../resource.ts';
import { failure, invalid, ok, qualified, refuse, type Result } from '../status.ts';
import { reviewOf, type Attributes, type Kind } from './attributes.ts';
import { judgedByPolicies } from './policies.ts';
import { mutated, validated } from './webhooks.ts';

/** The object as webhooks and in-process checks leave it (for DELETE undefined), or the refusal. */
export async function admitted(
  cluster: Cluster,
  call: Call,
  asked: Attributes,
): Promise<Result<KubeObject | undefined>> {
  const changed = await mutated({ cluster, call, asked });
  if (!changed.ok) return changed;
  let object = changed.value;
  for (const admit of cluster.admit) {
    const verdict = await admit(reviewOf(call, asked, object));
    if (!verdict.allowed) return refuse(refusal(asked, object, verdict.status));
    call.warnings.push(...(verdict.warnings ?? []));
    if (isTree(verdict.object)) object = verdict.object as KubeObject;
  }
  return ok(object);
}

/** Asks the policies, then the validating webhooks, about a write that is as it will be kept. */
export async function approved(cluster: Cluster, call: Call, asked: Attributes): Promise<Result<void>> {
  const judged = await judgedByPolicies({ cluster, call, asked });
  return judged.ok ? validated({ cluster, call, asked }) : judged;
}

function refusal(asked: Attributes, object: KubeObject | undefined, status: Denial | undefined) {
  const causes = object ? (asked.problems?.(object) ?? []) : [];
  if (causes.length > 0) return invalid(asked.resource, asked.name, causes);
  const at = { group: asked.resource.group, resource: asked.resource.resource };
  const message = status?.message ?? `${qualified(at)} "${asked.name}" was refused by admission without explanation`;
  return failure(status?.code ?? 403, status?.reason ?? 'Forbidden', message, {
    ...(asked.name ? { name: asked.name } : {}),
    ...(at.group ? { group: at.group } : {}),
    kind: status?.reason === 'Invalid' ? asked.resource.kind : at.resource,
    ...(status?.details?.causes ? { causes: status.details.causes } : {}),
  });
}

/** What was posted to a subresource, as webhooks leave it, or the refusal: they are asked before anything comes of it. */
export async function reviewedPost(
  place: { cluster: Cluster; call: Call; resource: Resource },
  object: KubeObject,
  kind: Kind,
): Promise<Result<KubeObject>> {
  const { cluster, call, resource } = place;
  const { name, namespace } = call.target;
  const asked: Attributes = { operation: 'CREATE', resource, name, namespace, object, isDryRun: isDryRun(call), kind };
  const admission = await admitted(cluster, call, asked);
  if (!admission.ok) return admission;
  const next = admission.value ?? object;
  const approval = await approved(cluster, call, { ...asked, object: next });
  return approval.ok ? ok(next) : approval;
}
