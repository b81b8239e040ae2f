// JSON merge patch, RFC 7386: null removes, objects merge, everything else replaces.
import { copyOf, isTree, put, type Tree } from '../object.ts';

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isTree(patch)) return copyOf(patch);
  const out: Tree = isTree(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    if (patch[name] === null) delete out[name];
    else put(out, name, mergePatch(Object.hasOwn(out, name) ? out[name] : undefined, patch[name]));
  }
  return out;
}
