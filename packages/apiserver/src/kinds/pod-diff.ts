// What of a pod's spec a change would change, as the real server tells it: lines of its own structures, three around each.
import { structuredPatch } from 'diff';
import { listOf, put, treeOf, type Tree } from '../object.ts';
import { forms } from './gen/forms.ts';

/*
   sort          | absent is | else
   --------------+-----------+----------------------------------------
   ?sort         | null      | the sort's
   []sort        | null      | each of its elements
   {}sort        | null      | each of its values, by key
   text          | ""        | itself
   number, truth | 0, false  | itself
   quantity      | "0"       | itself
   plain         | null      | itself
   a structure   | all of it absent | all of its fields
*/
const absent: Record<string, unknown> = { text: '', number: 0, truth: false, quantity: '0', plain: null };

function printed(value: unknown, sort: string): unknown {
  if (sort.startsWith('?')) return value === undefined || value === null ? null : printed(value, sort.slice(1));
  if (sort.startsWith('[]')) {
    const items = listOf(value).map((item) => printed(item, sort.slice(2)));
    return items.length > 0 ? items : null;
  }
  if (sort.startsWith('{}')) return printedMap(treeOf(value), sort.slice(2));
  if (Object.hasOwn(absent, sort)) return value ?? absent[sort];
  const tree = treeOf(value);
  return Object.fromEntries((forms[sort] ?? []).map(([name, field, inner]) => [name, printed(tree[field], inner)]));
}

function printedMap(map: Tree, sort: string): Tree | null {
  const keys = Object.keys(map).sort();
  if (keys.length === 0) return null;
  const out: Tree = {};
  for (const key of keys) put(out, key, printed(map[key], sort));
  return out;
}

/** Fields of the security context that v1 has in the spec itself. */
const ofSecurity = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

function text(value: Tree, sort: string): string {
  // Go escapes what HTML would read.
  const escaped = (mark: string): string => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(printed(value, sort), null, 1).replace(/[<>&\u2028\u2029]/g, escaped)}\n`;
}

const place = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`);

/** The unified difference between two values of the structure `sort`. */
export function formDiff(old: Tree, next: Tree, sort: string): string {
  const { hunks } = structuredPatch('', '', text(old, sort), text(next, sort), '', '', { context: 3 });
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const head = `@@ -${place(oldStart, oldLines)} +${place(newStart, newLines)} @@`;
      return `${[head, ...lines].join('\n')}\n`;
    })
    .join('');
}

const internal = (spec: Tree): Tree => {
  const moved = Object.fromEntries(ofSecurity.flatMap((field) => (field in spec ? [[field, spec[field]]] : [])));
  return { ...spec, securityContext: { ...treeOf(spec.securityContext), ...moved } };
};

export const specDiff = (old: Tree, next: Tree): string => formDiff(internal(old), internal(next), 'PodSpec');
