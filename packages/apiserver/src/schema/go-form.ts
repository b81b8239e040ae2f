// Versions, schemas and rules as the real server prints them in its messages: its own structures, every field told.
import { isTree, listOf, treeOf, type Tree } from '../object.ts';

/** A rule of `x-kubernetes-validations`. */
export const ruleForm = (rule: Tree): Tree => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

type Shape = 'text' | 'truth' | 'plain' | 'schema' | 'schemas' | 'fields' | 'either' | 'rules';

const schemaFields: [name: string, field: string, shape: Shape][] = [
  ['ID', 'id', 'text'],
  ['Schema', '$schema', 'text'],
  ['Ref', '$ref', 'plain'],
  ['Description', 'description', 'text'],
  ['Type', 'type', 'text'],
  ['Nullable', 'nullable', 'truth'],
  ['Format', 'format', 'text'],
  ['Title', 'title', 'text'],
  ['Default', 'default', 'plain'],
  ['Maximum', 'maximum', 'plain'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'truth'],
  ['Minimum', 'minimum', 'plain'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'truth'],
  ['MaxLength', 'maxLength', 'plain'],
  ['MinLength', 'minLength', 'plain'],
  ['Pattern', 'pattern', 'text'],
  ['MaxItems', 'maxItems', 'plain'],
  ['MinItems', 'minItems', 'plain'],
  ['UniqueItems', 'uniqueItems', 'truth'],
  ['MultipleOf', 'multipleOf', 'plain'],
  ['Enum', 'enum', 'plain'],
  ['MaxProperties', 'maxProperties', 'plain'],
  ['MinProperties', 'minProperties', 'plain'],
  ['Required', 'required', 'plain'],
  ['Items', 'items', 'schema'],
  ['AllOf', 'allOf', 'schemas'],
  ['OneOf', 'oneOf', 'schemas'],
  ['AnyOf', 'anyOf', 'schemas'],
  ['Not', 'not', 'schema'],
  ['Properties', 'properties', 'fields'],
  ['AdditionalProperties', 'additionalProperties', 'either'],
  ['PatternProperties', 'patternProperties', 'fields'],
  ['Dependencies', 'dependencies', 'plain'],
  ['AdditionalItems', 'additionalItems', 'either'],
  ['Definitions', 'definitions', 'fields'],
  ['ExternalDocs', 'externalDocs', 'plain'],
  ['Example', 'example', 'plain'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', 'plain'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'truth'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'truth'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'plain'],
  ['XListType', 'x-kubernetes-list-type', 'plain'],
  ['XMapType', 'x-kubernetes-map-type', 'plain'],
  ['XValidations', 'x-kubernetes-validations', 'rules'],
];

const schemaForm = (schema: Tree): Tree =>
  Object.fromEntries(schemaFields.map(([name, field, shape]) => [name, valueForm(name, schema[field], shape)]));

function valueForm(name: string, value: unknown, shape: Shape): unknown {
  if (shape === 'text') return value ?? '';
  if (shape === 'truth') return value ?? false;
  if (value === undefined || value === null || shape === 'plain') return value ?? null;
  if (shape === 'rules') return listOf(value).map((rule) => ruleForm(treeOf(rule)));
  if (shape === 'schemas') return listOf(value).map((one) => schemaForm(treeOf(one)));
  if (shape === 'fields')
    return Object.fromEntries(Object.entries(treeOf(value)).map(([key, one]) => [key, schemaForm(treeOf(one))]));
  if (shape === 'either')
    return { Allows: isTree(value) || value === true, Schema: isTree(value) ? schemaForm(value) : null };
  const schema = schemaForm(treeOf(value));
  return name === 'Items' ? { Schema: schema, JSONSchemas: null } : schema;
}

/** A version of a definition; what all versions have alike is told beside them, and is null in each. */
export function versionForm(version: Tree, shared: ReadonlySet<string>): Tree {
  const own = (field: string): Tree | undefined =>
    shared.has(field) || version[field] === undefined ? undefined : treeOf(version[field]);
  const schema = own('schema')?.openAPIV3Schema;
  const columns = shared.has('additionalPrinterColumns') ? [] : listOf(version.additionalPrinterColumns).map(treeOf);
  const selectable = shared.has('selectableFields') ? [] : listOf(version.selectableFields).map(treeOf);
  return {
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: own('schema') ? { OpenAPIV3Schema: isTree(schema) ? schemaForm(schema) : null } : null,
    Subresources: subresourcesForm(own('subresources')),
    AdditionalPrinterColumns: columns.length === 0 ? null : columns.map(columnForm),
    SelectableFields: selectable.length === 0 ? null : selectable.map((field) => ({ JSONPath: field.jsonPath ?? '' })),
  };
}

const columnForm = (column: Tree): Tree => ({
  Name: column.name ?? '',
  Type: column.type ?? '',
  Format: column.format ?? '',
  Description: column.description ?? '',
  Priority: column.priority ?? 0,
  JSONPath: column.jsonPath ?? '',
});

function subresourcesForm(subresources: Tree | undefined): Tree | null {
  if (!subresources) return null;
  const { status, scale } = subresources;
  const paths = isTree(scale) && {
    SpecReplicasPath: scale.specReplicasPath ?? '',
    StatusReplicasPath: scale.statusReplicasPath ?? '',
    LabelSelectorPath: scale.labelSelectorPath ?? null,
  };
  return { Status: status === undefined ? null : {}, Scale: paths || null };
}
