// The schema language shared by built-in and custom kinds: the part of OpenAPI v3 that Kubernetes gives a meaning to.

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  title?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  /** A field that Go always tells, as an empty object or as null; of built-in kinds alone. */
  'x-go-always'?: 'struct' | 'null';
  [extension: `x-${string}`]: unknown;
}

/** A value that may be of any shape: what stands below a place the schema says nothing about. */
export const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of a value's field, or undefined where the schema names no such field. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  if (schema.additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields']) return anything;
  return undefined;
}

/** A map from free names to values, as against an object of named fields. */
export const isMap = (schema: Schema): boolean => schema.additionalProperties !== undefined && !schema.properties;

/** Whether fields outside the schema are kept. An object with no fields at all holds anything only where it says so. */
export const keepsUnknown = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

/** Replaces every `$ref` by the schema it names; schemas that refer to themselves become cyclic, and walks follow values, which end. */
export function link(definitions: Record<string, Schema>): Map<string, Schema> {
  const nodes = new Map<string, Schema>();
  // Two rounds: first every definition gets its node, so that a node can point at one that is not filled yet.
  for (const [name, raw] of Object.entries(definitions)) nodes.set(name, { ...raw });
  const linked = (raw: Schema): Schema => {
    if (raw.$ref) {
      const target = nodes.get(raw.$ref);
      if (!target) throw new Error(`bug: schema ${raw.$ref} is not among the definitions`);
      const { $ref: _, ...beside } = raw;
      return Object.keys(beside).length === 0 ? target : { ...target, ...beside };
    }
    const node = { ...raw };
    fill(node);
    return node;
  };
  const fill = (node: Schema): void => {
    if (node.properties) {
      for (const [name, child] of Object.entries(node.properties)) node.properties[name] = linked(child);
    }
    if (node.items) node.items = linked(node.items);
    if (typeof node.additionalProperties === 'object') node.additionalProperties = linked(node.additionalProperties);
  };
  // A node merged with what stands beside its $ref copies `properties` by reference, so each node's own object is made before any is filled.
  for (const node of nodes.values()) if (node.properties) node.properties = { ...node.properties };
  for (const node of orderedForItems(nodes, definitions)) fill(node);
  return nodes;
}

/** Definitions that are not objects (lists, maps) first: they are merged by value, so they must be whole before others copy them. */
function orderedForItems(nodes: Map<string, Schema>, definitions: Record<string, Schema>): Schema[] {
  const names = [...nodes.keys()].sort((a, b) => rank(definitions[a]) - rank(definitions[b]));
  return names.map((name) => nodes.get(name)).filter((node) => node !== undefined);
}

const rank = (schema: Schema | undefined): number => (schema?.properties ? 1 : 0);
