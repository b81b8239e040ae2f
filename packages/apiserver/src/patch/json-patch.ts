// JSON patch, RFC 6902, with a failure told as a message instead of thrown.
import * as library from 'fast-json-patch';
import { copyOf, isTree, type Tree } from '../object.ts';

// The package is CommonJS: node puts its exports under `default`, bundlers put them beside it.
const { applyPatch, JsonPatchError, unescapePathComponent } =
  'default' in library ? (library.default as typeof library) : library;
const most = 10_000;
// Looked up in a set: the library looks up `toString` and `__proto__` in an object, and calls what it finds.
const words = new Set<unknown>(['add', 'remove', 'replace', 'move', 'copy', 'test']);

export type Patched = { ok: true; value: unknown } | { ok: false; code: number; message: string };

export function applyJsonPatch(target: unknown, operations: unknown): Patched {
  if (!Array.isArray(operations))
    return {
      ok: false,
      code: 400,
      message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    };
  if (operations.length > most) {
    return {
      ok: false,
      code: 413,
      message: `Request entity too large: The allowed maximum operations in a JSON patch is ${most}, got ${operations.length}`,
    };
  }
  const malformed = operations.find((one) => !isTree(one) || !words.has(one.op) || typeof one.path !== 'string');
  if (malformed !== undefined) return { ok: false, code: 422, message: rejected };
  try {
    // The library mutates its target even when a later operation fails, so it gets a copy.
    let value: unknown = copyOf(target);
    for (const operation of operations as library.Operation[])
      value = applyPatch(value, [asMeant(value, operation)], true, true, true).newDocument;
    return { ok: true, value };
  } catch (error) {
    return failureOf(error);
  }
}

/** Against the RFC, what replaces a field that is not there adds it. */
function asMeant(document: unknown, operation: library.Operation): library.Operation {
  if (operation.op !== 'replace') return operation;
  const steps = operation.path.split('/').slice(1).map(unescapePathComponent);
  const last = steps.pop();
  const owner = steps.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as Tree)[step] : undefined),
    document,
  );
  return last !== undefined && isTree(owner) && !Object.hasOwn(owner, last) ? { ...operation, op: 'add' } : operation;
}

const rejected = 'the server rejected our request due to an error in our request';

function failureOf(error: unknown): Patched {
  if (!(error instanceof JsonPatchError)) throw error;
  return { ok: false, code: 422, message: rejected };
}
