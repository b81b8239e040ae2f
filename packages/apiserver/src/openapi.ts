// OpenAPI documents made from the registry: v3 per group and version, v2 for all, for `kubectl explain`, `apply` and validation.
import { enums } from './kinds/gen/enums.ts';
import { definitions } from './kinds/gen/schemas.ts';
import { rows } from './kinds/gen/resources.ts';
import { groupsOf } from './discovery.ts';
import { apiVersionOf, isTree, type Tree } from './object.ts';
import type { Registry, Resource, Version } from './resource.ts';
import type { Schema } from './schema/schema.ts';

const info = { title: 'Kubernetes', version: 'v1.34.4' };
const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const pathOf = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** The index of v3 documents. The hash changes with the kinds, so clients may keep what they have read. */
export function openApiIndex(registry: Registry): Tree {
  const hash = registry.generation().toString(16).padStart(8, '0');
  const paths = groupsOf(registry).flatMap((group) =>
    group.versions.map((version) => {
      const path = pathOf(group.name, version);
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
    }),
  );
  return { paths: Object.fromEntries(paths) as Tree };
}

interface Served {
  resource: Resource;
  version: Version;
}

/** The v3 document of one group and version; undefined where there is none. */
export function openApiV3(registry: Registry, group: string, version: string): Tree | undefined {
  const served = servedIn(registry, group, version);
  if (served.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info,
    paths: pathsOf(served, 3),
    components: { schemas: schemasOf(served, '#/components/schemas/') },
  };
}

/** The v2 document, of every group and version. */
export function openApiV2(registry: Registry): Tree {
  const served = groupsOf(registry).flatMap((group) =>
    group.versions.flatMap((version) => servedIn(registry, group.name, version)),
  );
  return { swagger: '2.0', info, paths: pathsOf(served, 2), definitions: schemasOf(served, '#/definitions/') };
}

function servedIn(registry: Registry, group: string, version: string): Served[] {
  return registry.all().flatMap((resource) => {
    const found = registry.find(group, version, resource.resource);
    return found && found.resource === resource ? [found] : [];
  });
}

function schemaName({ resource, version }: Served): string {
  const row = rows.find((one) => one.group === resource.group && one.resource === resource.resource);
  if (row) return row.schema;
  return `${resource.group.split('.').reverse().join('.')}.${version.name}.${resource.kind}`;
}

function schemasOf(served: Served[], prefix: string): Tree {
  const out: Tree = {};
  const add = (name: string): void => {
    const raw = definitions[name];
    if (!raw || Object.hasOwn(out, name)) return;
    // Kept before it is filled: some definitions refer to themselves.
    const schema: Tree = {};
    out[name] = schema;
    Object.assign(schema, withEnums(published(raw, prefix, add), enums[name]));
  };
  for (const one of served) {
    const name = schemaName(one);
    if (one.resource.isCustom) {
      add(objectMeta);
      out[name] = custom(one, prefix);
    } else add(name);
  }
  add('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
  return out;
}

/** A definition with its references in the document's form; `add` is told what it refers to. */
function published(raw: Schema, prefix: string, add: (name: string) => void): Tree {
  const { $ref, 'x-go-always': always, ...rest } = raw;
  const out: Tree = always === 'struct' && prefix.startsWith('#/components/') ? { ...rest, default: {} } : { ...rest };
  if ($ref) {
    add($ref);
    const target = { $ref: prefix + $ref };
    if (Object.keys(out).length === 0) return target;
    out.allOf = [target];
  }
  if (raw.properties)
    out.properties = Object.fromEntries(
      Object.entries(raw.properties).map(([name, child]) => [name, published(child, prefix, add)]),
    );
  if (raw.items) out.items = published(raw.items, prefix, add);
  if (typeof raw.additionalProperties === 'object')
    out.additionalProperties = published(raw.additionalProperties, prefix, add);
  return out;
}

/** `lists`: the values by field; of a field that is a list, of its items. */
function withEnums(schema: Tree, lists: Record<string, string[]> | undefined): Tree {
  if (!lists || !isTree(schema.properties)) return schema;
  const properties = { ...schema.properties };
  for (const [field, values] of Object.entries(lists)) {
    const child = properties[field];
    if (!isTree(child)) continue;
    properties[field] = isTree(child.items)
      ? { ...child, items: { ...child.items, enum: values } }
      : { ...child, enum: values };
  }
  return { ...schema, properties };
}

function custom({ version }: Served, prefix: string): Tree {
  const properties = { ...version.schema.properties, metadata: { allOf: [{ $ref: prefix + objectMeta }] } };
  return { ...version.schema, properties };
}

type Operation = [method: string, action: string];
const itemOperations: Operation[] = [
  ['get', 'get'],
  ['put', 'put'],
  ['patch', 'patch'],
  ['delete', 'delete'],
];
const collectionOperations: Operation[] = [
  ['get', 'list'],
  ['post', 'post'],
  ['delete', 'deletecollection'],
];

function pathsOf(served: Served[], document: 2 | 3): Tree {
  const paths: Tree = {};
  for (const { resource, version } of served) {
    const root = `/${pathOf(resource.group, version.name)}`;
    const place = resource.isNamespaced ? '/namespaces/{namespace}' : '';
    const collection = `${root}${place}/${resource.resource}`;
    const gvk = { group: resource.group, version: version.name, kind: resource.kind };
    paths[collection] = operations(collectionOperations, gvk, document, resource.isNamespaced ? ['namespace'] : []);
    paths[`${collection}/{name}`] = operations(
      itemOperations,
      gvk,
      document,
      resource.isNamespaced ? ['name', 'namespace'] : ['name'],
    );
  }
  return paths;
}

const queries: Record<string, string[]> = {
  post: ['dryRun', 'fieldManager', 'fieldValidation'],
  put: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'],
  get: [],
};

function operations(list: Operation[], gvk: Tree, document: 2 | 3, path: string[]): Tree {
  const parameter = (name: string, where: string): Tree => ({
    name,
    in: where,
    ...(where === 'path' ? { required: true } : { uniqueItems: true }),
    ...(document === 3 ? { schema: { type: 'string' } } : { type: 'string' }),
  });
  const entries = list.map(([method, action]) => [
    method,
    {
      operationId: `${action}${String(gvk.group).replaceAll('.', '_')}${apiVersionOf('', String(gvk.version))}${String(gvk.kind)}`,
      parameters: (queries[method] ?? []).map((name) => parameter(name, 'query')),
      responses: { 200: { description: 'OK' } },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': gvk,
      ...(document === 2 ? { consumes: ['*/*'], produces: ['application/json'], schemes: ['https'] } : {}),
    },
  ]);
  return { ...(Object.fromEntries(entries) as Tree), parameters: path.map((name) => parameter(name, 'path')) };
}
