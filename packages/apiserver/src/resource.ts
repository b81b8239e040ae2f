// What the server knows of a kind it serves: names, versions, schema, and the rules that are the kind's own.
import type { KubeObject, Tree } from './object.ts';
import type { Schema } from './schema/schema.ts';
import type { Cause } from './status.ts';

export interface Column {
  name: string;
  type: string;
  format?: string;
  description?: string;
  /** 0 shows always, 1 with `-o wide`. */
  priority?: number;
}

/** The columns of a kind's table and the cells of one object, in the same order. */
export interface Columns {
  columns: Column[];
  cells(object: KubeObject, now: number): unknown[];
}

export interface ScalePaths {
  spec: string;
  status: string;
  /** Where the label selector is, as text; absent when the kind has none. */
  selector?: string;
}

export interface Version {
  name: string;
  schema: Schema;
  isServed: boolean;
  columns: Columns;
  hasStatus: boolean;
  scale?: ScalePaths;
  /** Paths a field selector may use besides metadata.name and metadata.namespace. */
  selectable: string[];
  deprecation?: string;
}

/** Rules of one kind; every member may be absent. Defaulting and preparing change the object in place. */
export interface Rules {
  /** Why `name` cannot be the name of such an object; empty when it can. */
  nameProblems?(name: string): string[];
  /** `old` is undefined on create. */
  fill?(object: KubeObject, old: KubeObject | undefined): void;
  /** Resets what a writer may not set; `old` is undefined on create. */
  prepare?(object: KubeObject, old: KubeObject | undefined): void;
  /** `subresource` is the one written to, or the empty text. */
  validate?(object: KubeObject, old: KubeObject | undefined, subresource: string): Cause[];
  /** What is wrong with a status written through its subresource; `validate` is asked of kinds without it. */
  validateStatus?(object: KubeObject, old: KubeObject): Cause[];
  /** What the writer of a new object is told though it is taken. */
  warnings?(object: KubeObject): string[];
  /** Fields whose change counts as a new generation, when not simply everything but metadata and status. */
  hasGeneration?: boolean;
  /** The kind that refusals name, where it is not the resource's own. */
  refusedAs?: { group: string; kind: string };
  /** Values of selectable fields that are not simply at their path. */
  fields?: Record<string, (object: KubeObject) => string>;
  /** Finalizers an object is given by its delete. */
  holds?: readonly string[];
  /** Seconds between a delete and the end, by what the delete asks for; 0 ends at once. Kinds without it have no such time. */
  grace?(object: KubeObject, asked: number | undefined): number;
}

/** A webhook that converts a custom kind's objects between its versions. */
export interface ConversionHook {
  clientConfig: Tree;
  /** The versions of ConversionReview it understands, the one it likes best first. */
  reviewVersions: string[];
}

/** A kind whose objects are kept as those of another, in that one's storage version: two names for the same objects. */
export interface Twin {
  group: string;
  resource: string;
  /** A copy of `object` as it is kept. */
  kept(object: KubeObject): KubeObject;
  /** A copy of a kept object as this kind tells it. */
  told(object: KubeObject): KubeObject;
}

export interface Resource {
  group: string;
  resource: string;
  singular: string;
  kind: string;
  listKind: string;
  isNamespaced: boolean;
  isCustom: boolean;
  shortNames: string[];
  categories: string[];
  verbs: string[];
  subresources: string[];
  /** In order of preference; the first is the one discovery names. */
  versions: Version[];
  storageVersion: string;
  /** Absent where versions differ in nothing but their schemas. */
  conversion?: ConversionHook;
  /** Present where objects are kept as another kind's. */
  twin?: Twin;
  /** Of a custom kind: its definition's uid and generation. */
  definedBy?: string;
  rules: Rules;
}

export type Registry = {
  find(group: string, version: string, resource: string): { resource: Resource; version: Version } | undefined;
  findKind(group: string, kind: string): Resource | undefined;
  all(): Resource[];
  put(resource: Resource): void;
  remove(group: string, resource: string): void;
  /** Grows with every change: documents made from the registry are remade when it has. */
  generation(): number;
};

export function registry(resources: Resource[]): Registry {
  const byName = new Map(resources.map((resource) => [nameOf(resource), resource]));
  let generation = 0;
  return {
    find(group, version, name) {
      const resource = byName.get(`${group}/${name}`);
      const found = resource?.versions.find((one) => one.name === version && one.isServed);
      return resource && found ? { resource, version: found } : undefined;
    },
    findKind: (group, kind) => [...byName.values()].find((one) => one.group === group && one.kind === kind),
    all: () => [...byName.values()],
    put(resource) {
      byName.set(nameOf(resource), resource);
      generation++;
    },
    remove(group, resource) {
      if (byName.delete(`${group}/${resource}`)) generation++;
    },
    generation: () => generation,
  };
}

const nameOf = ({ group, resource }: Resource): string => `${group}/${resource}`;

/** The key of an object, or of everything of a resource (in a namespace, when given). */
export function keyOf(
  at: { group: string; resource: string; isNamespaced: boolean; twin?: Twin },
  namespace = '',
  name = '',
): string {
  const { group, resource } = at.twin ?? at;
  const table = `/registry/${group || 'core'}/${resource}/`;
  if (!at.isNamespaced) return table + name;
  return namespace === '' ? table : `${table}${namespace}/${name}`;
}

const etcdPlaces: Record<string, string> = {
  replicationcontrollers: 'controllers',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  services: 'services/specs',
  'ingresses.networking.k8s.io': 'ingress',
};

/** Where the real server keeps an object: some of its messages say so. */
export function etcdKey({ group, resource, isCustom }: Resource, namespace = '', name = ''): string {
  const isExtension = isCustom || group === 'apiextensions.k8s.io';
  const usual = isExtension ? `${group}/${resource}` : resource;
  const place = etcdPlaces[group === '' ? resource : `${resource}.${group}`] ?? usual;
  return ['/registry', place, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

export const storageVersionOf = (resource: Resource): Version => {
  const found = resource.versions.find((version) => version.name === resource.storageVersion);
  if (!found) throw new Error(`bug: ${resource.resource}.${resource.group} has no version ${resource.storageVersion}`);
  return found;
};

/** A part of an object, as a tree; the empty tree where it is absent. */
export const part = (object: KubeObject, name: string): Tree => {
  const found = object[name];
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Tree) : {};
};
