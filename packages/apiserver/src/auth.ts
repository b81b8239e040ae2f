// Who asks (authenticate) and whether they may (authorize): each rule in this one place.
import type { Cluster, UserInfo } from './cluster.ts';
import { textOf, treeOf, listOf, type KubeObject, type Tree } from './object.ts';
import type { Target } from './request.ts';
import { keyOf, part } from './resource.ts';
import { decode, type Entry } from './store.ts';

export interface Token {
  token: string;
  user: string;
  groups: string[];
}

/** The user of a bearer token; undefined when there is none, or nobody has it. */
export function authenticate(request: Request, tokens: readonly Token[]): UserInfo | undefined {
  const found = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  return found === undefined ? undefined : userOf(found.trim(), tokens);
}

export function userOf(token: string, tokens: readonly Token[]): UserInfo | undefined {
  // Compared whole, every time: how long it takes must not tell how much of a guess was right.
  let match: Token | undefined;
  for (const one of tokens) if (isSameText(one.token, token)) match = one;
  return match && { username: match.user, groups: [...match.groups, 'system:authenticated'] };
}

function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < Math.max(a.length, b.length); i++) difference |= (a.charCodeAt(i) || 0) ^ (b.charCodeAt(i) || 0);
  return difference === 0;
}

/** The user a request wants to be taken for, when it says so and `user` may; what was denied when it may not. */
export function impersonated(cluster: Cluster, user: UserInfo, headers: Headers): UserInfo | { denied: Action } {
  const name = headers.get('impersonate-user');
  const groups = (headers.get('impersonate-group') ?? '')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
  if (name === null && groups.length === 0) return user;
  const asked = [
    ...(name === null ? [] : [{ resource: 'users', name }]),
    ...groups.map((group) => ({ resource: 'groups', name: group })),
  ];
  for (const one of asked) {
    const action: Action = { verb: 'impersonate', group: '', subresource: '', namespace: '', path: '', ...one };
    if (name === null || !authorize(cluster, user, action)) return { denied: action };
  }
  return { username: name ?? '', groups: [...groups, 'system:authenticated'] };
}

/** What is asked for, as RBAC sees it; `path` counts when there is no resource. */
export type Action = Pick<Target, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name' | 'path'>;

const open = ['/healthz', '/livez', '/readyz', '/version', '/api', '/apis', '/openapi'];

/** Whether `user` may: members of system:masters may all, others what a bound role says, and anyone known may look around. */
export function authorize(cluster: Cluster, user: UserInfo, action: Action): boolean {
  if (user.groups.includes('system:masters')) return true;
  if (action.resource === '') {
    const isOpen = open.some((path) => action.path === path || action.path.startsWith(`${path}/`));
    return (isOpen && action.verb === 'get') || rulesFor(cluster, user, '').some((rule) => allowsPath(rule, action));
  }
  const isSelfReview = action.verb === 'create' && action.resource.startsWith('selfsubject');
  return isSelfReview || rulesFor(cluster, user, action.namespace).some((rule) => allows(rule, action));
}

/** The rules that hold for `user` in a namespace (and everywhere). */
export function rulesFor(cluster: Cluster, user: UserInfo, namespace: string): Tree[] {
  const bindings = [
    ...objects(cluster, 'clusterrolebindings', ''),
    ...(namespace ? objects(cluster, 'rolebindings', namespace) : []),
  ];
  return bindings.filter((binding) => binds(binding, user)).flatMap((binding) => roleRules(cluster, binding));
}

const group = 'rbac.authorization.k8s.io';
const parsed = new WeakMap<Entry, KubeObject>();

function objects(cluster: Cluster, resource: string, namespace: string): KubeObject[] {
  const at = { group, resource, isNamespaced: namespace !== '' };
  return cluster.store.table(keyOf(at)).range(keyOf(at, namespace)).map(objectOf);
}

/** Entries never change, so each is parsed once however many requests ask. */
function objectOf(entry: Entry): KubeObject {
  let object = parsed.get(entry);
  if (!object) parsed.set(entry, (object = decode(entry.text)));
  return object;
}

function binds(binding: KubeObject, user: UserInfo): boolean {
  return listOf(binding.subjects)
    .map(treeOf)
    .some((subject) => {
      if (subject.kind === 'User') return subject.name === user.username;
      if (subject.kind === 'Group') return user.groups.includes(textOf(subject.name));
      const namespace = textOf(subject.namespace) || binding.metadata.namespace;
      return user.username === `system:serviceaccount:${namespace ?? ''}:${textOf(subject.name)}`;
    });
}

function roleRules(cluster: Cluster, binding: KubeObject): Tree[] {
  const reference = part(binding, 'roleRef');
  const isCluster = reference.kind === 'ClusterRole';
  const at = { group, resource: isCluster ? 'clusterroles' : 'roles', isNamespaced: !isCluster };
  const entry = cluster.store.get(keyOf(at, binding.metadata.namespace, textOf(reference.name)));
  return entry ? listOf(objectOf(entry).rules).map(treeOf) : [];
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

/** Why not, in the real server's words. */
export function denialOf(user: UserInfo, action: Action): string {
  const who = `User ${JSON.stringify(user.username)}`;
  if (action.resource === '') return `${who} cannot ${action.verb} path ${JSON.stringify(action.path)}`;
  const resource = action.subresource ? `${action.resource}/${action.subresource}` : action.resource;
  const where = action.namespace ? `in the namespace ${JSON.stringify(action.namespace)}` : 'at the cluster scope';
  return `${who} cannot ${action.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(action.group)} ${where}`;
}
