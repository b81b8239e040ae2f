// What Go's decoder refuses before validation starts: values of the wrong type in a built-in kind (400, not 422).
import { known, metadataSchema } from '../kinds/fields.ts';
import { isTree } from '../object.ts';
import { parseQuantity, quantityHint } from '../quantity.ts';
import { formatProblem } from './format.ts';
import { momentProblem } from './moment.ts';
import { fieldSchema, isMap, type Schema } from './schema.ts';

const microTime = known('io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime');

type Mismatch =
  | { path: string; found: string; wanted: string }
  /** A text that is not what it stands for. */
  | { problem: string };

/** The message of a built-in kind's body that does not fit its types, or undefined where it fits. */
export function decodeProblem(
  value: unknown,
  schema: Schema,
  kind: { kind: string; version: string },
): string | undefined {
  const wrong = firstMismatch(value, schema, '');
  if (!wrong) return undefined;
  if ('problem' in wrong)
    return `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${wrong.problem}`;
  const { path, found, wanted } = wrong;
  const field = path.replace(/\[\d+\]/g, '');
  return `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: json: cannot unmarshal ${found} into Go struct field ${kind.kind}.${field} of type ${wanted}`;
}

/** The same for the metadata of a custom object: the one part of it that is typed. */
export function metadataProblem(
  metadata: unknown,
  { kind, version }: { kind: string; version: string },
): string | undefined {
  const wrong = firstMismatch(metadata, metadataSchema, '');
  if (!wrong) return undefined;
  const why =
    'problem' in wrong
      ? wrong.problem
      : `json: cannot unmarshal ${wrong.found} into Go struct field ObjectMeta.${wrong.path.replace(/\[\d+\]/g, '')} of type ${wrong.wanted}`;
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`;
}

function firstMismatch(value: unknown, schema: Schema, path: string): Mismatch | undefined {
  if (value === null || value === undefined) return undefined;
  const found = foundType(value);
  const wanted = wantedType(schema);
  if (wanted && !wanted.fits.includes(found)) return { path, found: nameOf(value, found), wanted: wanted.name };
  if (typeof value === 'string') return textMismatch(value, schema);
  if (Array.isArray(value) && schema.items) {
    for (const [i, item] of value.entries()) {
      const wrong = firstMismatch(item, schema.items, `${path}[${i}]`);
      if (wrong) return wrong;
    }
  }
  return isTree(value) ? fieldMismatch(value, schema, path) : undefined;
}

function fieldMismatch(value: Record<string, unknown>, schema: Schema, path: string): Mismatch | undefined {
  for (const [name, item] of Object.entries(value)) {
    const child = fieldSchema(schema, name);
    // Go names fields, not the keys of maps.
    const below = isMap(schema) ? path : path === '' ? name : `${path}.${name}`;
    const wrong = child && firstMismatch(item, child, below);
    if (wrong) return wrong;
  }
  return undefined;
}

function textMismatch(value: string, schema: Schema): Mismatch | undefined {
  if (schema.format === 'byte' && formatProblem(value, 'byte')) {
    const at = /[^A-Za-z0-9+/]/.exec(value)?.index ?? value.length;
    return { problem: `illegal base64 data at input byte ${at}` };
  }
  if (schema.format === 'quantity' && parseQuantity(value) === undefined) return { problem: quantityHint };
  if (schema.format !== 'date-time' || value === '') return undefined;
  const problem = momentProblem(value, schema === microTime ? 'micro' : 'plain');
  return problem === undefined ? undefined : { problem };
}

function foundType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const nameOf = (value: unknown, found: string): string =>
  found === 'integer' ? 'number' : found === 'number' ? `number ${String(value)}` : found;

function wantedType(schema: Schema): { name: string; fits: string[] } | undefined {
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return undefined;
  switch (schema.type) {
    case 'integer':
      return { name: schema.format ?? 'int64', fits: ['integer'] };
    case 'number':
      return { name: 'float64', fits: ['integer', 'number'] };
    case 'boolean':
      return { name: 'bool', fits: ['bool'] };
    case 'array':
      return { name: `[]${schema.items?.type ?? 'object'}`, fits: ['array'] };
    case 'object':
      return { name: schema.properties ? 'struct' : 'map[string]string', fits: ['object'] };
    case 'string':
      // A quantity is a string in the schema, and takes a number too: the two look the same here, so numbers pass where no format is named.
      return { name: 'string', fits: schema.format === 'quantity' ? ['string', 'integer', 'number'] : ['string'] };
    default:
      return undefined;
  }
}
