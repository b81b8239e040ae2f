// Quantities (`100m`, `1.5Gi`, `2e3`) of Kubernetes' CEL, exact: a number of nano-units.
import type { Environment } from '@marcbachmann/cel-js';

class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const nano = 1_000_000_000n;
const scales: Record<string, [bigint, bigint]> = {
  n: [1n, nano],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [1000n ** 2n, 1n],
  G: [1000n ** 3n, 1n],
  T: [1000n ** 4n, 1n],
  P: [1000n ** 5n, 1n],
  E: [1000n ** 6n, 1n],
  Ki: [1024n, 1n],
  Mi: [1024n ** 2n, 1n],
  Gi: [1024n ** 3n, 1n],
  Ti: [1024n ** 4n, 1n],
  Pi: [1024n ** 5n, 1n],
  Ei: [1024n ** 6n, 1n],
};
const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,2})?$/;

export function addQuantity(environment: Environment): void {
  environment
    .registerType('kubernetes.Quantity', { ctor: Quantity, fields: {} })
    .registerOperator('kubernetes.Quantity == kubernetes.Quantity', (a: Quantity, b: Quantity) => a.nanos === b.nanos)
    .registerFunction('isQuantity(string): bool', (text: string) => pattern.test(text))
    .registerFunction('quantity(string): kubernetes.Quantity', quantityOf)
    .registerFunction(
      'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
      (a: Quantity, b: Quantity) => a.nanos > b.nanos,
    )
    .registerFunction(
      'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool',
      (a: Quantity, b: Quantity) => a.nanos < b.nanos,
    )
    .registerFunction('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (a: Quantity, b: Quantity) =>
      a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n,
    )
    .registerFunction(
      'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity',
      (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos),
    )
    .registerFunction(
      'kubernetes.Quantity.add(int): kubernetes.Quantity',
      (a: Quantity, b: bigint) => new Quantity(a.nanos + b * nano),
    )
    .registerFunction(
      'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity',
      (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos),
    )
    .registerFunction(
      'kubernetes.Quantity.sub(int): kubernetes.Quantity',
      (a: Quantity, b: bigint) => new Quantity(a.nanos - b * nano),
    )
    .registerFunction('kubernetes.Quantity.sign(): int', (a: Quantity) => (a.nanos > 0n ? 1n : a.nanos < 0n ? -1n : 0n))
    .registerFunction('kubernetes.Quantity.isInteger(): bool', (a: Quantity) => a.nanos % nano === 0n)
    .registerFunction('kubernetes.Quantity.asInteger(): int', asInteger)
    .registerFunction(
      'kubernetes.Quantity.asApproximateFloat(): double',
      (a: Quantity) => Number(a.nanos) / Number(nano),
    );
}

function quantityOf(text: string): Quantity {
  const found = pattern.exec(text);
  if (!found)
    throw new Error(`quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`);
  const [, sign = '', digits = '', suffix = ''] = found;
  const [whole = '', fraction = ''] = digits.split('.');
  const [up, down] = scaleOf(suffix);
  const scaled = (BigInt(whole + fraction || '0') * nano * up) / (10n ** BigInt(fraction.length) * down);
  return new Quantity(sign === '-' ? -scaled : scaled);
}

function scaleOf(suffix: string): [bigint, bigint] {
  const known = scales[suffix];
  if (known) return known;
  const exponent = Number(suffix.slice(1));
  return exponent < 0 ? [1n, 10n ** BigInt(-exponent)] : [10n ** BigInt(exponent), 1n];
}

function asInteger(quantity: Quantity): bigint {
  if (quantity.nanos % nano !== 0n) throw new Error('cannot convert value to integer');
  return quantity.nanos / nano;
}
