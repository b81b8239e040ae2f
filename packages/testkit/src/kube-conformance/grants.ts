// Roles given to users for a case, and the reviews that ask about them.
import { arranged, type Ask, type Json, of, post, type Tree } from './case.ts';
import { binding, role } from './objects.ts';

export const review = (kind: string, spec: Tree): Tree => ({
  apiVersion: `${/Token|SelfSubjectReview/.test(kind) ? 'authentication' : 'authorization'}.k8s.io/v1`,
  kind,
  spec,
});
export const access = '/apis/authorization.k8s.io/v1/';
export const rolesAt = of('rbac.authorization.k8s.io/v1', 'roles');
export const bindingsAt = of('rbac.authorization.k8s.io/v1', 'rolebindings');
export const may = (verbs: string[], resources: string[], rest: Tree = {}): Tree => ({
  apiGroups: [''],
  resources,
  verbs,
  ...rest,
});

/** A role for `user` of the rules, and the wait until the server has seen it: its roles are read in its own time. */
export const allowed = (user: string, ...list: Tree[]): Ask[] => [
  arranged(post(rolesAt, role('r', list))),
  arranged(post(bindingsAt, binding('b', 'r', user))),
  ...list.map((rule) => ({
    ...arranged(post(`${access}subjectaccessreviews`, asked(user, rule))),
    until: { 'body.status.allowed': true },
  })),
];

const first = (list: Json | undefined): string => (Array.isArray(list) && list[0] !== '*' ? String(list[0]) : 'get');
const asked = (user: string, { verbs, apiGroups, resources, resourceNames }: Tree): Tree => {
  const [resource = '', subresource = ''] = first(resources).split('/');
  const attributes = { namespace: '<ns>', verb: first(verbs), group: first(apiGroups), resource, subresource };
  const name = resourceNames === undefined ? {} : { name: first(resourceNames) };
  return review('SubjectAccessReview', { user, resourceAttributes: { ...attributes, ...name } });
};
