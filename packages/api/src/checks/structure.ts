// The first half of every check: shape, then rules. What asks about the rest of the world comes after.
import { type Refusal, isEqual } from '@fairlead/core';
import type { Definition, Resource } from '../kind.ts';
import { structural } from '../structural.ts';
import { brokenRules } from './rules.ts';
import { checkShape } from './shape.ts';

/**
 * Fields and rules of `object`. When the shape is wrong only that is said: rules read fields, and may trust their types.
 * `old`: the object before, for rules about change.
 */
export function checkStructure(
  definition: Definition,
  object: { spec: unknown },
  old: { spec: unknown } | undefined,
): Refusal[] {
  const shape = checkShape(structural(definition.spec), object.spec, 'spec');
  return shape.length > 0 ? shape : brokenRules(definition, object, old);
}

/**
 * Did the wish stay the same? Then nothing is checked: labels, finalizers and status must remain writable though
 * the world around an object has changed since it was admitted.
 */
export const isUntouched = (object: Resource<unknown, unknown>, old: Resource<unknown, unknown> | undefined): boolean =>
  old !== undefined && isEqual(object.spec, old.spec);
