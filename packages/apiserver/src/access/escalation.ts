// Nobody grants what they do not have: a write of a role or a binding is refused when it would give more than its writer may.
import type { Cluster, UserInfo } from '../cluster.ts';
import { isEqual, listOf, textOf, treeOf, without, type KubeObject, type Tree } from '../object.ts';
import type { Resource } from '../resource.ts';
import { part } from '../resource.ts';
import { forbidden, notFound, ok, refuse, type Result } from '../status.ts';
import { authorize, rbacGroup, roleRules, rulesFor, superGroup } from './authorize.ts';

interface Grant {
  cluster: Cluster;
  user: UserInfo;
  resource: Resource;
  object: KubeObject;
  old: KubeObject | undefined;
}

const everything: Tree[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

/*
   written             | passes when the writer
   --------------------+------------------------------------------------------------
   role, cluster role  | has every rule, or may `escalate` it; all rights for an aggregated one
   (cluster) binding   | has every rule of the role, or may `bind` that role
*/
export function checkEscalation(grant: Grant): Result<void> {
  const { cluster, user, resource, object, old } = grant;
  if (resource.group !== rbacGroup || user.groups.includes(superGroup)) return ok(undefined);
  if (old && isEqual(substance(object), substance(old))) return ok(undefined);
  const isBinding = resource.resource.endsWith('bindings');
  const namespace = object.metadata.namespace ?? '';
  if (mayAnyway(grant, isBinding)) return ok(undefined);
  const name = textOf(part(object, 'roleRef').name);
  const granted = isBinding ? roleRules(cluster, object) : rulesOf(object, old);
  if (!granted) return refuse(notFound(resource, name));
  const owned = rulesFor(cluster, user, namespace);
  const lacking = granted.flatMap(pieces).filter((piece) => !owned.rules.some((rule) => covers(rule, piece)));
  if (lacking.length === 0) return ok(undefined);
  const who = `user ${JSON.stringify(user.username)} (groups=${quoted(user.groups)})`;
  const missing = owned.missing.length > 0 ? `; resolution errors: [${owned.missing.join(', ')}]` : '';
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${said(lacking)}${missing}`;
  return refuse(forbidden(resource, object.metadata.name ?? '', why));
}

/** What counts as a change: the garbage collector alters owners and finalizers of roles it could not grant. */
const substance = (object: KubeObject): Tree => ({
  ...object,
  metadata: without(object.metadata, 'ownerReferences', 'finalizers', 'managedFields', 'resourceVersion'),
});

function rulesOf(object: KubeObject, old: KubeObject | undefined): Tree[] {
  const isNewSum =
    object.aggregationRule !== undefined && !(old && isEqual(old.aggregationRule, object.aggregationRule));
  return isNewSum ? everything : listOf(object.rules).map(treeOf);
}

function mayAnyway({ cluster, user, resource, object }: Grant, isBinding: boolean): boolean {
  const reference = part(object, 'roleRef');
  const bound = reference.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  return authorize(cluster, user, {
    verb: isBinding ? 'bind' : 'escalate',
    group: rbacGroup,
    resource: isBinding ? bound : resource.resource,
    subresource: '',
    namespace: object.metadata.namespace ?? '',
    name: isBinding ? textOf(reference.name) : (object.metadata.name ?? ''),
    path: '',
  });
}

/** One right: one verb on one resource (or object) of one group, or on one path. */
interface Piece {
  verb: string;
  group?: string;
  resource?: string;
  name?: string;
  path?: string;
}

function pieces(rule: Tree): Piece[] {
  const verbs = listOf(rule.verbs).map(String);
  const names: (string | undefined)[] = listOf(rule.resourceNames).map(String);
  if (names.length === 0) names.push(undefined);
  const resources = listOf(rule.apiGroups).flatMap((group) =>
    listOf(rule.resources).flatMap((resource) =>
      names.map((name) => ({ group: String(group), resource: String(resource), ...(name ? { name } : {}) })),
    ),
  );
  const paths = listOf(rule.nonResourceURLs).map((path) => ({ path: String(path) }));
  return [...resources, ...paths].flatMap((one) => verbs.map((verb) => ({ ...one, verb })));
}

const has = (list: unknown, value: string): boolean => listOf(list).includes('*') || listOf(list).includes(value);

function covers(rule: Tree, piece: Piece): boolean {
  if (!has(rule.verbs, piece.verb)) return false;
  if (piece.path !== undefined) return coversPath(listOf(rule.nonResourceURLs).map(String), piece.path);
  const { group = '', resource = '', name } = piece;
  const slash = resource.indexOf('/');
  const isCovered = has(rule.resources, resource) || (slash > 0 && has(rule.resources, `*${resource.slice(slash)}`));
  const names = listOf(rule.resourceNames);
  return (
    has(rule.apiGroups, group) && isCovered && (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

const coversPath = (owned: string[], path: string): boolean =>
  owned.some((one) => one === path || (one.endsWith('*') && path.startsWith(one.slice(0, -1))));

const quoted = (list: string[]): string => `[${list.map((one) => JSON.stringify(one)).join(' ')}]`;

/** Rights that differ only in the verb on one line, lines in order. */
function said(lacking: Piece[]): string {
  const lines = new Map<string, string[]>();
  for (const { verb, group, resource, name, path } of lacking) {
    const what =
      path === undefined
        ? `APIGroups:${quoted([group ?? ''])}, Resources:${quoted([resource ?? ''])}${name ? `, ResourceNames:${quoted([name])}` : ''}`
        : `NonResourceURLs:${quoted([path])}`;
    lines.set(what, [...(lines.get(what) ?? []), verb]);
  }
  return [...lines]
    .map(([what, verbs]) => `{${what}, Verbs:${quoted(verbs)}}`)
    .sort()
    .join('\n');
}
