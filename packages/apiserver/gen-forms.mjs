// Makes src/kinds/gen/forms.ts, the real server's own structures of a pod's spec, from its published modules:
//   node gen-forms.mjs <k8s.io/kubernetes module> <k8s.io/api module>
// Kept: names of fields in order, the name each has in v1, and what sort of value it is. Left out: prose.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [server, api] = process.argv.slice(2);
if (!server || !api) throw new Error('usage: node gen-forms.mjs <k8s.io/kubernetes module> <k8s.io/api module>');
const out = new URL('./src/kinds/gen/forms.ts', import.meta.url).pathname;

const internal = declarations(join(server, 'pkg/apis/core/types.go'));
const served = declarations(join(api, 'core/v1/types.go'));

/** Structures by name as their fields, other types by name as what they stand for. */
function declarations(file) {
  const structs = new Map();
  const others = new Map();
  let fields;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const text = line.replace(/\/\/.*$/, '').trim();
    const begun = /^type (\w+) struct \{(\})?$/.exec(text);
    const other = /^type (\w+) =? ?([^{]+)$/.exec(text);
    if (begun) {
      fields = [];
      structs.set(begun[1], fields);
      if (begun[2]) fields = undefined;
    } else if (other && !fields) others.set(other[1], other[2].trim());
    else if (text === '}') fields = undefined;
    else if (fields && text !== '') fields.push(...fieldsOf(text));
  }
  return { structs, others };
}

function fieldsOf(text) {
  const tag = /`json:"([^,"]*)/.exec(text)?.[1];
  const bare = text.replace(/`.*`/, '').trim();
  const embedded = /^(\w+)$/.exec(bare);
  if (embedded) return [{ name: bare, embeds: bare }];
  const [, name, type] = /^(\w+)\s+(.+)$/.exec(bare) ?? [];
  return name ? [{ name, type: type.trim(), tag }] : [];
}

const plain = { string: 'text', bool: 'truth', 'resource.Quantity': 'quantity', 'intstr.IntOrString': 'plain' };
const forms = {};

function shape(type) {
  if (type.startsWith('*')) return `?${shape(type.slice(1))}`;
  if (type === '[]byte') return 'text';
  if (type.startsWith('[]')) return `[]${shape(type.slice(2))}`;
  const map = /^map\[[^\]]+\](.+)$/.exec(type);
  if (map) return `{}${shape(map[1])}`;
  if (plain[type]) return plain[type];
  if (/^u?int\d*$|^float/.test(type)) return 'number';
  if (type.startsWith('types.')) return 'text';
  if (type === 'metav1.Time') return '?plain';
  // Structures of other packages bear the names they are served with.
  if (type.includes('.')) return 'plain';
  if (internal.others.has(type)) return shape(internal.others.get(type));
  form(type);
  return type;
}

function form(name) {
  if (forms[name]) return;
  forms[name] = [];
  forms[name] = rows(name);
}

function rows(name) {
  const fields = internal.structs.get(name);
  if (!fields) throw new Error(`there is no structure ${name}`);
  const tags = new Map(allFields(name).map((field) => [field.name, field.tag]));
  return fields.flatMap((field) =>
    field.embeds ? rows(field.embeds) : [[field.name, tags.get(field.name) ?? lower(field.name), shape(field.type)]],
  );
}

const allFields = (name) =>
  (served.structs.get(name) ?? []).flatMap((field) => (field.embeds ? allFields(field.embeds) : [field]));
const lower = (name) => name.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (found) => found.toLowerCase());

form('PodSpec');
const version = /@(v[\d.]+)\/?$/.exec(server)?.[1] ?? 'unknown version';
const lines = Object.entries(forms).map(([name, fields]) => `  ${name}: ${JSON.stringify(fields)},`);
writeFileSync(
  out,
  `// Made by gen-forms.mjs from the Kubernetes modules (${version}); do not edit.
/** Of each structure its fields: the name it is printed with, the name in v1, and its sort. */
export const forms: Record<string, [printed: string, field: string, sort: string][]> = {
${lines.join('\n')}
};
`,
);
