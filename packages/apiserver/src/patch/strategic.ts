// Strategic merge patch: a merge patch that knows the merge keys of lists, and takes directives.
import { copyOf, isEqual, isTree, put, textOf, type Tree } from '../object.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';

/*
   directive in the patch               | does
   -------------------------------------+------------------------------------------------------
   $patch: replace                      | the object or list becomes what the patch says
   $patch: delete                       | the object, or the list element with this key, goes
   $retainKeys: [a, b]                  | fields not named go before merging
   $deleteFromPrimitiveList/<list>      | these values go from the list
   $setElementOrder/<list>              | the order of the merged list
*/
export function strategicMerge(target: unknown, patch: unknown, schema: Schema): unknown {
  if (!isTree(patch)) return copyOf(patch);
  if (patch.$patch === 'replace') return withoutDirectives(patch);
  if (patch.$patch === 'delete') return {};
  const out: Tree = isTree(target) ? { ...target } : {};
  retainKeys(out, patch.$retainKeys);
  for (const name of Object.keys(patch)) {
    if (name.startsWith('$deleteFromPrimitiveList/')) dropValues(out, name.slice(name.indexOf('/') + 1), patch[name]);
  }
  for (const name of Object.keys(patch)) {
    if (name.startsWith('$')) continue;
    const child = fieldSchema(schema, name) ?? {};
    mergeField({ out, name, value: patch[name], schema: child, order: patch[`$setElementOrder/${name}`] });
  }
  for (const name of Object.keys(patch)) {
    // An order alone, with nothing else said of the list, still sorts it.
    if (!name.startsWith('$setElementOrder/')) continue;
    const list = name.slice(name.indexOf('/') + 1);
    if (!Object.hasOwn(patch, list) && Array.isArray(out[list])) {
      out[list] = inOrder(out[list], patch[name], (fieldSchema(schema, list) ?? {})['x-kubernetes-patch-merge-key']);
    }
  }
  return out;
}

interface Field {
  out: Tree;
  name: string;
  value: unknown;
  schema: Schema;
  order: unknown;
}

function mergeField({ out, name, value, schema, order }: Field): void {
  if (value === null) {
    delete out[name];
    return;
  }
  const found = Object.hasOwn(out, name) ? out[name] : undefined;
  const merges = textOf(schema['x-kubernetes-patch-strategy']).split(',').includes('merge');
  if (Array.isArray(value))
    put(
      out,
      name,
      merges ? mergeList(Array.isArray(found) ? found : [], value, schema, order) : withoutDirectives(value),
    );
  else if (isTree(value) && value.$patch === 'delete') delete out[name];
  else if (textOf(schema['x-kubernetes-patch-strategy']).split(',').includes('replace'))
    put(out, name, withoutDirectives(value));
  else put(out, name, isTree(value) ? strategicMerge(found, value, schema) : value);
}

function mergeList(found: unknown[], patch: unknown[], schema: Schema, order: unknown): unknown[] {
  if (patch.some((item) => isTree(item) && item.$patch === 'replace'))
    return withoutDirectives(patch.filter((item) => !(isTree(item) && item.$patch === 'replace'))) as unknown[];
  const key = schema['x-kubernetes-patch-merge-key'];
  if (!key) {
    const merged = [...found, ...patch.filter((item) => !found.some((one) => isEqual(one, item)))];
    return inOrder(interleaved(merged, patch, found, isEqual), order, key);
  }
  let out = [...found];
  for (const item of patch) {
    if (!isTree(item)) continue;
    const at = out.findIndex((one) => isTree(one) && isEqual(one[key], item[key]));
    if (item.$patch === 'delete') out = out.filter((one) => !(isTree(one) && isEqual(one[key], item[key])));
    else if (at < 0) out.push(strategicMerge({}, item, schema.items ?? {}));
    else out[at] = strategicMerge(out[at], item, schema.items ?? {});
  }
  const isSame = (a: unknown, b: unknown) => isTree(a) && isTree(b) && isEqual(a[key], b[key]);
  return inOrder(interleaved(out, patch, found, isSame), order, key);
}

/**
 * The merged list as the real server leaves it: what the patch names in the patch's order, and each of the others before
 * the first named one that came after it.
 */
function interleaved(
  merged: unknown[],
  patch: unknown[],
  before: unknown[],
  isSame: (a: unknown, b: unknown) => boolean,
): unknown[] {
  const rank = (list: unknown[], item: unknown) => list.findIndex((one) => isSame(one, item));
  const named = merged.filter((item) => rank(patch, item) >= 0).sort((a, b) => rank(patch, a) - rank(patch, b));
  const others = merged.filter((item) => rank(patch, item) < 0);
  const out: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const [left, right] = [rank(before, others[0]), rank(before, named[0])];
    out.push(left >= 0 && right >= 0 && left < right ? others.shift() : named.shift());
  }
  return [...out, ...others, ...named];
}

/** Elements named by the order take its order, in the places such elements have; others stay where they are. */
function inOrder(list: unknown[], order: unknown, key: string | undefined): unknown[] {
  if (!Array.isArray(order)) return list;
  const rank = (item: unknown) =>
    order.findIndex((one) => (key && isTree(one) && isTree(item) ? isEqual(one[key], item[key]) : isEqual(one, item)));
  const named = list.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  return list.map((item) => (rank(item) >= 0 ? named.shift() : item));
}

function retainKeys(out: Tree, keys: unknown): void {
  if (!Array.isArray(keys)) return;
  for (const name of Object.keys(out)) if (!keys.includes(name)) delete out[name];
}

function dropValues(out: Tree, name: string, values: unknown): void {
  if (Array.isArray(out[name]) && Array.isArray(values))
    out[name] = out[name].filter((item) => !values.some((one) => isEqual(one, item)));
}

/** What is set whole must not keep directives as if they were fields. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isTree(value)) return value;
  const out: Tree = {};
  for (const name of Object.keys(value)) if (!name.startsWith('$')) put(out, name, withoutDirectives(value[name]));
  return out;
}
