// List and set functions of Kubernetes' CEL.
import type { Environment } from '@marcbachmann/cel-js';
import { isEqual } from '../object.ts';

export function addLists(environment: Environment): void {
  environment
    .registerFunction('list.isSorted(): bool', (list: unknown[]) =>
      list.every((item, i) => i === 0 || less(list[i - 1], item) <= 0),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: unknown[]) => extreme(list, -1))
    .registerFunction('list.max(): dyn', (list: unknown[]) => extreme(list, 1))
    .registerFunction('list.indexOf(dyn): int', (list: unknown[], item: unknown) =>
      BigInt(list.findIndex((one) => isSame(one, item))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: unknown[], item: unknown) =>
      BigInt(list.findLastIndex((one) => isSame(one, item))),
    )
    .registerFunction('sets_contains(list, list): bool', contains)
    .registerFunction(
      'sets_equivalent(list, list): bool',
      (a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
    )
    .registerFunction('sets_intersects(list, list): bool', (a: unknown[], b: unknown[]) =>
      a.some((item) => b.some((one) => isSame(one, item))),
    );
}

const isSame = (a: unknown, b: unknown): boolean => isEqual(a, b);
const contains = (list: unknown[], part: unknown[]): boolean =>
  part.every((item) => list.some((one) => isSame(one, item)));

function less(a: unknown, b: unknown): number {
  const [left, right] = [a as string | bigint | number, b as string | bigint | number];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sum(list: unknown[]): bigint | number {
  if (list.every((item) => typeof item === 'bigint'))
    return list.reduce<bigint>((total, item) => total + (item as bigint), 0n);
  return list.reduce<number>((total, item) => total + Number(item), 0);
}

function extreme(list: unknown[], direction: number): unknown {
  if (list.length === 0) throw new Error(`${direction < 0 ? 'min' : 'max'} called on empty list`);
  return list.reduce((best, item) => (less(item, best) === direction ? item : best));
}
