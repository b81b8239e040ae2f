// Which schemas have something further down: most parts of a built-in kind have no default and no enum, and are not walked for them.
import type { Schema } from './schema.ts';

/** Whether `schema`, or a schema below it, is such that `isWanted`. Remembered by schema; schemas may point at themselves. */
export function reach(isWanted: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const known = new WeakMap<Schema, boolean>();

  function leads(schema: Schema, seen: Set<Schema>): boolean {
    const found = known.get(schema);
    if (found !== undefined) return found;
    // Looked into already, or being looked into further up: either way the answer will come from there.
    if (seen.has(schema)) return false;
    seen.add(schema);
    if (!isWanted(schema) && !below(schema).some((child) => leads(child, seen))) return false;
    known.set(schema, true);
    return true;
  }

  return (schema) => {
    const seen = new Set<Schema>();
    const found = leads(schema, seen);
    // Nothing wanted is below any that was seen, or the search would have ended there.
    if (!found) for (const one of seen) known.set(one, false);
    return found;
  };
}

function below(schema: Schema): Schema[] {
  const children = Object.values(schema.properties ?? {});
  if (schema.items) children.push(schema.items);
  if (typeof schema.additionalProperties === 'object') children.push(schema.additionalProperties);
  return children;
}
