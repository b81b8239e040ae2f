// What a strategic merge patch cannot ask for: directives there are not, and list elements that nothing tells apart.
import { plainText, typeText } from '../go-text.ts';
import { isTree, textOf, type Tree } from '../object.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { badRequest, unexplained, type Status } from '../status.ts';

/** Why `patch` cannot be merged into `target`; undefined where it can. What the target has nothing of is taken as it is. */
export function strategicProblem(target: unknown, patch: unknown, schema: Schema): Status | undefined {
  if (!isTree(patch)) return undefined;
  if (Object.hasOwn(patch, '$patch')) return directiveProblem(patch, ['replace', 'delete']);
  const malformed = formProblem(patch);
  if (malformed) return badRequest(`invalid patch format of ${malformed}`);
  for (const name of Object.keys(patch)) {
    const field = fieldSchema(schema, name) ?? {};
    const [found, value] = [isTree(target) ? target[name] : undefined, patch[name]];
    const problem =
      Array.isArray(found) && Array.isArray(value)
        ? listProblem(found, value, field)
        : isTree(found) && !hasStrategy(field, 'replace')
          ? strategicProblem(found, value, field)
          : undefined;
    if (problem) return problem;
  }
  return undefined;
}

const hasStrategy = (schema: Schema, word: string): boolean =>
  textOf(schema['x-kubernetes-patch-strategy']).split(',').includes(word);

function directiveProblem(patch: Tree, known: string[]): Status | undefined {
  if (known.includes(textOf(patch['$patch']))) return undefined;
  return unexplained(`unknown patch type: ${plainText(patch['$patch'])} in map: ${plainText(patch)}`);
}

/** The directive whose value is not what it takes, in the real server's words. */
function formProblem(patch: Tree): string | undefined {
  const keys = patch['$retainKeys'];
  const said = Object.keys(patch).filter((name) => !name.startsWith('$'));
  if (keys !== undefined && !(Array.isArray(keys) && said.every((name) => keys.includes(name)))) return 'retainKeys';
  const isNoList = (prefix: string) => (name: string) => name.startsWith(prefix) && !Array.isArray(patch[name]);
  if (Object.keys(patch).some(isNoList('$deleteFromPrimitiveList/'))) return 'primitive list';
  return Object.keys(patch).some(isNoList('$setElementOrder/')) ? 'setElementOrder list' : undefined;
}

function listProblem(found: unknown[], patch: unknown[], schema: Schema): Status | undefined {
  const key = schema['x-kubernetes-patch-merge-key'];
  if (!hasStrategy(schema, 'merge') || key === undefined) return undefined;
  const stray = patch.find((item) => !isTree(item));
  if (stray !== undefined) return unexplained(`expected a map[string]interface {}, but received a ${typeText(stray)}`);
  const items = patch.filter(isTree);
  const special = items.filter((item) => Object.hasOwn(item, '$patch'));
  for (const item of special) {
    if (item['$patch'] === 'merge') return unexplained('merging lists cannot yet be specified in the patch');
    const problem =
      directiveProblem(item, ['replace', 'delete']) ??
      (item['$patch'] === 'delete' ? keyProblem(item, key) : undefined);
    if (problem) return problem;
  }
  if (special.some((item) => item['$patch'] === 'replace')) return undefined;
  for (const item of items.filter((one) => !special.includes(one))) {
    const old = found.find((one) => isTree(one) && one[key] === item[key]);
    const problem = keyProblem(item, key) ?? strategicProblem(old, item, schema.items ?? {});
    if (problem) return problem;
  }
  return undefined;
}

const keyProblem = (item: Tree, key: string): Status | undefined =>
  Object.hasOwn(item, key)
    ? undefined
    : unexplained(`map: ${plainText(item)} does not contain declared merge key: ${key}`);
