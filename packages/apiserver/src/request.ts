// What a URL and method ask for, in the words authorization and routing use.
import type { UserInfo } from './cluster.ts';

export interface Target {
  verb: string;
  /** Empty for paths that name no resource (`/version`). */
  resource: string;
  group: string;
  version: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
}

/** A request with what was learnt of it on the way in. */
export interface Call {
  request: Request;
  url: URL;
  query: URLSearchParams;
  target: Target;
  user: UserInfo;
  /** Sent back as `Warning` headers. */
  warnings: string[];
}

const withoutName: Record<string, string> = {
  GET: 'list',
  HEAD: 'list',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'deletecollection',
};
const withName: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/*
   /api/v1/namespaces/ns/pods/p/status   core group, namespaced, subresource
   /api/v1/namespaces/ns                 the namespace itself
   /api/v1/namespaces/ns/finalize        a subresource of the namespace
   /apis/apps/v1/deployments             a named group, all namespaces
*/
export function targetOf(method: string, url: URL): Target {
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);
  const target: Target = {
    verb: method.toLowerCase(),
    resource: '',
    group: '',
    version: '',
    subresource: '',
    namespace: '',
    name: '',
    path: url.pathname,
  };
  const isCore = segments[0] === 'api' && segments.length >= 3;
  if (!isCore && !(segments[0] === 'apis' && segments.length >= 4)) return target;
  target.group = isCore ? '' : (segments[1] ?? '');
  target.version = (isCore ? segments[1] : segments[2]) ?? '';
  let rest = segments.slice(isCore ? 2 : 3);
  // The older way to ask for a watch: `/api/v1/watch/namespaces/ns/pods`.
  const isWatchPath = rest[0] === 'watch' && rest.length >= 2;
  if (isWatchPath) rest = rest.slice(1);
  if (rest[0] === 'namespaces' && rest.length >= 2) {
    target.namespace = rest[1] ?? '';
    // `/namespaces/x/status` is about the namespace; `/namespaces/x/pods` about what is in it.
    if (rest.length > 2 && !(isCore && rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize')))
      rest = rest.slice(2);
  }
  [target.resource = '', target.name = ''] = rest;
  target.subresource = rest.slice(2).join('/');
  target.verb = (target.name === '' ? withoutName : withName)[method] ?? method.toLowerCase();
  if (isWatchPath || (target.verb === 'list' && isWatch(url.searchParams))) target.verb = 'watch';
  return target;
}

/** A segment that is not valid percent-encoding is taken as it stands: it will name nothing. */
function decoded(segment: string): string {
  return !segment.includes('%') || /%(?![0-9a-fA-F]{2})/.test(segment) ? segment : decodeURIComponent(segment);
}

const isWatch = (query: URLSearchParams): boolean => isTrue(query.get('watch'));
export const isTrue = (text: string | null): boolean => text === 'true' || text === '1' || text === '';

/** The name a write is recorded under when the client gives none: the first part of its User-Agent. */
export function managerOf(call: Call): string {
  const agent = (call.request.headers.get('user-agent') ?? '').split('/')[0] ?? '';
  return call.query.get('fieldManager') || agent.slice(0, 128) || 'unknown';
}
