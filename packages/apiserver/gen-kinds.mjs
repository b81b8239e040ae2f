// Makes src/kinds/gen/ from the OpenAPI v3 and discovery documents of a Kubernetes source tree: node gen-kinds.mjs <tree>
// Kept: names, types, formats, enums, required fields, list types, merge keys, scopes, verbs. Left out: prose.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const tree = process.argv[2];
if (!tree) throw new Error('usage: node gen-kinds.mjs <kubernetes source tree>');
const out = new URL('./src/kinds/gen/', import.meta.url).pathname;
mkdirSync(out, { recursive: true });

const groups = {
  '': ['pods', 'services', 'endpoints', 'nodes', 'namespaces', 'configmaps', 'secrets', 'events', 'serviceaccounts'],
  apps: ['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'],
  'discovery.k8s.io': ['endpointslices'],
  'networking.k8s.io': ['ingresses', 'ingressclasses'],
  'coordination.k8s.io': ['leases'],
  policy: ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  'events.k8s.io': ['events'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'authentication.k8s.io': ['tokenreviews', 'selfsubjectreviews'],
  'authorization.k8s.io': [
    'subjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'localsubjectaccessreviews',
  ],
  'admissionregistration.k8s.io': ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
};
const extra = [
  'io.k8s.api.autoscaling.v1.Scale',
  'io.k8s.api.policy.v1.Eviction',
  'io.k8s.api.authentication.v1.TokenRequest',
  'io.k8s.api.core.v1.Binding',
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta',
];

const read = (path) => JSON.parse(readFileSync(join(tree, 'api', path), 'utf8'));
const fileOf = (group) => (group === '' ? 'api__v1' : `apis__${group}__v1`);
const all = {};
for (const group of [...Object.keys(groups), 'autoscaling']) {
  Object.assign(all, read(`openapi-spec/v3/${fileOf(group)}_openapi.json`).components.schemas);
}

const kept = {};
const refOf = (ref) => ref.replace('#/components/schemas/', '');
function keep(name) {
  if (kept[name]) return;
  kept[name] = {};
  kept[name] = shrink(all[name]);
}
function shrink(schema) {
  const { description: _, allOf, ...rest } = schema;
  const one = {};
  const ref = rest.$ref ?? allOf?.[0]?.$ref;
  if (ref) {
    one.$ref = refOf(ref);
    keep(one.$ref);
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key === '$ref') continue;
    // Objects that default to {} are Go's zero values, not something a user sees.
    if (key === 'default' && JSON.stringify(value) === '{}') continue;
    if (key === 'properties')
      one.properties = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, shrink(child)]));
    else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) one[key] = shrink(value);
    else if (key === 'oneOf' || key === 'anyOf') one[key] = value.map(shrink);
    else one[key] = value;
  }
  if (one['x-kubernetes-group-version-kind'] && one['x-kubernetes-group-version-kind'].length > 3)
    delete one['x-kubernetes-group-version-kind'];
  return one;
}

const discovery = [...read('discovery/aggregated_v2.json').items];
const core = read('discovery/api__v1.json');
const rows = [];
for (const [group, names] of Object.entries(groups)) {
  for (const resource of names) rows.push(group === '' ? coreRow(resource) : groupRow(group, resource));
}
function groupRow(group, resource) {
  const found = discovery
    .find((item) => item.metadata.name === group)
    .versions.find((v) => v.version === 'v1')
    .resources.find((r) => r.resource === resource);
  return row({
    group,
    resource,
    singular: found.singularResource,
    kind: found.responseKind.kind,
    namespaced: found.scope === 'Namespaced',
    shortNames: found.shortNames,
    categories: found.categories,
    verbs: found.verbs,
    subresources: (found.subresources ?? []).map((s) => s.subresource),
  });
}
function coreRow(resource) {
  const found = core.resources.find((r) => r.name === resource);
  const subresources = core.resources.filter((r) => r.name.startsWith(`${resource}/`)).map((r) => r.name.split('/')[1]);
  return row({
    group: '',
    resource,
    singular: found.singularName,
    kind: found.kind,
    namespaced: found.namespaced,
    shortNames: found.shortNames,
    categories: found.categories,
    verbs: found.verbs,
    subresources,
  });
}
function row(found) {
  const schema = Object.keys(all).find((name) => {
    const kinds = all[name]['x-kubernetes-group-version-kind'] ?? [];
    return (
      kinds.length === 1 && kinds[0].group === found.group && kinds[0].version === 'v1' && kinds[0].kind === found.kind
    );
  });
  keep(schema);
  return { ...found, shortNames: found.shortNames ?? [], categories: found.categories ?? [], schema };
}
extra.filter((name) => all[name]).forEach(keep);

const header = '// Made by gen-kinds.mjs from the Kubernetes OpenAPI and discovery documents (v1.32.4); do not edit.\n';
const sorted = Object.keys(kept).sort();
writeFileSync(
  join(out, 'schemas.ts'),
  `${header}import type { Schema } from '../../schema/schema.ts';\n\nexport const definitions: Record<string, Schema> = {\n${sorted.map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(kept[name])},`).join('\n')}\n};\n`,
);
writeFileSync(
  join(out, 'resources.ts'),
  `${header}import type { ResourceRow } from '../row.ts';\n\nexport const rows: ResourceRow[] = [\n${rows.map((r) => `  ${JSON.stringify(r)},`).join('\n')}\n];\n`,
);
console.log(`${sorted.length} schemas, ${rows.length} resources`);
