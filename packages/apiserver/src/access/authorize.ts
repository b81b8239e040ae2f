// Whether a user may: RBAC over the stored roles and bindings, with the reasons the real server gives.
import type { Cluster, UserInfo } from '../cluster.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import type { Target } from '../request.ts';
import { keyOf, part } from '../resource.ts';
import { decode, type Entry } from '../store.ts';

/** What is asked for, as RBAC sees it; `path` counts when there is no resource. */
export type Action = Pick<Target, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name' | 'path'>;

export interface Decision {
  isAllowed: boolean;
  /** Which binding allows it, or which roles could not be found; empty when there is nothing to say. */
  reason: string;
}

export const superGroup = 'system:masters';

/** Members of system:masters may all; others what a bound role says. */
export function decide(cluster: Cluster, user: UserInfo, action: Action): Decision {
  if (user.groups.includes(superGroup)) return { isAllowed: true, reason: '' };
  const missing: string[] = [];
  const allowing = action.resource === '' ? allowsPath : allows;
  for (const binding of bindingsIn(cluster, action.resource === '' ? '' : action.namespace)) {
    const subject = subjectOf(binding, user);
    if (!subject) continue;
    const rules = roleRules(cluster, binding);
    if (!rules) missing.push(missingRole(binding));
    else if (rules.some((rule) => allowing(rule, action)))
      return { isAllowed: true, reason: `RBAC: allowed by ${grantOf(binding, subject)}` };
  }
  return { isAllowed: false, reason: missing.length > 0 ? `RBAC: ${listed(missing)}` : '' };
}

export const authorize = (cluster: Cluster, user: UserInfo, action: Action): boolean =>
  decide(cluster, user, action).isAllowed;

/** The rules that hold for `user` in a namespace (and everywhere), and which roles could not be found. */
export function rulesFor(cluster: Cluster, user: UserInfo, namespace: string): { rules: Tree[]; missing: string[] } {
  const missing: string[] = [];
  const rules = bindingsIn(cluster, namespace)
    .filter((binding) => subjectOf(binding, user) !== undefined)
    .flatMap((binding) => {
      const found = roleRules(cluster, binding);
      if (!found) missing.push(missingRole(binding));
      return found ?? [];
    });
  return { rules, missing };
}

/** Several errors as Go prints them together. */
export const listed = (problems: string[]): string =>
  problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;

export const rbacGroup = 'rbac.authorization.k8s.io';
const parsed = new WeakMap<Entry, KubeObject>();

const bindingsIn = (cluster: Cluster, namespace: string): KubeObject[] => [
  ...objects(cluster, 'clusterrolebindings', ''),
  ...(namespace ? objects(cluster, 'rolebindings', namespace) : []),
];

function objects(cluster: Cluster, resource: string, namespace: string): KubeObject[] {
  const at = { group: rbacGroup, resource, isNamespaced: namespace !== '' };
  return cluster.store.table(keyOf(at)).range(keyOf(at, namespace)).map(objectOf);
}

/** Entries never change, so each is parsed once however many requests ask. */
function objectOf(entry: Entry): KubeObject {
  let object = parsed.get(entry);
  if (!object) parsed.set(entry, (object = decode(entry.text)));
  return object;
}

/** The subject of `binding` that `user` is, as a reason names it. */
function subjectOf(binding: KubeObject, user: UserInfo): string | undefined {
  for (const subject of listOf(binding.subjects).map(treeOf)) {
    const name = textOf(subject.name);
    const namespace = textOf(subject.namespace) || (binding.metadata.namespace ?? '');
    if (subject.kind === 'User' && name === user.username) return `User "${name}"`;
    if (subject.kind === 'Group' && user.groups.includes(name)) return `Group "${name}"`;
    if (subject.kind === 'ServiceAccount' && user.username === `system:serviceaccount:${namespace}:${name}`)
      return `ServiceAccount "${name}/${namespace}"`;
  }
  return undefined;
}

function grantOf(binding: KubeObject, subject: string): string {
  const { kind, name } = part(binding, 'roleRef');
  const place = binding.metadata.namespace ? `/${binding.metadata.namespace}` : '';
  return `${binding.kind} "${binding.metadata.name ?? ''}${place}" of ${textOf(kind)} "${textOf(name)}" to ${subject}`;
}

function missingRole(binding: KubeObject): string {
  const { kind, name } = part(binding, 'roleRef');
  return `${textOf(kind).toLowerCase()}.${rbacGroup} "${textOf(name)}" not found`;
}

/** The rules of the role a binding names; undefined when there is no such role. */
export function roleRules(cluster: Cluster, binding: KubeObject): Tree[] | undefined {
  const reference = part(binding, 'roleRef');
  const isCluster = reference.kind === 'ClusterRole';
  const at = { group: rbacGroup, resource: isCluster ? 'clusterroles' : 'roles', isNamespaced: !isCluster };
  const entry = cluster.store.get(keyOf(at, binding.metadata.namespace, textOf(reference.name)));
  return entry && listOf(objectOf(entry).rules).map(treeOf);
}

const has = (list: unknown, ...values: string[]): boolean =>
  listOf(list).some((one) => one === '*' || values.includes(String(one)));

function allows(rule: Tree, action: Action): boolean {
  const { resource, subresource, name } = action;
  const names = subresource ? [`${resource}/${subresource}`, `*/${subresource}`] : [resource];
  const isNamed = listOf(rule.resourceNames).length === 0 || listOf(rule.resourceNames).includes(name);
  return has(rule.verbs, action.verb) && has(rule.apiGroups, action.group) && has(rule.resources, ...names) && isNamed;
}

const allowsPath = (rule: Tree, action: Action): boolean =>
  has(rule.verbs, action.verb) &&
  listOf(rule.nonResourceURLs)
    .map(String)
    .some((url) => url === action.path || (url.endsWith('*') && action.path.startsWith(url.slice(0, -1))));

/** Why not, in the real server's words; `reason` is the decision's. */
export function denialOf(user: UserInfo, action: Action, reason = ''): string {
  const who = `User ${JSON.stringify(user.username)}`;
  const more = reason === '' ? '' : `: ${reason}`;
  if (action.resource === '') return `${who} cannot ${action.verb} path ${JSON.stringify(action.path)}${more}`;
  const resource = action.subresource ? `${action.resource}/${action.subresource}` : action.resource;
  const where = action.namespace ? `in the namespace ${JSON.stringify(action.namespace)}` : 'at the cluster scope';
  return `${who} cannot ${action.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(action.group)} ${where}${more}`;
}
