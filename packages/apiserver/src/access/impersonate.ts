// Asking in another's name: which headers say so, and whether the one who asks may.
import type { Cluster, UserInfo } from '../cluster.ts';
import { authorize, type Action } from './authorize.ts';

export type Impersonation = { user: UserInfo } | { denied: Action } | { broken: string };

interface Wanted {
  username: string | null;
  uid: string | null;
  groups: string[];
  extra: Record<string, string[]>;
}

/** The user a request is to be taken for: whoever asks, unless its headers name another and RBAC lets it. */
export function impersonated(cluster: Cluster, user: UserInfo, request: Request): Impersonation {
  const wanted = wantedOf(request.headers);
  const { username } = wanted;
  const others = othersOf(wanted);
  if (username === null && others.length === 0) return { user };
  if (username === null) {
    return { broken: `requested [${others.map(referenceText).join(' ')}] without impersonating a user` };
  }
  for (const asked of [nameAction(username), ...others]) if (!authorize(cluster, user, asked)) return { denied: asked };
  return { user: taken(username, wanted) };
}

const kinds: Record<string, string> = { groups: 'Group', uids: 'UID', userextras: 'UserExtra' };
/** A reference as the real server prints it: its fields in order, most of them empty. */
const referenceText = ({ resource, name, group, subresource }: Action): string =>
  `{${[kinds[resource] ?? resource, '', name, '', group && `${group}/v1`, '', subresource].join(' ')}}`;

const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;

const action = (resource: string, name: string, rest: Partial<Action> = {}): Action => ({
  verb: 'impersonate',
  group: '',
  subresource: '',
  namespace: '',
  path: '',
  resource,
  name,
  ...rest,
});

function nameAction(username: string): Action {
  const [, namespace, name] = serviceAccount.exec(username) ?? [];
  return name === undefined || namespace === undefined
    ? action('users', username)
    : action('serviceaccounts', name, { namespace });
}

const othersOf = ({ groups, uid, extra }: Wanted): Action[] => [
  ...groups.map((name) => action('groups', name)),
  ...Object.entries(extra).flatMap(([key, values]) =>
    values.map((value) => action('userextras', value, { group: 'authentication.k8s.io', subresource: key })),
  ),
  ...(uid === null ? [] : [action('uids', uid, { group: 'authentication.k8s.io' })]),
];

function wantedOf(headers: Headers): Wanted {
  const extra: Record<string, string[]> = {};
  const mark = 'impersonate-extra-';
  for (const [name, value] of headers) {
    if (name.startsWith(mark)) extra[decodeURIComponent(name.slice(mark.length))] = parts(value);
  }
  return {
    username: headers.get('impersonate-user'),
    uid: headers.get('impersonate-uid'),
    groups: parts(headers.get('impersonate-group') ?? ''),
    extra,
  };
}

/** A header sent several times comes as one, its values parted by commas. */
const parts = (value: string): string[] =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

function taken(username: string, { groups, uid, extra }: Wanted): UserInfo {
  const [, namespace] = serviceAccount.exec(username) ?? [];
  // A service account asked for without groups gets those it has anyway.
  const own = namespace === undefined || groups.length > 0 ? groups : accountGroups(namespace);
  const last = username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  return {
    username,
    groups: own.includes(last) ? own : [...own, last],
    ...(uid === null ? {} : { uid }),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

export const accountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];
