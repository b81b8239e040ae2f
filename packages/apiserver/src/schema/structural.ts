// Whether a schema is structural: every value's type is told outside of logic, so that pruning and defaulting know where they are.
import { forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { copyOf, isEqual } from '../object.ts';
import type { Cause } from '../status.ts';
import { patternProblem } from './pattern.ts';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

/*
   stage | finds                                                    | only when
   ------+----------------------------------------------------------+---------------------
   1     | values without a type, types inside logic, metadata      | nothing has a $ref
   2     | default values that break their own schema               | stage 1 found nothing
   3     | fields and extensions no definition may have             | always
*/

/** Everything that keeps `schema` from being a structural schema; the causes' fields begin with `path`. */
export function structuralProblems(schema: Schema, path: string): Cause[] {
  const fields = fieldProblems(schema, path);
  if (fields.some(({ field }) => field?.endsWith('.$ref'))) return fields;
  const types = typeProblems(schema, path, 'root').sort((a, b) => (text(a) < text(b) ? -1 : 1));
  return [...(types.length > 0 ? types : defaultProblems(schema, path)), ...fields];
}

const text = ({ field, message }: Cause): string => `${field ?? ''}: ${message ?? ''}`;

/** The schemas right below one, with their paths. */
function below(schema: Schema, path: string): [Schema, string, Level][] {
  const { items, additionalProperties: values } = schema;
  return [
    ...(items ? [[items, `${path}.items`, 'item'] as [Schema, string, Level]] : []),
    ...Object.entries(schema.properties ?? {}).map(([name, child]): [Schema, string, Level] => [
      child,
      `${path}.properties[${name}]`,
      'field',
    ]),
    ...(typeof values === 'object'
      ? [[values, `${path}.additionalProperties`, 'field'] as [Schema, string, Level]]
      : []),
  ];
}

type Level = 'root' | 'item' | 'field';
const untyped: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeProblems(schema: Schema, path: string, level: Level): Cause[] {
  const causes: Cause[] = [];
  const isFree =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const whole = 'must be object if x-kubernetes-embedded-resource is true';
  if (isEmbedded && schema.type !== 'object')
    causes.push(schema.type ? invalidValue(`${path}.type`, schema.type, whole) : required(`${path}.type`, whole));
  else if (!schema.type && !isFree) causes.push(required(`${path}.type`, untyped[level]));
  if (level === 'root' && schema.type && schema.type !== 'object')
    causes.push(invalidValue(`${path}.type`, schema.type, 'must be object at the root'));
  if (level === 'root' && schema.additionalProperties !== undefined)
    causes.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'));
  if (level === 'root') causes.push(...metadataProblems(schema.properties?.metadata, `${path}.properties[metadata]`));
  causes.push(...logicProblems(schema, path));
  for (const [child, at, where] of below(schema, path))
    if (!(level === 'root' && at.endsWith('.properties[metadata]'))) causes.push(...typeProblems(child, at, where));
  return causes;
}

/** Metadata is every object's own; a definition may only narrow its names. */
function metadataProblems(metadata: Schema | undefined, path: string): Cause[] {
  if (!metadata) return [];
  if (metadata.type !== 'object') return [invalidValue(`${path}.type`, metadata.type ?? '', 'must be object')];
  const { type: _, default: __, properties = {}, ...rest } = metadata;
  const isNarrow = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  if (isNarrow && Object.keys(rest).length === 0) return [];
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [forbiddenField(path, why)];
}

const inLogic: [keyof Schema, string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
];

/** Integer or text may be said by types inside anyOf, as definitions did before there was an extension for it. */
const isIntOrString = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true && isEqual(schema.anyOf, [{ type: 'integer' }, { type: 'string' }]);

function logicProblems(schema: Schema, path: string): Cause[] {
  const first = schema.allOf?.[0];
  const isAllowed = (one: Schema): boolean =>
    isIntOrString(schema)
      ? (schema.anyOf ?? []).includes(one)
      : one === first && schema['x-kubernetes-int-or-string'] === true && isIntOrString({ ...schema, ...one });
  return logicOf(schema, path).flatMap(([one, at]) => (isAllowed(one) ? [] : nestedProblems(one, at)));
}

function logicOf(schema: Schema, path: string): [Schema, string][] {
  const lists = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (schema[name] ?? []).map((one, i): [Schema, string] => [one, `${path}.${name}[${i}]`]),
  );
  return schema.not ? [...lists, [schema.not, `${path}.not`]] : lists;
}

