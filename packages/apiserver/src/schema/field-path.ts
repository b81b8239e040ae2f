// Paths to fields as definitions write them (`.spec.color`, `.spec['a b']`), followed through a schema.
import { fieldSchema, type Schema } from './schema.ts';

export type FoundField = { schema: Schema; names: string[] } | { problem: string };

const step = /^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\[(['"])(.*?)\2\]|(\[\d+\]))/;

/** The schema of the field at `path`, or why there is none. Elements of lists have no path: which of them would it be? */
export function fieldAt(path: string, schema: Schema): FoundField {
  let rest = path;
  let found: Schema = schema;
  const names: string[] = [];
  while (rest !== '') {
    const [whole = '', plain, , quoted, index] = step.exec(rest) ?? [];
    if (index !== undefined) return { problem: 'array notation is not allowed' };
    const name = plain ?? quoted;
    if (name === undefined) return { problem: `expected [ or . but got: ${/^[^.[]+/.exec(rest)?.[0] ?? rest}` };
    const child = fieldSchema(found, name);
    if (!child || (found.properties === undefined && found.additionalProperties === undefined))
      return { problem: 'does not refer to a valid field' };
    found = child;
    names.push(name);
    rest = rest.slice(whole.length);
  }
  return names.length === 0 ? { problem: 'must not be empty' } : { schema: found, names };
}
