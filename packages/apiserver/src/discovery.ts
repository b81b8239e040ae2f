// Discovery documents: which groups, versions and resources there are, in the old form and the aggregated one.
import { createHash } from 'node:crypto';
import { apiVersionOf, type Tree } from './object.ts';
import type { Registry, Resource, Version } from './resource.ts';
import { byPriority } from './crd.ts';

/** The server says it is this Kubernetes: what it answers follows that release. */
export const versionDocument: Tree = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.4',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'gc',
  platform: 'linux/amd64',
};

interface Group {
  name: string;
  /** In order of preference. */
  versions: string[];
}

/** Every group with a served version: built-in ones first, then the others by `<preferred version>.<group>`. */
export function groupsOf(registry: Registry): Group[] {
  const groups = new Map<string, { isCustom: boolean; versions: Set<string> }>();
  for (const { group, versions, isCustom } of registry.all()) {
    const found = groups.get(group) ?? { isCustom, versions: new Set<string>() };
    for (const version of versions) if (version.isServed) found.versions.add(version.name);
    if (found.versions.size > 0) groups.set(group, found);
  }
  const all = [...groups].map(([name, { isCustom, versions }]) => {
    const ordered = [...versions].sort(byPriority);
    return { group: { name, versions: ordered }, after: isCustom ? `${ordered[0]}.${name}` : '' };
  });
  return all.sort((a, b) => (a.after < b.after ? -1 : a.after > b.after ? 1 : 0)).map(({ group }) => group);
}

function groupDocument(group: Group): Tree {
  const versions = group.versions.map((version) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

export const coreVersions = (): Tree => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
});

export const groupList = (registry: Registry): Tree => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupsOf(registry)
    .filter((group) => group.name !== '')
    .map(groupDocument),
});

export function oneGroup(registry: Registry, name: string): Tree | undefined {
  const group = groupsOf(registry).find((one) => one.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
}

/** `served` are the subresources the server answers: discovery names no others. */
export function resourceList(registry: Registry, group: string, version: string): Tree | undefined {
  const found = servedIn(registry, group, version);
  if (found.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(group, version),
    resources: found.flatMap(({ resource, version: at }) => [
      resourceEntry(resource, at),
      ...subresourcesOf(resource, at).map((sub) => subresourceEntry(resource, sub)),
    ]),
  };
}

interface Served {
  resource: Resource;
  version: Version;
}

function servedIn(registry: Registry, group: string, version: string): Served[] {
  const served = registry.all().flatMap((resource) => {
    const found = registry.find(group, version, resource.resource);
    return found && found.resource === resource ? [found] : [];
  });
  return served.sort((a, b) => (a.resource.resource < b.resource.resource ? -1 : 1));
}

const answered: Record<string, string[]> = {
  status: ['get', 'patch', 'update'],
  scale: ['get', 'patch', 'update'],
  finalize: ['update'],
  eviction: ['create'],
  binding: ['create'],
  log: ['get'],
  token: ['create'],
};

/** Subresources with a kind of their own. */
const kindsOfSubresources: Record<string, { group?: string; version?: string; kind: string }> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  binding: { kind: 'Binding' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
};

const subresourcesOf = (resource: Resource, version: Version): string[] =>
  resource.subresources.filter((name) => {
    if (resource.isCustom && name === 'status') return version.hasStatus;
    if (resource.isCustom && name === 'scale') return version.scale !== undefined;
    return Object.hasOwn(answered, name);
  });

function resourceEntry(resource: Resource, version: Version): Tree {
  return {
    name: resource.resource,
    singularName: resource.singular,
    namespaced: resource.isNamespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(resource.verbs.includes('get') ? { storageVersionHash: storageHash(resource, version) } : {}),
  };
}

/** Tells clients when a resource is stored in another version than before. */
function storageHash({ group, kind, isCustom, storageVersion }: Resource, version: Version): string {
  const text = `${group}/${isCustom ? storageVersion : version.name}/${kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

function subresourceEntry(resource: Resource, name: string): Tree {
  return {
    name: `${resource.resource}/${name}`,
    singularName: '',
    namespaced: resource.isNamespaced,
    ...(kindsOfSubresources[name] ?? { kind: resource.kind }),
    verbs: answered[name],
  };
}

/** `apidiscovery.k8s.io/v2`: everything in one answer. `isCore` for /api, otherwise /apis. */
export function aggregated(registry: Registry, isCore: boolean): Tree {
  const groups = groupsOf(registry).filter((group) => (group.name === '') === isCore);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name ? { name: group.name } : {},
      versions: group.versions.map((version) => ({
        version,
        freshness: 'Current',
        resources: servedIn(registry, group.name, version).map((served) => aggregatedResource(served)),
      })),
    })),
  };
}

function aggregatedResource({ resource, version: at }: Served): Tree {
  const subresources = subresourcesOf(resource, at).map((name) => ({
    subresource: name,
    responseKind: { group: '', version: '', kind: resource.kind, ...kindsOfSubresources[name] },
    verbs: answered[name],
  }));
  return {
    resource: resource.resource,
    responseKind: { group: '', version: '', kind: resource.kind },
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

export const wantsAggregated = (accept: string): boolean =>
  /as=APIGroupDiscoveryList/.test(accept) && /v=v2(;|,|$)/.test(accept);
