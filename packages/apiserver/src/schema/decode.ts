// What Go's decoder refuses before validation starts: values of the wrong type in a built-in kind (400, not 422).
import { known, metadataSchema } from '../kinds/fields.ts';
import { isTree, type Tree } from '../object.ts';
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
  const why = mismatchText(value, schema, kind.kind);
  return why && `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`;
}

/** The decoder's own words. */
export function mismatchText(value: unknown, schema: Schema, kind: string): string | undefined {
  const wrong = firstMismatch(value, schema);
  if (!wrong) return undefined;
  if ('problem' in wrong) return wrong.problem;
  const field = wrong.path.replace(/\[\d+\]/g, '');
  return `json: cannot unmarshal ${wrong.found} into Go struct field ${kind}.${field} of type ${wrong.wanted}`;
}

/** The same for the metadata of a custom object: the one part of it that is typed. */
export function metadataProblem(
  metadata: unknown,
  { kind, version }: { kind: string; version: string },
): string | undefined {
  const wrong = firstMismatch(metadata, metadataSchema);
  if (!wrong) return undefined;
  const why =
    'problem' in wrong
      ? wrong.problem
      : `json: cannot unmarshal ${wrong.found} into Go struct field ObjectMeta.${wrong.path.replace(/\[\d+\]/g, '')} of type ${wrong.wanted}`;
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`;
}

// Nobody's object is as deep as this where its types are known; what is, is refused for that.
const deepest = 500;

/** Its path is put together on the way back: mostly there is nothing to tell. */
function firstMismatch(value: unknown, schema: Schema, left = deepest): Mismatch | undefined {
  if (value === null || value === undefined || left === 0) return undefined;
  const found = foundType(value);
  const type = wantedType(schema);
  if (type && !type.fits.includes(found)) return { path: '', found: nameOf(value, found), wanted: type.name };
  if (typeof value === 'string') return textMismatch(value, schema);
  if (Array.isArray(value)) return itemMismatch(value, schema, left - 1);
  return isTree(value) ? fieldMismatch(value, schema, left - 1) : undefined;
}

function itemMismatch(value: unknown[], { items }: Schema, left: number): Mismatch | undefined {
  if (!items) return undefined;
  for (const [i, item] of value.entries()) {
    const wrong = firstMismatch(item, items, left);
    if (wrong) return below(`[${i}]`, wrong);
  }
  return undefined;
}

function fieldMismatch(value: Tree, schema: Schema, left: number): Mismatch | undefined {
  for (const name of Object.keys(value)) {
    const child = fieldSchema(schema, name);
    const wrong = child && firstMismatch(value[name], child, left);
    // Go names fields, not the keys of maps.
    if (wrong) return isMap(schema) ? wrong : below(name, wrong);
  }
  return undefined;
}

function below(step: string, wrong: Mismatch): Mismatch {
  if ('problem' in wrong) return wrong;
  const { path } = wrong;
  return { ...wrong, path: path === '' || path.startsWith('[') ? step + path : `${step}.${path}` };
}

function textMismatch(value: string, schema: Schema): Mismatch | undefined {
  if (schema.format === 'byte' && formatProblem(value, 'byte')) {
    return { problem: `illegal base64 data at input byte ${firstIllegal(value)}` };
  }
  if (schema.format === 'quantity' && parseQuantity(value) === undefined) return { problem: quantityHint };
  if (schema.format !== 'date-time' || value === '') return undefined;
  const problem = momentProblem(value, schema === microTime ? 'micro' : 'plain');
  return problem === undefined ? undefined : { problem };
}

/** Where base64 goes wrong: at a stray byte, or, when it breaks off, at the group of four that is not whole. */
function firstIllegal(text: string): number {
  const stray = /[^A-Za-z0-9+/\r\n]/.exec(text)?.index;
  return stray ?? Math.floor(text.length / 4) * 4;
}

function foundType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const nameOf = (value: unknown, found: string): string =>
  found === 'integer' ? 'number' : found === 'number' ? `number ${String(value)}` : found;

interface Wanted {
  name: string;
  fits: string[];
}

const wanted = new WeakMap<Schema, Wanted | 'any'>();

/** What values of a schema have to be; undefined where they may be anything. */
function wantedType(schema: Schema): Wanted | undefined {
  let found = wanted.get(schema);
  if (found === undefined) wanted.set(schema, (found = wantedBy(schema) ?? 'any'));
  return found === 'any' ? undefined : found;
}

function wantedBy(schema: Schema): Wanted | undefined {
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
