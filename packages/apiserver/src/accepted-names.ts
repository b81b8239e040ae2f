// Which of the names a definition asks for it is given: those that no other definition of its group has.
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { part } from './resource.ts';

/** Names in use: those of resources (plural, singular, short), and those of kinds. */
export interface TakenNames {
  resources: Set<string>;
  kinds: Set<string>;
}

export interface Accepted {
  accepted: Tree;
  /** The last name that another has. */
  conflict: { reason: string; message: string } | undefined;
}

const single: [field: string, reason: string, of: keyof TakenNames][] = [
  ['plural', 'PluralConflict', 'resources'],
  ['singular', 'SingularConflict', 'resources'],
  ['kind', 'KindConflict', 'kinds'],
  ['listKind', 'ListKindConflict', 'kinds'],
];

/** A name that is not given leaves the one the definition had. */
export function acceptNames(definition: KubeObject, taken: TakenNames): Accepted {
  const wanted = treeOf(part(definition, 'spec').names);
  const accepted: Tree = { plural: '', kind: '', ...treeOf(part(definition, 'status').acceptedNames) };
  let conflict: Accepted['conflict'];
  const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;
  for (const [field, reason, of] of single) {
    const name = textOf(wanted[field]);
    if (name !== '' && name !== accepted[field] && taken[of].has(name)) conflict = { reason, message: inUse(name) };
    else if (name !== '') accepted[field] = name;
    if (field !== 'singular') continue;
    const lost = listOf(wanted.shortNames)
      .map(textOf)
      .filter((short) => !listOf(accepted.shortNames).includes(short) && taken.resources.has(short));
    if (lost.length > 0)
      conflict = {
        reason: 'ShortNamesConflict',
        message: lost.length === 1 ? inUse(lost[0] ?? '') : `[${lost.map(inUse).join(', ')}]`,
      };
    else setOrDrop(accepted, 'shortNames', wanted.shortNames);
  }
  setOrDrop(accepted, 'categories', wanted.categories);
  return { accepted: inOrder(accepted), conflict };
}

function setOrDrop(tree: Tree, field: string, value: unknown): void {
  if (listOf(value).length === 0) delete tree[field];
  else if (!isEqual(tree[field], value)) tree[field] = value;
}

const order = ['plural', 'singular', 'shortNames', 'kind', 'listKind', 'categories'];
const inOrder = (names: Tree): Tree =>
  Object.fromEntries(order.flatMap((field) => (names[field] === undefined ? [] : [[field, names[field]]])));
