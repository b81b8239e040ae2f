// Cells of policies and their bindings: what their parameters are.
import { isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part } from '../resource.ts';

export function paramKind(object: KubeObject): string {
  const { paramKind: kind } = part(object, 'spec');
  return isTree(kind) ? `${textOf(kind.apiVersion)}/${textOf(kind.kind)}` : '<unset>';
}

export function paramRef(object: KubeObject): string {
  const { paramRef: ref } = part(object, 'spec');
  if (!isTree(ref)) return '<unset>';
  if (textOf(ref.name) !== '') return `${textOf(ref.namespace) || '*'}/${textOf(ref.name)}`;
  return isTree(ref.selector) ? selectorForm(ref.selector) : '<unset>';
}

/** A selector as Go prints it, which is what the real server shows. */
function selectorForm(selector: Tree): string {
  const labels = treeOf(selector.matchLabels);
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${textOf(labels[key])},`);
  const requirements = listOf(selector.matchExpressions)
    .map(treeOf)
    .map(
      ({ key, operator, values }) =>
        `LabelSelectorRequirement{Key:${textOf(key)},Operator:${textOf(operator)},Values:[${listOf(values).join(' ')}],},`,
    );
  return `&LabelSelector{MatchLabels:map[string]string{${pairs.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`;
}
