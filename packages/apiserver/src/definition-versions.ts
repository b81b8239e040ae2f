// The versions of a definition: their schemas, subresources, columns and selectable fields, and which are refused.
import { duplicate, invalidValue, required } from './field-error.ts';
import { dns1035Problems } from './names.ts';
import { isEqual, isTree, listOf, textOf, treeOf, type Tree } from './object.ts';
import { fieldAt } from './schema/field-path.ts';
import { versionForm } from './schema/go-form.ts';
import { ruleDefinitionProblems } from './schema/rule-definitions.ts';
import type { Schema } from './schema/schema.ts';
import { structuralProblems } from './schema/structural.ts';
import type { Cause } from './status.ts';

/*
   What all versions have alike the real server keeps once, beside them, and tells of it there:

     of a version              | of all alike
     --------------------------+---------------------------------
     schema.openAPIV3Schema    | spec.validation.openAPIV3Schema
     subresources, columns, …  | spec.subresources, …
*/
const parts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

/** What is wrong with the versions of `spec`. */
export function versionsProblems(spec: Tree): Cause[] {
  const versions = listOf(spec.versions).map(treeOf);
  const [first] = versions;
  const shared = new Set<string>(parts.filter((part) => versions.every((one) => isEqual(one[part], first?.[part]))));
  const names = versions.map(({ name }) => name);
  const forms = versions.map((version) => versionForm(version, shared));
  const all = (why: string): Cause => invalidValue('spec.versions', forms, why);
  return [
    ...versions.flatMap((version, i) => schemaMissing(version, `spec.versions[${i}]`)),
    ...versions.flatMap((version, i) => [
      ...nameProblems(version.name, `spec.versions[${i}].name`),
      ...parts
        .filter((part) => !shared.has(part))
        .flatMap((part) => partProblems(version, part, `spec.versions[${i}]`)),
    ]),
    ...(new Set(names).size < names.length ? [all('must contain unique version names')] : []),
    ...(versions.filter(({ storage }) => storage === true).length === 1
      ? []
      : [all('must have exactly one version marked as storage version')]),
    ...(first ? nameProblems(first.name, 'spec.version') : []),
  ];
}

/** What is wrong with what all versions have alike. */
export function sharedProblems(spec: Tree): Cause[] {
  const versions = listOf(spec.versions).map(treeOf);
  const [first] = versions;
  if (!first) return [];
  return parts
    .filter((part) => versions.every((one) => isEqual(one[part], first[part])))
    .flatMap((part) => partProblems(first, part, 'spec'));
}

const schemaOf = (version: Tree): Schema | undefined => {
  const schema = treeOf(version.schema).openAPIV3Schema;
  return isTree(schema) ? schema : undefined;
};

const schemaMissing = (version: Tree, path: string): Cause[] =>
  schemaOf(version) ? [] : [required(`${path}.schema.openAPIV3Schema`)];

function nameProblems(name: unknown, path: string): Cause[] {
  const problems = dns1035Problems(textOf(name));
  return problems.length === 0 ? [] : [invalidValue(path, textOf(name), problems.join(','))];
}

function partProblems(version: Tree, part: (typeof parts)[number], path: string): Cause[] {
  const schema = schemaOf(version);
  switch (part) {
    case 'schema':
      return schema
        ? schemaProblems(schema, `${path}.${path === 'spec' ? 'validation' : 'schema'}.openAPIV3Schema`)
        : [];
    case 'subresources':
      return scaleProblems(treeOf(version.subresources).scale, `${path}.subresources.scale`);
    case 'additionalPrinterColumns':
      return listOf(version[part]).flatMap((one, i) => columnProblems(treeOf(one), `${path}.${part}[${i}]`));
    case 'selectableFields':
      return schema ? selectableProblems(listOf(version[part]).map(treeOf), schema, `${path}.${part}`) : [];
  }
}

/** Rules are compiled where the schema tells what they are about: not in one that is no structural schema. */
function schemaProblems(schema: Schema, path: string): Cause[] {
  const root = schema.nullable
    ? [
        {
          reason: 'FieldValueForbidden',
          message: 'Forbidden: nullable cannot be true at the root',
          field: `${path}.nullable`,
        },
      ]
    : [];
  const causes = [...root, ...structuralProblems(schema, path)];
  return causes.length > 0 ? causes : ruleDefinitionProblems(schema, path);
}

function pathProblems(path: unknown, field: string): Cause[] {
  if (textOf(path) === '') return [required(field)];
  return textOf(path).startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')];
}

function scaleProblems(scale: unknown, path: string): Cause[] {
  if (!isTree(scale)) return [];
  const within = (field: string, roots: string[], why: string): Cause[] => {
    const value = scale[field];
    const causes = pathProblems(value, `${path}.${field}`);
    if (causes.length > 0 || roots.some((root) => textOf(value).startsWith(root))) return causes;
    return [invalidValue(`${path}.${field}`, value, `should be a json path under ${why}`)];
  };
  return [
    ...within('specReplicasPath', ['.spec.'], '.spec'),
    ...within('statusReplicasPath', ['.status.'], '.status'),
    ...(textOf(scale.labelSelectorPath) === ''
      ? []
      : within('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status')),
  ];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnProblems(column: Tree, path: string): Cause[] {
  const { type, format } = column;
  const types = `must be one of ${columnTypes.join(',')}`;
  return [
    ...(textOf(column.name) === '' ? [required(`${path}.name`)] : []),
    ...(textOf(type) === ''
      ? [required(`${path}.type`, types)]
      : columnTypes.includes(textOf(type))
        ? []
        : [invalidValue(`${path}.type`, type, types)]),
    ...(textOf(format) === '' || columnFormats.includes(textOf(format))
      ? []
      : [invalidValue(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`)]),
    ...pathProblems(column.jsonPath, `${path}.JSONPath`),
  ];
}

const selectableTypes = ['boolean', 'integer', 'string'];
const mostSelectable = 8;

function selectableProblems(fields: Tree[], schema: Schema, path: string): Cause[] {
  const seen = new Set<string>();
  const causes = fields.flatMap((field, i): Cause[] => {
    const at = `${path}[${i}].jsonPath`;
    const jsonPath = textOf(field.jsonPath);
    if (jsonPath === '') return [required(at)];
    const found = fieldAt(jsonPath, schema);
    if ('problem' in found) return [invalidValue(at, jsonPath, `is an invalid path: ${found.problem}`)];
    const own: Cause[] = [];
    if (found.names[0] === 'metadata') own.push(invalidValue(at, jsonPath, 'must not point to fields in metadata'));
    if (!selectableTypes.includes(found.schema.type ?? ''))
      own.push(
        invalidValue(
          at,
          jsonPath,
          `must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
        ),
      );
    if (seen.has(jsonPath)) own.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
    return own;
  });
  if (seen.size <= mostSelectable) return causes;
  const many = `Too many: ${seen.size}: must have at most ${mostSelectable} items`;
  return [...causes, { reason: 'FieldValueTooMany', message: many, field: path }];
}
