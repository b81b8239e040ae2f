// Why a JSON patch does not apply, in the words of the real server's library, which reach whoever owns the patch.
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { applyJsonPatch } from './json-patch.ts';

/** The first operation that does not fit `target`, and why; undefined when there is none. */
export function jsonPatchProblem(target: unknown, operations: unknown): string | undefined {
  let value = target;
  for (const one of listOf(operations)) {
    const operation = treeOf(one);
    const next = applyJsonPatch(value, [one]);
    if (!next.ok) return problemOf(value, operation);
    value = next.value;
  }
  return undefined;
}

const missing = 'missing value';
const invalidIndex = (index: string): string => `Unable to access invalid index: ${index}: invalid index referenced`;

function problemOf(target: unknown, operation: Tree): string {
  const op = textOf(operation.op);
  const path = textOf(operation.path);
  const from = textOf(operation.from);
  switch (op) {
    case 'add':
      return adding(target, path, `add operation does not apply: doc is missing path: "${path}"`, 'add');
    case 'remove':
      if (!parentOf(target, path)) return `remove operation does not apply: doc is missing path: "${path}": ${missing}`;
      return `error in remove for path: '${path}': ${removing(target, path)}`;
    case 'replace':
      if (!parentOf(target, path)) return `replace operation does not apply: doc is missing path: ${path}: ${missing}`;
      return `replace operation does not apply: doc is missing key: ${path}: ${missing}`;
    case 'test':
      if (!parentOf(target, path)) return `test operation does not apply: is missing path: ${path}: ${missing}`;
      return `testing value ${path} failed: test failed`;
    case 'move':
      if (!parentOf(target, from))
        return `move operation does not apply: doc is missing from path: ${from}: ${missing}`;
      if (lacks(target, from)) return `error in move for path: '${lastOf(from)}': ${removing(target, from)}`;
      return adding(target, path, `move operation does not apply: doc is missing destination path: ${path}`, 'move');
    case 'copy':
      if (!parentOf(target, from))
        return `copy operation does not apply: doc is missing from path: ${from}: ${missing}`;
      if (lacks(target, from)) return `error in copy for from: '${from}': ${removing(target, from)}`;
      return adding(target, path, `copy operation does not apply: doc is missing destination path: ${path}`, 'copy');
    default:
      return `Unexpected kind: ${op || 'unknown'}`;
  }
}

function adding(target: unknown, path: string, lacking: string, op: string): string {
  const parent = parentOf(target, path);
  if (!parent) return `${lacking}: ${missing}`;
  const about = op === 'copy' ? 'error while adding value during copy' : `error in ${op} for path: '${path}'`;
  return `${about}: ${indexProblem(lastOf(path)) ?? invalidIndex(lastOf(path))}`;
}

const removing = (target: unknown, path: string): string =>
  Array.isArray(parentOf(target, path))
    ? (unreadIndex(lastOf(path)) ?? invalidIndex(lastOf(path)))
    : `Unable to remove nonexistent key: ${lastOf(path)}: ${missing}`;

const unreadIndex = (key: string): string | undefined =>
  /^[+-]?\d+$/.test(key) ? undefined : `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`;

function indexProblem(key: string): string | undefined {
  const unread = unreadIndex(key);
  return unread && `value was not a proper array index: '${key}': ${unread}`;
}

const partsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
const lastOf = (path: string): string => partsOf(path).at(-1) ?? '';

/** The object or list that `path` leads into. */
function parentOf(target: unknown, path: string): Tree | unknown[] | undefined {
  let value = target;
  for (const key of partsOf(path).slice(0, -1)) value = valueIn(value, key);
  return Array.isArray(value) || isTree(value) ? value : undefined;
}

const lacks = (target: unknown, path: string): boolean => valueIn(parentOf(target, path), lastOf(path)) === undefined;

function valueIn(owner: unknown, key: string): unknown {
  if (Array.isArray(owner)) return /^\d+$/.test(key) ? owner[Number(key)] : undefined;
  return isTree(owner) && Object.hasOwn(owner, key) ? owner[key] : undefined;
}
