// Fills in what a user may leave out, as the API server does before admission; for files that no server has read.
import type { KindOf, Resource } from './kind.ts';
import { definitions } from './crds.ts';
import { type Structural, structural } from './structural.ts';

/** `object` as the API server would return it: what has a default is there, empty fields are gone. The object given is not changed; what is not its spec is shared with it. */
export function filled<T extends Resource<unknown, unknown>>(kind: KindOf<T>, object: T): T {
  const definition = definitions.find((d) => d.kind.plural === kind.plural && d.kind.group === kind.group);
  if (!definition) throw new Error(`bug: ${kind.plural}.${kind.group} is none of our kinds`);
  const spec = copyOf(object.spec);
  fill(structural(definition.spec), spec);
  return { ...object, spec };
}

/** Of JSON; several times faster than structuredClone, and admission asks for two with each write. */
function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copyOf(field)])) as T;
}

function fill(schema: Structural, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) if (schema.items) fill(schema.items, item);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    // A null where null is not allowed counts as absent: `cis:` with nothing after it gets its default, `tls:` goes.
    if (object[name] === null && field.nullable !== true) delete object[name];
    if (object[name] === undefined && field.default !== undefined) object[name] = copyOf(field.default);
    fill(field, object[name]);
  }
}
