// From our schemas to what a CRD carries: structural OpenAPI v3, with the CEL half of our rules.
import type { TSchema } from 'typebox';
import { type Rule, rulesKey } from './schema.ts';

/** A node of a structural schema (apiextensions.k8s.io/v1 JSONSchemaProps), as far as our kinds use it. */
export interface Structural {
  type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  title?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  enum?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: Structural;
  properties?: Record<string, Structural>;
  additionalProperties?: Structural;
  required?: string[];
  'x-kubernetes-list-type'?: 'map' | 'atomic' | 'set';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: CelRule[];
}

export interface CelRule {
  rule: string;
  message: string;
  fieldPath?: string;
  reason: 'FieldValueInvalid';
}

const kept = [
  'type',
  'title',
  'description',
  'default',
  'nullable',
  'enum',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
] as const;

const made = new WeakMap<TSchema, Structural>();

/**
 * `schema` as a structural schema, made once and shared: do not change it.
 * Throws when it uses a word that this knows nothing of: that would silently weaken the CRD.
 */
export function structural(schema: TSchema): Structural {
  const before = made.get(schema);
  if (before) return before;
  const node = make(schema);
  made.set(schema, node);
  return node;
}

function make(schema: TSchema): Structural {
  const given = schema as Record<string, unknown>;
  const node: Record<string, unknown> = {};
  for (const word of kept) if (given[word] !== undefined) node[word] = given[word];
  if (given['items']) node['items'] = structural(given['items'] as TSchema);
  if (given['additionalProperties'])
    node['additionalProperties'] = structural(given['additionalProperties'] as TSchema);
  if (given['properties']) Object.assign(node, fields(given));
  const rules = rulesOf(schema);
  if (rules.length > 0) node['x-kubernetes-validations'] = rules.map(celRule);
  for (const word of Object.keys(given)) {
    if (!(word in node) && word !== rulesKey && word !== 'required')
      throw new Error(`bug: no structural form of "${word}"`);
  }
  if (node['type'] === undefined) throw new Error(`bug: a structural schema needs a type: ${JSON.stringify(given)}`);
  return node as unknown as Structural;
}

export const rulesOf = (schema: object): Rule[] =>
  ((schema as Record<string, unknown>)[rulesKey] as Rule[] | undefined) ?? [];

export const celRule = ({ cel, message, field }: Rule): CelRule => ({
  rule: cel,
  message,
  ...(field === undefined ? {} : { fieldPath: field }),
  reason: 'FieldValueInvalid',
});

function fields(given: Record<string, unknown>) {
  const properties: Record<string, Structural> = {};
  for (const [name, schema] of Object.entries(given['properties'] as Record<string, TSchema>)) {
    properties[name] = structural(schema);
  }
  // Fields with a default are there once the server has read the object, so users need not write them.
  const required = ((given['required'] as string[] | undefined) ?? []).filter(
    (name) => properties[name]?.default === undefined,
  );
  return required.length > 0 ? { properties, required } : { properties };
}
