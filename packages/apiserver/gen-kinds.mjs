// Makes src/kinds/gen/ from the OpenAPI v3 and discovery documents of a Kubernetes source tree: node gen-kinds.mjs <tree>
// Kept: names, types, formats, enums, required fields, list types, merge keys, scopes, verbs. Left out: prose.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const tree = process.argv[2];
if (!tree) throw new Error('usage: node gen-kinds.mjs <kubernetes source tree>');
const out = new URL('./src/kinds/gen/', import.meta.url).pathname;
mkdirSync(out, { recursive: true });

const groups = {
  '': [
    'pods',
    'bindings',
    'services',
    'endpoints',
    'nodes',
    'namespaces',
    'configmaps',
    'secrets',
    'events',
    'serviceaccounts',
    'persistentvolumeclaims',
    'persistentvolumes',
    'replicationcontrollers',
    'limitranges',
    'resourcequotas',
  ],
  batch: ['jobs', 'cronjobs'],
  apps: ['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'],
  'discovery.k8s.io': ['endpointslices'],
  'networking.k8s.io': ['ingresses', 'ingressclasses', 'ipaddresses', 'networkpolicies', 'servicecidrs'],
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
  'admissionregistration.k8s.io': [
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ],
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
/** What is required is always told, be it null. Of plain values nobody can tell. */
function always(child, isRequired) {
  const isPlain = !child.$ref && child.type !== 'array' && child.type !== 'object';
  const isMarked = child['x-go-always'] !== undefined || (child.$ref && !all[child.$ref].properties);
  return !isRequired || isPlain || isMarked ? child : { ...child, 'x-go-always': 'null' };
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
    // Objects that default to {} are Go's zero values: no user sees them, and field sets take them for always there.
    if (key === 'default' && JSON.stringify(value) === '{}') {
      if (ref && all[refOf(ref)].properties) one['x-go-always'] = 'struct';
      continue;
    }
    if (key === 'properties')
      one.properties = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, always(shrink(child), rest.required?.includes(name))]),
      );
    else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
      // Elements are there or not.
      const { 'x-go-always': _, ...element } = shrink(value);
      one[key] = element;
    } else if (key === 'oneOf' || key === 'anyOf') one[key] = value.map(shrink);
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

const header = '// Made by gen-kinds.mjs from the Kubernetes OpenAPI and discovery documents (v1.34.4); do not edit.\n';
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

// The wire numbers of the same kinds, from the .proto files of the k8s.io modules: typed clients (kubectl create among them) send protobuf.
const modules = process.argv[3];
if (!modules) throw new Error('usage: node gen-kinds.mjs <kubernetes source tree> <directory of the k8s.io modules>');
const version = process.argv[4] ?? 'v0.34.4';
const protos = new Map();
const dropped = new Set();
for (const path of [
  'apimachinery/pkg/apis/meta/v1',
  'apimachinery/pkg/runtime',
  'apimachinery/pkg/util/intstr',
  'apimachinery/pkg/api/resource',
  'apiextensions-apiserver/pkg/apis/apiextensions/v1',
  ...[
    'core',
    'apps',
    'discovery',
    'networking',
    'coordination',
    'policy',
    'rbac',
    'events',
    'authentication',
    'authorization',
    'admissionregistration',
    'autoscaling',
    'batch',
  ].map((group) => `api/${group}/v1`),
]) {
  const [module, ...rest] = path.split('/');
  const directory = join(modules, `${module}@${version}`, ...rest);
  const text = readFileSync(join(directory, 'generated.proto'), 'utf8');
  readMessages(text);
  if (existsSync(join(directory, 'types.go')))
    readDropped(readFileSync(join(directory, 'types.go'), 'utf8'), /^package ([\w.]+);/m.exec(text)[1]);
}
// Whether Go leaves a field's zero value out of JSON: plain values marked omitempty are, pointers are not.
function readDropped(text, pack) {
  for (const [, name, body] of text.replace(/^\s*\/\/.*$/gm, '').matchAll(/^type (\w+) struct \{([^]*?)^\}/gm)) {
    for (const [, type, tag] of body.matchAll(/^\s*\w+\s+([*\w.[\]]+)\s+`json:"([^"]*)"/gm)) {
      const [field, ...options] = tag.split(',');
      if (!type.startsWith('*') && options.includes('omitempty')) dropped.add(`${pack}.${name}.${field}`);
    }
  }
}
function readMessages(text) {
  const pack = /^package ([\w.]+);/m.exec(text)[1];
  for (const [, name, body] of text.replace(/^\s*\/\/.*$/gm, '').matchAll(/^message (\w+) \{([^]*?)^\}/gm)) {
    const fields = [];
    for (const [, repeated, type, field, number] of body.matchAll(
      /^\s*(optional|repeated|map<string, *)?\s*([\w.]+)>? (\w+) = (\d+);/gm,
    )) {
      const full = /^(string|bytes|bool|u?int(32|64)|double|float)$/.test(type)
        ? type
        : type.startsWith('.')
          ? type.slice(1)
          : type.startsWith('k8s.io.')
            ? type
            : `${pack}.${type}`;
      fields.push([Number(number), field, full, repeated === 'optional' ? 0 : repeated === 'repeated' ? 1 : 2]);
    }
    protos.set(`${pack}.${name}`, fields);
  }
}
const schemaOf = (message) => `io.k8s.${message.replace(/^k8s\.io\./, '')}`;
const wire = {};
function keepMessage(name) {
  if (wire[name] || !protos.has(name)) return;
  wire[name] = [];
  const properties = (all[schemaOf(name)] ?? kept[schemaOf(name)])?.properties;
  // A field the JSON form does not have is an inlined struct: its fields stand in the object itself (3).
  // A zero that JSON would not show is dropped (4).
  const flagOf = (field, type, flag) => {
    if (flag !== 0) return flag;
    if (properties && !properties[field] && protos.has(type)) return 3;
    return !protos.has(type) && dropped.has(`${name}.${field}`) ? 4 : 0;
  };
  wire[name] = protos.get(name).map(([number, field, type, flag]) => [number, field, type, flagOf(field, type, flag)]);
  for (const [, , type] of wire[name]) keepMessage(type);
}
for (const { schema } of rows) keepMessage(schema.replace(/^io\.k8s\./, 'k8s.io.'));
for (const name of [
  'k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'k8s.io.api.autoscaling.v1.Scale',
  'k8s.io.api.policy.v1.Eviction',
  'k8s.io.api.authentication.v1.TokenRequest',
  'k8s.io.api.core.v1.Binding',
  'k8s.io.apimachinery.pkg.runtime.Unknown',
])
  keepMessage(name);
const short = (name) => name.replace(/^k8s\.io\./, '');
writeFileSync(
  join(out, 'wire.ts'),
  `${header}import type { WireField } from '../../protobuf.ts';\n\nexport const wire: Record<string, WireField[]> = {\n${Object.keys(
    wire,
  )
    .sort()
    .map(
      (name) =>
        `  ${JSON.stringify(short(name))}: ${JSON.stringify(wire[name].map(([n, f, t, flag]) => [n, f, short(t), flag]))},`,
    )
    .join('\n')}\n};\n`,
);
console.log(`${Object.keys(wire).length} messages`);
