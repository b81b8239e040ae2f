// Objects inside custom resources (`x-kubernetes-embedded-resource`): each has a kind, and metadata that follows the rules.
import { required } from '../field-error.ts';
import { subdomainProblems, validateMetadata } from '../names.ts';
import { isTree, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { reach } from './reach.ts';
import { fieldSchema, type Schema } from './schema.ts';

const hasEmbedded = reach((schema) => schema['x-kubernetes-embedded-resource'] === true);

/** What is wrong with the objects inside `value`. */
export function embeddedProblems(value: unknown, schema: Schema, path = ''): Cause[] {
  if (!hasEmbedded(schema)) return [];
  if (Array.isArray(value))
    return value.flatMap((item, i) => (schema.items ? embeddedProblems(item, schema.items, `${path}[${i}]`) : []));
  if (!isTree(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] === true && path !== '' ? objectProblems(value, path) : [];
  const below = Object.keys(value).flatMap((name) => {
    const child = fieldSchema(schema, name);
    return child ? embeddedProblems(value[name], child, path === '' ? name : `${path}.${name}`) : [];
  });
  return [...own, ...below];
}

function objectProblems(value: Tree, path: string): Cause[] {
  const lacking = ['apiVersion', 'kind'].filter((field) => textOf(value[field]) === '');
  // An object inside another may be a template, so it needs no name; one that it has is checked.
  const metadata = { ...treeOf(value.metadata) };
  const isNamed = textOf(metadata.name) !== '';
  const found = validateMetadata(
    { apiVersion: '', kind: '', metadata: { ...metadata, ...(isNamed ? {} : { name: 'x' }) } },
    subdomainProblems,
  );
  return [
    ...lacking.map((field) => required(`${path}.${field}`)),
    ...found.map((cause) => ({ ...cause, field: `${path}.${cause.field ?? ''}` })),
  ];
}
