// The CEL environment of validation rules and match conditions: the evaluator with Kubernetes' libraries and RE2 instead of JavaScript's patterns.
import { Environment } from '@marcbachmann/cel-js';
import { addAddresses } from './addresses.ts';
import { addFormats } from './formats.ts';
import { addLists } from './lists.ts';
import { addQuantity } from './quantity.ts';
import { addText } from './text.ts';
import { addUrl } from './url.ts';

/** The environment of validation rules: `self` and `oldSelf`. */
export const ruleEnvironment = (): Environment => environmentOf(['self', 'oldSelf']);

/** An environment with these variables, of any type. */
export function environmentOf(variables: string[]): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
  });
  for (const name of variables) environment.registerVariable(name, 'dyn');
  addText(environment);
  addLists(environment);
  addFormats(environment);
  addAddresses(environment);
  addUrl(environment);
  addQuantity(environment);
  return environment;
}
