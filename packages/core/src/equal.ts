// Equality of plain data, by content. What a place gave back is compared with what we compiled by this.

/** Same content? Order of object keys does not count, order of arrays does, and an undefined field is an absent one. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  return Array.isArray(a) && Array.isArray(b) ? areArraysEqual(a, b) : areRecordsEqual(a, b);
}

const areArraysEqual = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, index) => isEqual(value, b[index]));

function areRecordsEqual(a: object, b: object): boolean {
  const left = present(a);
  const right = new Map(present(b));
  return left.length === right.size && left.every(([key, value]) => right.has(key) && isEqual(value, right.get(key)));
}

const present = (record: object): [string, unknown][] =>
  Object.entries(record).filter(([, value]) => value !== undefined);
