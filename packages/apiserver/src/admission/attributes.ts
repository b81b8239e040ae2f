// One write under review, as admission sees it: in the server's own words, and in those of an AdmissionReview.
import type { Review } from '../cluster.ts';
import type { KubeObject } from '../object.ts';
import type { Call } from '../request.ts';
import type { Resource } from '../resource.ts';
import type { Cause } from '../status.ts';

export interface Attributes {
  operation: Review['operation'];
  resource: Resource;
  name: string;
  namespace: string;
  object?: KubeObject;
  oldObject?: KubeObject | undefined;
  isDryRun: boolean;
  /** What is wrong with an object by its schema and kind: told instead of an in-process check's refusal, since it says more. */
  problems?(object: KubeObject): Cause[];
}

/** The write as in-process checks see it, with `object` as those before left it. */
export function reviewOf(call: Call, asked: Attributes, object: KubeObject | undefined): Review {
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
