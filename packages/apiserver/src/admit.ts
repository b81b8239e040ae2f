// Asks every admission check about a write, in order; each sees what the one before left.
import { isTree, type KubeObject } from './object.ts';
import type { Cluster, Review } from './cluster.ts';
import type { Call } from './request.ts';
import type { Resource } from './resource.ts';
import { failure, ok, qualified, refuse, type Result } from './status.ts';

export interface Asked {
  operation: Review['operation'];
  resource: Resource;
  name: string;
  namespace: string;
  object?: KubeObject;
  oldObject?: KubeObject | undefined;
  isDryRun: boolean;
}

/** The object as admission leaves it (for DELETE the old one), or the refusal. */
export async function admitted(cluster: Cluster, call: Call, asked: Asked): Promise<Result<KubeObject | undefined>> {
  let object = asked.object;
  for (const admit of cluster.admit) {
    const verdict = await admit(reviewOf(call, asked, object));
    if (!verdict.allowed) return refuse(denied(asked, verdict.status));
    call.warnings.push(...(verdict.warnings ?? []));
    if (isTree(verdict.object)) object = verdict.object as KubeObject;
  }
  return ok(object);
}

function reviewOf(call: Call, asked: Asked, object: KubeObject | undefined): Review {
  const { group, resource, kind } = asked.resource;
  const { version, subresource } = call.target;
  return {
    operation: asked.operation,
    resource: { group, version, resource },
    kind: { group, version, kind },
    name: asked.name,
    userInfo: call.user,
    dryRun: asked.isDryRun,
    ...(subresource ? { subresource } : {}),
    ...(asked.namespace ? { namespace: asked.namespace } : {}),
    ...(object ? { object } : {}),
    ...(asked.oldObject ? { oldObject: asked.oldObject } : {}),
  };
}

function denied(asked: Asked, status: { code?: number; reason?: string; message: string } | undefined) {
  const at = { group: asked.resource.group, resource: asked.resource.resource };
  const message = status?.message ?? `${qualified(at)} "${asked.name}" was refused by admission without explanation`;
  return failure(status?.code ?? 403, status?.reason ?? 'Forbidden', message, {
    ...(asked.name ? { name: asked.name } : {}),
    ...(at.group ? { group: at.group } : {}),
    kind: at.resource,
  });
}
