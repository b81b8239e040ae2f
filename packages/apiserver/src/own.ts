// The server's own writes, made through the same pipeline as everybody's: statuses, collected garbage, default objects.
import type { Cluster, UserInfo } from './cluster.ts';
import { splitApiVersion, type KubeObject, type Tree } from './object.ts';
import type { DeleteOptions } from './options.ts';
import { remove } from './remove.ts';
import { targetOf, type Call } from './request.ts';
import { keyOf, storageVersionOf, type Resource } from './resource.ts';
import { create, update, type Place } from './write.ts';
import { ok, type Status } from './status.ts';

const server: UserInfo = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

/** Whose word empties deleted namespaces, for admission to know it by: as in a kube-controller-manager with accounts of its own. */
export const namespaceController: UserInfo = {
  username: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

interface Named {
  name: string;
  namespace?: string;
}

export interface Own {
  /** Changes an object; nothing happens when it is gone. */
  change(
    apiVersion: string,
    resource: string,
    wanted: Named & { change(object: KubeObject): void; subresource?: string },
  ): Promise<void>;
  putStatus(apiVersion: string, resource: string, wanted: Named & { status: Tree }): Promise<void>;
  /** Deletes an object as it stands (same uid); an object that is gone already is no failure. */
  remove(resource: Resource, object: KubeObject, options?: DeleteOptions): Promise<void>;
  /** The same for an object that admission may want to keep: what it said, if it did. */
  tryRemove(resource: Resource, object: KubeObject): Promise<Status | undefined>;
  /** Creates an object; one of that name that is there already is left alone. */
  create(object: KubeObject): Promise<void>;
}

export function own(cluster: Cluster, user: UserInfo = server): Own {
  const placeOf = (resource: Resource, path: Path, verb: string) => ownPlace({ cluster, user }, resource, path, verb);
  const find = (apiVersion: string, name: string) => ownResource(cluster, apiVersion, name);
  const take = async (resource: Resource, { metadata }: KubeObject, options: DeleteOptions) => {
    const { name = '', namespace = '', uid = '' } = metadata;
    const place = placeOf(resource, { name, namespace, subresource: '' }, 'delete');
    const removed = await remove(place, { preconditions: { uid }, ...options });
    // 409: another object has the name by now, which is not the one that was to go.
    return removed.ok || removed.status.code === 404 || removed.status.code === 409 ? undefined : removed.status;
  };
  const self: Own = {
    async change(apiVersion, name, wanted) {
      const place = placeOf(
        find(apiVersion, name),
        { name: wanted.name, namespace: wanted.namespace ?? '', subresource: wanted.subresource ?? '' },
        'patch',
      );
      const written = await update(place, {
        change: (old) => {
          wanted.change(old);
          return ok(old);
        },
      });
      if (!written.ok) expectGone(written.status, 404);
    },
    putStatus: (apiVersion, resource, { status, ...named }) =>
      self.change(apiVersion, resource, {
        ...named,
        subresource: 'status',
        change: (object) => void (object.status = status),
      }),
    async remove(resource, object, options = {}) {
      const refused = await take(resource, object, options);
      if (refused) expectGone(refused);
    },
    tryRemove: (resource, object) => take(resource, object, {}),
    async create(object) {
      const { group, version } = splitApiVersion(object.apiVersion);
      const resource = cluster.registry.findKind(group, object.kind);
      if (!resource) throw new Error(`bug: the server does not know its own ${object.kind} of ${group}/${version}`);
      const { name = '', namespace = '' } = object.metadata;
      // Not asked of admission: a webhook that is not up yet must not hold up a start that has nothing to make.
      if (cluster.store.get(keyOf(resource, namespace, name))) return;
      const made = await create(placeOf(resource, { name, namespace, subresource: '' }, 'create'), object);
      if (!made.ok) expectGone(made.status, 409, 404, 403);
    },
  };
  return self;
}

interface Path {
  name: string;
  namespace: string;
  subresource: string;
}

function ownPlace(
  { cluster, user }: { cluster: Cluster; user: UserInfo },
  resource: Resource,
  path: Path,
  verb: string,
): Place {
  const url = new URL('http://own.invalid/');
  const target = {
    ...targetOf('GET', url),
    ...path,
    verb,
    group: resource.group,
    resource: resource.resource,
    version: resource.storageVersion,
  };
  const request = new Request(url, { headers: { 'user-agent': 'kube-apiserver' } });
  const call: Call = { request, url, query: url.searchParams, target, user, warnings: [] };
  return { cluster, call, resource, version: storageVersionOf(resource) };
}

function ownResource(cluster: Cluster, apiVersion: string, name: string): Resource {
  const { group, version } = splitApiVersion(apiVersion);
  const found = cluster.registry.find(group, version, name);
  if (!found) throw new Error(`bug: the server does not know its own ${name} of ${apiVersion}`);
  return found.resource;
}

/** Others write too, so some refusals only mean that they were faster; any other is a bug of ours or an admission hook's word. */
function expectGone(status: Status, ...codes: number[]): void {
  if (!codes.includes(status.code)) throw new Error(`bug: the server's own write was refused: ${status.message}`);
}
