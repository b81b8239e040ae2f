// What the controllers have to be allowed in a target cluster, and whether they are.
import { fail, ok, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';

export interface Need {
  group: string;
  resource: string;
  verbs: readonly string[];
  /** For people. */
  why: string;
}

export const needs: readonly Need[] = [
  {
    group: '',
    resource: 'namespaces',
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'to know the cluster again, to find the namespaces of tickets and to label them',
  },
  { group: '', resource: 'services', verbs: ['list', 'watch', 'patch'], why: 'to label the Services of pools' },
  {
    group: '',
    resource: 'configmaps',
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    why: 'to write what tickets ask for',
  },
  {
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    verbs: ['list', 'watch'],
    why: 'to know the members of pools',
  },
  {
    group: 'networking.k8s.io',
    resource: 'ingresses',
    verbs: ['list', 'watch', 'patch'],
    why: 'to serve F5 Ingresses, and to keep them until nothing of them is left',
  },
  {
    group: 'networking.k8s.io',
    resource: 'ingresses/status',
    verbs: ['patch'],
    why: 'to show the address of an F5 Ingress',
  },
  { group: '', resource: 'events', verbs: ['create', 'get', 'patch'], why: 'to say what came of a ConfigMap' },
];

/** The verbs that are lacking, as `patch services: to label the Services of pools`. */
export async function lacking(kube: Kube): Promise<Result<string[]>> {
  const wrong: string[] = [];
  for (const { group, resource, verbs, why } of needs) {
    const answers = await Promise.all(verbs.map((verb) => isAllowed(kube, { group, resource, verb })));
    const failed = answers.find((answer) => !answer.ok);
    if (failed && !failed.ok) return failed;
    const denied = verbs.filter((_, i) => answers[i]?.ok && !answers[i].value);
    if (denied.length > 0) wrong.push(`${denied.join(', ')} ${group ? `${resource}.${group}` : resource}: ${why}`);
  }
  return ok(wrong);
}

async function isAllowed(
  kube: Kube,
  { group, resource: name, verb }: { group: string; resource: string; verb: string },
): Promise<Result<boolean>> {
  const [resource, subresource] = name.split('/');
  const resourceAttributes = { group, resource, verb, ...(subresource ? { subresource } : {}) };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const answer = await kube.raw('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
  if (!answer.ok) return fail(answer.problem.code, answer.problem.message);
  const { status } = (answer.value ?? {}) as { status?: { allowed?: boolean } };
  return ok(status?.allowed === true);
}
