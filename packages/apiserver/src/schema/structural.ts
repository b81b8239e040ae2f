// Whether a schema is structural: every value's type is told outside of logic, so that pruning and defaulting know where they are.
import { forbiddenField, invalidValue, required } from '../field-error.ts';
import type { Cause } from '../status.ts';
import { compilePattern } from './pattern.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

const forbidden = [
  '$ref',
  '$schema',
  'definitions',
  'dependencies',
  'id',
  'patternProperties',
  'additionalItems',
  'deprecated',
  'discriminator',
  'readOnly',
  'writeOnly',
  'xml',
];
const kinds = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Everything that keeps `schema` from being a structural schema. */
export function structuralProblems(schema: Schema, path: string): Cause[] {
  const causes: Cause[] = [];
  if (schema.type !== 'object')
    causes.push(invalidValue(`${path}.type`, schema.type ?? '', 'must be object at the root'));
  visit(schema, path, causes, true);
  return causes;
}

function visit(schema: Schema, path: string, causes: Cause[], isRoot: boolean): void {
  for (const field of forbidden)
    if (Object.hasOwn(schema, field))
      causes.push(forbiddenField(`${path}.${field}`, 'must not be used in a structural schema'));
  if (schema.uniqueItems === true)
    causes.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  checkType(schema, path, causes);
  if (schema.pattern !== undefined && !compilePattern(schema.pattern))
    causes.push(
      invalidValue(
        `${path}.pattern`,
        schema.pattern,
        "must be a valid regular expression, but isn't: error parsing regexp",
      ),
    );
  if (schema.properties && schema.additionalProperties !== undefined)
    causes.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  if (schema.type === 'array' && !schema.items) causes.push(required(`${path}.items`, 'must be specified'));
  checkList(schema, path, causes);
  if (schema.default !== undefined) causes.push(...validate(schema.default, schema, `${path}.default`));
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (isRoot && name === 'metadata') continue;
    visit(child, `${path}.properties[${name}]`, causes, false);
  }
  if (schema.items) visit(schema.items, `${path}.items`, causes, false);
  if (typeof schema.additionalProperties === 'object')
    visit(schema.additionalProperties, `${path}.additionalProperties`, causes, false);
}

function checkType(schema: Schema, path: string, causes: Cause[]): void {
  const isFree =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.type === undefined || schema.type === '') {
    if (!isFree) causes.push(required(`${path}.type`, 'must not be empty for specified object fields'));
  } else if (!kinds.includes(schema.type)) {
    causes.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(schema.type)}: supported values: ${kinds.map((kind) => JSON.stringify(kind)).join(', ')}`,
      field: `${path}.type`,
    });
  }
  if (schema['x-kubernetes-int-or-string'] && schema.type)
    causes.push(forbiddenField(`${path}.type`, 'must be empty if x-kubernetes-int-or-string is true'));
}

function checkList(schema: Schema, path: string, causes: Cause[]): void {
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length === 0)
    causes.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'));
  for (const [i, key] of keys.entries()) {
    const child = schema.items?.properties?.[key];
    if (!child)
      causes.push(
        invalidValue(`${path}.x-kubernetes-list-map-keys[${i}]`, key, 'entries must all be names of item properties'),
      );
    else if (child.default === undefined && !schema.items?.required?.includes(key)) {
      causes.push(
        required(
          `${path}.items.properties[${key}].default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      );
    }
  }
}
