// Kubernetes' quantities (`100m`, `1.5Gi`, `2e3`): read exactly, as a number of nano-units, and written in their canonical form.
import { isTree } from './object.ts';
import { reach } from './schema/reach.ts';
import { fieldSchema, type Schema } from './schema/schema.ts';

const nano = 1_000_000_000n;
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,2})?$/;

/** What a text that is no quantity is told. */
export const quantityHint = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`;

/** The amount in nano-units, what is finer rounded away from zero; undefined where the text is no quantity. */
export function parseQuantity(text: string): bigint | undefined {
  const found = pattern.exec(text);
  if (!found) return undefined;
  const [, sign = '', digits = '', suffix = ''] = found;
  const [whole = '', fraction = ''] = digits.split('.');
  const [up, down] = scaleOf(suffix);
  const above = BigInt(whole + fraction || '0') * nano * up;
  const below = 10n ** BigInt(fraction.length) * down;
  const amount = (above + below - 1n) / below;
  return sign === '-' ? -amount : amount;
}

function scaleOf(suffix: string): [up: bigint, down: bigint] {
  if (/^[eE]./.test(suffix)) {
    const exponent = BigInt(suffix.slice(1).replace('+', ''));
    return exponent < 0n ? [1n, 10n ** -exponent] : [10n ** exponent, 1n];
  }
  if (suffix.endsWith('i')) return [1024n ** BigInt(binary.indexOf(suffix)), 1n];
  const steps = decimal.indexOf(suffix) - decimal.indexOf('');
  return steps < 0 ? [1n, 1000n ** BigInt(-steps)] : [1000n ** BigInt(steps), 1n];
}

/*
   written with | and the amount               | becomes
   -------------+------------------------------+------------------------------------------
   Ki … Ei      | 1024 or more, without a rest | the largest binary suffix that leaves no rest
   e, E         | any                          | an exponent that is a multiple of three
   anything     | any                          | the largest decimal suffix that leaves no rest
*/

/** The text of the amount as the server keeps it: `1000m` is `1`, `1024Mi` is `1Gi`; thousandths are the finest it keeps. */
export function canonicalQuantity(text: string): string {
  const exact = parseQuantity(text);
  if (exact === undefined) return text;
  if (exact === 0n) return '0';
  const size = roundedUp(exact < 0n ? -exact : exact);
  const amount = exact < 0n ? -size : size;
  if (text.endsWith('i') && size >= 1024n * nano && amount % nano === 0n) {
    const { mantissa, steps } = reduced(amount / nano, 1024n, binary.length - 1);
    return `${mantissa}${binary[steps] ?? ''}`;
  }
  const isExponential = /[eE][+-]?\d/.test(text);
  const { mantissa, steps } = reduced(amount, 1000n, isExponential ? 30 : decimal.length - 1);
  if (!isExponential) return `${mantissa}${decimal[steps] ?? ''}`;
  const exponent = (steps - decimal.indexOf('')) * 3;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

const milli = nano / 1000n;
const roundedUp = (size: bigint): bigint => ((size + milli - 1n) / milli) * milli;

function reduced(amount: bigint, base: bigint, most: number): { mantissa: bigint; steps: number } {
  let mantissa = amount;
  let steps = 0;
  while (steps < most && mantissa % base === 0n) {
    mantissa /= base;
    steps++;
  }
  return { mantissa, steps };
}

const hasQuantity = reach((schema) => schema.format === 'quantity');

/** Brings every quantity of `value` into its canonical form, in place; numbers become text. */
export function canonicalize(value: unknown, schema: Schema): void {
  if (!hasQuantity(schema)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) canonicalize(item, schema.items);
    return;
  }
  if (!isTree(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const child = fieldSchema(schema, name);
    if (!child) continue;
    if (child.format !== 'quantity') canonicalize(item, child);
    else if (typeof item === 'string' || typeof item === 'number') value[name] = canonicalQuantity(String(item));
  }
}
