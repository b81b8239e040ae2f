// The names a definition gives its kind, in its spec and as accepted: which are refused.
import { invalidValue, required } from './field-error.ts';
import { dns1035Problems } from './names.ts';
import { listOf, textOf, type Tree } from './object.ts';
import type { Cause } from './status.ts';

const needed = ['plural', 'singular', 'kind', 'listKind'];

/** What is wrong with `names`, which stand at `path`. */
export function namesProblems(names: Tree, path: string): Cause[] {
  const kind = textOf(names.kind);
  return [
    ...needed.filter((field) => textOf(names[field]) === '').map((field) => required(`${path}.${field}`)),
    ...['plural', 'singular'].flatMap((field) => labelProblems(names[field], `${path}.${field}`)),
    ...['kind', 'listKind'].flatMap((field) => kindProblems(names[field], `${path}.${field}`)),
    ...listOf(names.shortNames).flatMap((name, i) => labelProblems(name, `${path}.shortNames[${i}]`)),
    ...(kind !== '' && kind === names.listKind
      ? [invalidValue(`${path}.listKind`, kind, 'kind and listKind may not be the same')]
      : []),
    ...listOf(names.categories).flatMap((name, i) => labelProblems(name, `${path}.categories[${i}]`)),
  ];
}

function labelProblems(name: unknown, path: string): Cause[] {
  if (textOf(name) === '' && !path.endsWith(']')) return [];
  const problems = dns1035Problems(textOf(name));
  return problems.length === 0 ? [] : [invalidValue(path, name, problems.join(','))];
}

function kindProblems(name: unknown, path: string): Cause[] {
  const problems = textOf(name) === '' ? [] : dns1035Problems(textOf(name).toLowerCase());
  if (problems.length === 0) return [];
  return [invalidValue(path, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}
