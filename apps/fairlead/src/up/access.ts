// The controllers of an environment are users like any other: bound to the roles that we ship, and to nothing else, so that
// what these lack is found here and not on somebody's cluster.
import { controllerNamespace, programRoles } from '@fairlead/api';
import type { Kube } from '@fairlead/kube';
import { applyManifests } from '../manifests.ts';

/** The user that the controllers are in every embedded cluster. */
export const controllersUser = 'fairlead';

const inManagement = ['fairlead-controller', 'fairlead-controller-own'];

/** Creates the roles of that sort of cluster, and binds the controllers to them. Throws: a refusal is a bug of ours. */
export async function grantControllers(kube: Kube, where: 'management' | 'target'): Promise<void> {
  const roles = programRoles().filter(
    ({ metadata }) => inManagement.includes(metadata.name) === (where === 'management'),
  );
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: controllerNamespace } };
  const objects = [
    ...(where === 'management' ? [namespace] : []),
    ...roles,
    // Users make namespaces as they like here, so certificates are read in all of them.
    ...roles.map(({ kind, metadata }) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${kind}Binding`,
      metadata: { name: metadata.name, ...('namespace' in metadata ? { namespace: metadata.namespace } : {}) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: controllersUser }],
    })),
  ];
  const manifests = objects.map((object) => ({ at: 'roles of the controllers', object }));
  const applied = await applyManifests(kube, manifests, 'fairlead');
  if (!applied.ok) throw new Error(`bug: our own roles are refused: ${applied.problem.message}`);
}
