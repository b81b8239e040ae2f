// What a label selector (matchLabels, matchExpressions) in a spec may say.
import { forbiddenField, invalidValue, required } from '../field-error.ts';
import { labelValueProblems, qualifiedProblems, validateLabels } from '../names.ts';
import { listOf, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';

/*
   operator             | values      | is told
   ---------------------+-------------+------------------------------
   In, NotIn            | none        | Required
   Exists, DoesNotExist | any         | Forbidden
   anything else        |             | not a valid selector operator
*/

/** Why `selector` cannot be used; it is then nothing that labels could be held against. */
export function selectorCauses(selector: Tree, path: string): Cause[] {
  return [
    ...validateLabels(selector.matchLabels, `${path}.matchLabels`),
    ...listOf(selector.matchExpressions).flatMap((item, i) =>
      expressionCauses(treeOf(item), `${path}.matchExpressions[${i}]`),
    ),
  ];
}

function expressionCauses(expression: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  const values = listOf(expression.values);
  const operator = textOf(expression.operator);
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      causes.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      causes.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else causes.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  const key = textOf(expression.key);
  causes.push(...qualifiedProblems(key).map((why) => invalidValue(`${path}.key`, key, why)));
  values.forEach((value, i) =>
    causes.push(...labelValueProblems(textOf(value)).map((why) => invalidValue(`${path}.values[${i}]`, value, why))),
  );
  return causes;
}

export const isEmptySelector = (selector: Tree): boolean =>
  Object.keys(treeOf(selector.matchLabels)).length === 0 && listOf(selector.matchExpressions).length === 0;
