// Quantities (`100m`, `1.5Gi`, `2e3`) of Kubernetes' CEL, exact: a number of nano-units.
import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity, quantityHint } from '../quantity.ts';

class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const nano = 1_000_000_000n;

export function addQuantity(environment: Environment): void {
  environment
    .registerType('kubernetes.Quantity', { ctor: Quantity, fields: {} })
    .registerOperator('kubernetes.Quantity == kubernetes.Quantity', (a: Quantity, b: Quantity) => a.nanos === b.nanos)
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
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
  const amount = parseQuantity(text);
  if (amount === undefined) throw new Error(quantityHint);
  return new Quantity(amount);
}

function asInteger(quantity: Quantity): bigint {
  if (quantity.nanos % nano !== 0n) throw new Error('cannot convert value to integer');
  return quantity.nanos / nano;
}
