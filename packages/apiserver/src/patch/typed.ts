// What keeps an applied object from being read by its schema: then nobody can tell whose its fields are.
import { isTree } from '../object.ts';
import { fieldSchema, keepsUnknown, type Schema } from '../schema/schema.ts';
import { partsOf, stepText } from './field-set.ts';

/** The real server's words, or undefined for an object that fits. `kind` is as in `example.io/v1, Kind=Widget`. */
export function typedProblem(
  object: { metadata: { name?: string } },
  schema: Schema,
  kind: string,
): string | undefined {
  const { metadata: _, ...rest } = object;
  const problems = problemsOf(rest, schema, '');
  if (problems.length === 0) return undefined;
  const said = problems.length === 1 ? problems[0] : `errors:\n  ${problems.join('\n  ')}`;
  return `failed to create typed patch object (/${object.metadata.name ?? ''}; ${kind}): ${said}`;
}

function problemsOf(value: unknown, schema: Schema, path: string): string[] {
  const parts = partsOf(value, schema) ?? [];
  const seen = new Set<string>();
  const own = parts.flatMap(({ key }) => {
    const isTwice = seen.has(key);
    seen.add(key);
    if (isTwice) return [`${path}: duplicate entries for key ${stepText(key)}`];
    const isUnknown = isTree(value) && isClosed(schema) && !fieldSchema(schema, key.slice(2));
    return isUnknown ? [`${path}${stepText(key)}: field not declared in schema`] : [];
  });
  return [...own, ...parts.flatMap((part) => problemsOf(part.value, part.schema, path + stepText(part.key)))];
}

const isClosed = (schema: Schema): boolean =>
  (schema.type === 'object' || schema.properties !== undefined) && !keepsUnknown(schema);
