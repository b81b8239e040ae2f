// One write under review, as admission sees it: in the server's own words, and in those of an AdmissionReview.
import type { Review } from '../cluster.ts';
import type { KubeObject } from '../object.ts';
import type { Call } from '../request.ts';
import type { Resource } from '../resource.ts';
import type { DeleteOptions } from '../options.ts';
import type { Cause } from '../status.ts';

export interface Kind {
  group: string;
  version: string;
  kind: string;
}

/** How admission sees an object through a subresource, and how what it changes there changes the object. */
export interface View {
  kind: Kind;
  of(object: KubeObject): KubeObject;
  back(object: KubeObject, reviewed: KubeObject): KubeObject;
}

export interface Attributes {
  operation: Review['operation'];
  resource: Resource;
  name: string;
  namespace: string;
  object?: KubeObject;
  oldObject?: KubeObject | undefined;
  isDryRun: boolean;
  /** What the objects are, where they are not of the resource's own kind: a scale, an eviction. */
  kind?: Kind;
  /** Of a delete. */
  options?: DeleteOptions;
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
    kind: asked.kind ?? { group, version, kind },
    name: asked.name,
    userInfo: call.user,
    dryRun: asked.isDryRun,
    ...(subresource ? { subresource } : {}),
    ...(asked.namespace ? { namespace: asked.namespace } : {}),
    ...(object ? { object } : {}),
    ...(asked.oldObject ? { oldObject: asked.oldObject } : {}),
  };
}

/** The namespace of a write as its review tells it: a namespace is in itself. */
export const namespaceAsked = ({ resource: { group, resource }, namespace, name }: Attributes): string =>
  group === '' && resource === 'namespaces' ? name : namespace;
