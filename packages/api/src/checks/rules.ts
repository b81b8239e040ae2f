// The rules that stand beside the fields, run without CEL: the same walk over an object as the API server makes.
import { type Refusal, refusal } from '@fairlead/core';
import type { TSchema } from 'typebox';
import type { Definition } from '../kind.ts';
import type { Rule } from '../schema.ts';
import { rulesOf, structural } from '../structural.ts';
import { keyOf } from './shape.ts';

/** Rules of the kind that `object` breaks; those about change only where there is an `old`. Its fields must fit the schema. */
export function brokenRules(
  definition: Definition,
  object: { spec: unknown },
  old: { spec: unknown } | undefined,
): Refusal[] {
  return [
    ...walk(definition.spec, { self: object.spec, old: old?.spec, path: 'spec' }),
    ...judge(definition.rules as Rule[], { self: object, old, path: '' }),
  ];
}

interface Spot {
  self: unknown;
  /** The same place in the object before; undefined when it is new. */
  old: unknown;
  path: string;
}

function walk(schema: TSchema, spot: Spot): Refusal[] {
  if (spot.self === undefined || spot.self === null) return [];
  const problems = judge(rulesOf(schema), spot);
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  for (const [name, field] of Object.entries(properties ?? {})) {
    const old = (spot.old as Record<string, unknown> | undefined | null)?.[name];
    const self = (spot.self as Record<string, unknown>)[name];
    problems.push(...walk(field, { self, old, path: `${spot.path}.${name}` }));
  }
  if (items && Array.isArray(spot.self)) problems.push(...walkList(schema, items, spot));
  return problems;
}

/** An element is the same as one before when its keys are; in lists without keys nothing is. */
function walkList(schema: TSchema, items: TSchema, { self, old, path }: Spot): Refusal[] {
  const list = structural(schema);
  const before = new Map((Array.isArray(old) ? old : []).map((item: unknown) => [keyOf(list, item), item]));
  before.delete(undefined);
  return (self as unknown[]).flatMap((item, i) =>
    walk(items, { self: item, old: before.get(keyOf(list, item)), path: `${path}[${i}]` }),
  );
}

function judge(rules: Rule[], { self, old, path }: Spot): Refusal[] {
  return rules
    .filter((rule) => (rule.onChange ? old !== undefined && old !== null : true) && !rule.holds(self, old))
    .map(({ message, zh, field = '' }) =>
      refusal('invalid', { en: message, zh }, `${path}${field}`.replace(/^\./, '')),
    );
}