function nestedProblems(schema: Schema, path: string): Cause[] {
  const own = inLogic
    .filter(([field]) => schema[field] !== undefined && schema[field] !== '' && schema[field] !== false)
    .map(([field, why]) => forbiddenField(`${path}.${field}`, why));
  const metadata = schema.properties?.metadata
    ? [forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
    : [];
  const deeper = [...logicOf(schema, path), ...below(schema, path)].flatMap(([one, at]) => nestedProblems(one, at));
  return [...own, ...metadata, ...deeper];
}

function defaultProblems(schema: Schema, path: string): Cause[] {
  const causes = schema.default === undefined || schema.default === null ? [] : ownDefaultProblems(schema, path);
  return [...causes, ...below(schema, path).flatMap(([child, at]) => defaultProblems(child, at))];
}

function ownDefaultProblems(schema: Schema, path: string): Cause[] {
  const pruned = copyOf(schema.default);
  if (prune(pruned, schema).length > 0)
    return [invalidValue(`${path}.default`, schema.default, 'must not have unknown fields')];
  return validate(schema.default, schema, { at: `${path}.default` });
}

const unsupportedFields = ['definitions', 'dependencies', 'patternProperties', 'additionalItems', 'id', '$ref'];
const kinds = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function fieldProblems(schema: Schema, path: string): Cause[] {
  const causes = unsupportedFields
    .filter((field) => Object.hasOwn(schema, field))
    .map((field) => forbiddenField(`${path}.${field}`, `${field} is not supported`));
  if (schema.type && !kinds.includes(schema.type)) causes.push(unsupported(`${path}.type`, schema.type, kinds));
  const why = schema.pattern === undefined ? undefined : patternProblem(schema.pattern);
  if (why !== undefined)
    causes.push(
      invalidValue(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${why}`),
    );
  if (schema.uniqueItems === true)
    causes.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (schema.properties && schema.additionalProperties !== undefined)
    causes.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  if (schema.type === 'array' && !schema.items) causes.push(required(`${path}.items`, 'must be specified'));
  causes.push(...listProblems(schema, path), ...mapProblems(schema, path));
  for (const [child, at] of [...below(schema, path), ...logicOf(schema, path)])
    causes.push(...fieldProblems(child, at));
  return causes;
}

function mapProblems(schema: Schema, path: string): Cause[] {
  const kind = schema['x-kubernetes-map-type'];
  if (kind === undefined) return [];
  return [
    ...typeFor(schema, 'object', 'x-kubernetes-map-type', path),
    ...(kind === 'atomic' || kind === 'granular'
      ? []
      : [unsupported(`${path}.x-kubernetes-map-type`, kind, ['atomic', 'granular'])]),
  ];
}

/** An extension of lists or maps stands only where the schema says that there is one. */
function typeFor(schema: Schema, type: string, extension: string, path: string): Cause[] {
  if (schema.type === type) return [];
  const why = `must be ${type} if ${extension} is specified`;
  return [schema.type ? invalidValue(`${path}.type`, schema.type, why) : required(`${path}.type`, why)];
}

function listProblems(schema: Schema, path: string): Cause[] {
  const kind = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = `${path}.x-kubernetes-list-type`;
  const onlyMaps = 'must be map if x-kubernetes-list-map-keys is non-empty';
  if (kind === undefined) return keys.length > 0 ? [required(field, onlyMaps)] : [];
  const causes = typeFor(schema, 'array', 'x-kubernetes-list-type', path);
  if (!['atomic', 'set', 'map'].includes(kind)) causes.push(unsupported(field, kind, ['atomic', 'set', 'map']));
  if (keys.length > 0 && kind !== 'map') causes.push(invalidValue(field, kind, onlyMaps));
  return kind === 'map' ? [...causes, ...keyProblems(schema, keys, path)] : causes;
}

function keyProblems(schema: Schema, keys: string[], path: string): Cause[] {
  const field = `${path}.x-kubernetes-list-map-keys`;
  const causes: Cause[] = [];
  const items = schema.items;
  if (keys.length === 0) causes.push(required(field, 'must not be empty if x-kubernetes-list-type is map'));
  if (items && items.type !== 'object')
    causes.push(
      invalidValue(
        `${path}.items.type`,
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    );
  if (keys.some((key) => !items?.properties?.[key]))
    causes.push(invalidValue(field, keys, 'entries must all be names of item properties'));
  if (new Set(keys).size < keys.length) causes.push(invalidValue(field, keys, 'must not contain duplicate entries'));
  const absent = keys.filter((key) => {
    const child = items?.properties?.[key];
    return child && child.default === undefined && !items?.required?.includes(key);
  });
  const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
  return [...causes, ...absent.map((key) => required(`${path}.items.properties[${key}].default`, why))];
}
