// Validating admission policies. They are made once for the whole chapter: a server takes its time to see them.
import { arranged, type Ask, type Case, type Chapter, post } from '../case.ts';
import { changed, configMap, definition } from '../objects.ts';
import { binding, bindingsAt, bound, judge, policiesAt, policy, seen } from '../policies.ts';
import { registration } from './policy-kinds.ts';
import { cookbook } from './policy-cookbook.ts';
import { parameters } from './policy-params.ts';
import { scopes } from './policy-scopes.ts';
import { words } from './policy-words.ts';

const trials = { ...words, ...scopes, ...parameters, ...cookbook };

const parameter = (name: string, a: string): Ask =>
  arranged(
    post(
      '/api/v1/namespaces/default/configmaps',
      changed(configMap(`${name}.<group>`, { data: { a } }), { 'metadata.labels': { parameter: '<group>' } }),
    ),
  );
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const widgets = definition(free, {
  'spec.versions.1': {
    name: 'v2',
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: free } } },
  },
});

const judging = Object.entries(trials).map(([name, { rule: says, steps = [judge(name)] }]): Case => ({
  name: says,
  steps,
}));

export const policies: Chapter = {
  name: 'policy',
  before: [
    post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets),
    {
      ...arranged(
        post('/apis/<group>/v2/namespaces/default/widgets?dryRun=All', {
          apiVersion: '<group>/v2',
          kind: 'Widget',
          metadata: { name: 'w' },
        }),
      ),
      until: { status: 201 },
      mayFail: true,
    },
    parameter('one', '1'),
    parameter('two', '1'),
    ...Object.entries(trials).flatMap(([name, trial]) => bound(name, trial.policy, trial.binding)),
    arranged(post(policiesAt, policy('unbound'))),
    arranged(post(bindingsAt, binding('gone'))),
    ...seen,
  ],
  cases: [
    ...judging,
    { name: 'a policy that nothing binds judges nothing', steps: [judge('unbound')] },
    { name: 'a binding of a policy that is not there is taken', steps: [judge('gone')] },
    ...registration,
  ],
};
