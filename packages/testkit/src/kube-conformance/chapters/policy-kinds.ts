// The kinds ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding: what they are given, and what is refused.
import { arranged, type Case, get, type Json, patch, post, put, type Tree } from '../case.ts';
import { rbac, type Changes } from '../objects.ts';
import { binding as bindingOf, bindingsAt, policiesAt, policy as policyOf, rule } from '../policies.ts';

const policy = (changes: Changes = {}): Tree => policyOf('<ns>', { 'metadata.name': '<ns>', ...changes });
const binding = (changes: Changes = {}): Tree =>
  bindingOf('<ns>', { 'metadata.name': '<ns>', 'spec.policyName': '<ns>', ...changes });
const one = `${policiesAt}/<ns>`;

const validation = (changes: Tree): Changes => ({ 'spec.validations': [{ expression: 'true', ...changes }] });
const expression = (text: string): Changes => validation({ expression: text });
const variables = (...list: Json[]): Changes => ({ 'spec.variables': list });
const constraint = (changes: Tree): Changes => ({ 'spec.matchConstraints.resourceRules': [{ ...rule, ...changes }] });
const kind = (apiVersion: string, name: string): Changes => ({ 'spec.paramKind': { apiVersion, kind: name } });

const wrong: Record<string, Changes> = {
  'no constraints': { 'spec.matchConstraints': undefined },
  'no rules': { 'spec.matchConstraints.resourceRules': [] },
  'no validations': { 'spec.validations': [] },
  'an unknown failure policy': { 'spec.failurePolicy': 'Shrug' },
  'an unknown match policy': { 'spec.matchConstraints.matchPolicy': 'Roughly' },
  'a selector that is none': {
    'spec.matchConstraints.namespaceSelector': { matchExpressions: [{ key: 'a', operator: 'Near' }] },
  },
  'a rule without operations': constraint({ operations: [] }),
  'a rule of an unknown operation': constraint({ operations: ['READ'] }),
  'a rule without resources': constraint({ resources: [] }),
  'a rule without groups': constraint({ apiGroups: [] }),
  'a resource name with a slash': constraint({ resourceNames: ['a/b'] }),
  'a resource name twice': constraint({ resourceNames: ['a', 'a'] }),
  'an excluded resource that another covers': {
    'spec.matchConstraints.excludeResourceRules': [{ ...rule, resources: ['*', 'pods'] }],
  },
  'a match condition that is blank': { 'spec.matchConditions': [{ name: 'a', expression: ' ' }] },
  'a match condition that gives no truth': { 'spec.matchConditions': [{ name: 'a', expression: '1' }] },
  'a match condition of variables': {
    ...variables({ name: 'a', expression: '1' }),
    'spec.matchConditions': [{ name: 'a', expression: 'variables.a == 1' }],
  },
  'two match conditions of a name': {
    'spec.matchConditions': [
      { name: 'a', expression: 'true' },
      { name: 'a', expression: 'true' },
    ],
  },
  'a blank validation': expression(' '),
  'a validation that does not compile': expression('object.'),
  'a validation that gives a number': expression('1 + 1'),
  'a validation that gives nobody knows what': expression('object.spec.paused'),
  'a validation that gives an optional or nobody knows what': expression('object.?spec.paused.orValue(false)'),
  'a validation of an unknown name': expression('nothing == 1'),
  'a validation of an unknown function': expression('nothing(object)'),
  'a validation of params without a kind of them': expression('params == null'),
  'a validation of variables where there are none': expression('variables.a'),
  'a validation of an unknown variable': {
    ...variables({ name: 'a', expression: '1' }),
    ...expression('variables.b == 1'),
  },
  'a validation that mistakes the type of a variable': {
    ...variables({ name: 'a', expression: '1' }),
    ...expression("variables.a == 'x'"),
  },
  'a validation of an unknown field of the request': expression("request.nothing == 'x'"),
  'a validation that mistakes the type of a field of the request': expression('request.name == 1'),
  'a validation of an unknown field of the namespace': expression("namespaceObject.metadata.nothing == 'x'"),
  'a validation that uses the authorizer wrongly': expression("authorizer.check('get')"),
  'a message that is blank': validation({ message: ' ' }),
  'a message of two lines': validation({ message: 'a\nb' }),
  'a message expression that is blank': validation({ messageExpression: ' ' }),
  'a message expression that gives a number': validation({ messageExpression: '1' }),
  'a message expression that gives nobody knows what': validation({ messageExpression: 'object.metadata.name' }),
  'a message expression that asks the authorizer': validation({
    messageExpression: "string(authorizer.group('').resource('pods').check('get').allowed())",
  }),
  'a message expression that does not compile': validation({ messageExpression: "'a' + 1" }),
  'an unknown reason': validation({ reason: 'Teapot' }),
  'a reason that is no refusal': validation({ reason: 'Unauthorized' }),
  'a variable without a name': variables({ name: '', expression: '1' }),
  'a variable whose name is none': variables({ name: 'a-b', expression: '1' }),
  'a variable without an expression': variables({ name: 'a', expression: '' }),
  'a variable that does not compile': variables({ name: 'a', expression: '1 +' }),
  'a variable that uses a later one': variables(
    { name: 'a', expression: 'variables.b' },
    { name: 'b', expression: '1' },
  ),
  'two variables of a name': variables({ name: 'a', expression: '1' }, { name: 'a', expression: '2' }),
  'an audit annotation without a key': { 'spec.auditAnnotations': [{ key: '', valueExpression: "'x'" }] },
  'an audit annotation without an expression': { 'spec.auditAnnotations': [{ key: 'a', valueExpression: '' }] },
  'an audit annotation that gives a truth': { 'spec.auditAnnotations': [{ key: 'a', valueExpression: 'true' }] },
  'two audit annotations of a key': {
    'spec.auditAnnotations': [
      { key: 'a', valueExpression: "'x'" },
      { key: 'a', valueExpression: "'y'" },
    ],
  },
  'a kind of parameters without a version': kind('', 'ConfigMap'),
  'a kind of parameters of a version that is none': kind('a/b/c', 'ConfigMap'),
  'a kind of parameters of a group that is none': kind('A_B/v1', 'ConfigMap'),
  'a kind of parameters without a kind': kind('v1', ''),
  'a kind of parameters of a kind that is none': kind('v1', 'Config_Map'),
};

const wrongBindings: Record<string, Changes> = {
  'no policy': { 'spec.policyName': '' },
  'a policy of no name': { 'spec.policyName': 'A b' },
  'no actions': { 'spec.validationActions': undefined },
  'an unknown action': { 'spec.validationActions': ['Shrug'] },
  'an action twice': { 'spec.validationActions': ['Deny', 'Deny'] },
  'deny and warn': { 'spec.validationActions': ['Deny', 'Warn'] },
  'a parameter by nothing': { 'spec.paramRef': { parameterNotFoundAction: 'Deny' } },
  'a parameter by name and selector': {
    'spec.paramRef': { name: 'a', selector: { matchLabels: { a: 'b' } }, parameterNotFoundAction: 'Deny' },
  },
  'a parameter that may be lost in no way': { 'spec.paramRef': { name: 'a' } },
  'a parameter that may be lost in an unknown way': {
    'spec.paramRef': { name: 'a', parameterNotFoundAction: 'Shrug' },
  },
  'a parameter of a name with a slash': { 'spec.paramRef': { name: 'a/b', parameterNotFoundAction: 'Deny' } },
  'an unknown match policy for its resources': { 'spec.matchResources': { matchPolicy: 'Roughly' } },
};

const full = policy({
  'spec.paramKind': { apiVersion: 'v1', kind: 'ConfigMap' },
  'spec.matchConstraints.excludeResourceRules': [{ ...rule, resourceNames: ['x'] }],
  'spec.matchConditions': [{ name: 'a', expression: 'params != null' }],
  'spec.variables': [{ name: 'a', expression: 'object.data' }],
  'spec.validations': [
    {
      expression: 'variables.a.x == params.data.x',
      message: 'm',
      messageExpression: "'m' + params.data.x",
      reason: 'Forbidden',
    },
  ],
  'spec.auditAnnotations': [{ key: 'k', valueExpression: "'v'" }],
});
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const shown = { ...table, only: ['columnDefinitions', 'rows.*.cells'] };
const path = (at: string): string => `${at}?fieldSelector=metadata.name%3D<ns>`;

const registrars = rbac('ClusterRole', '<ns>', {
  rules: [{ apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }],
});
const registrar = rbac('ClusterRoleBinding', '<ns>', {
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '<ns>' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
});
const roles = '/apis/rbac.authorization.k8s.io/v1';
const asAnn = { headers: { 'impersonate-user': 'ann' } };
const annMay = [
  arranged(post(`${roles}/clusterroles`, registrars)),
  arranged(post(`${roles}/clusterrolebindings`, registrar)),
  {
    ...arranged(get(policiesAt, asAnn)),
    until: { status: 200 },
    mayFail: true,
  } as const,
];

export const registration: Case[] = [
  {
    name: 'a policy is given its failure policy, match policy, selectors and scope',
    steps: [post(policiesAt, policy())],
  },
  { name: 'a policy keeps all that it says', steps: [post(policiesAt, full), get(one)] },
  { name: 'a binding is told as it was written', steps: [post(bindingsAt, binding())] },
  {
    name: 'a binding is given the match policy and selectors of its resources',
    steps: [
      post(
        bindingsAt,
        binding({
          'spec.matchResources': { resourceRules: [rule] },
          'spec.paramRef': { name: 'a', namespace: 'b', parameterNotFoundAction: 'Allow' },
          'spec.validationActions': ['Warn', 'Audit'],
        }),
      ),
    ],
  },
  ...Object.entries(wrong).map(([what, changes]): Case => ({
    name: `a policy with ${what} is judged when it is made`,
    steps: [post(policiesAt, policy(changes))],
  })),
  ...Object.entries(wrongBindings).map(([what, changes]): Case => ({
    name: `a binding with ${what} is refused`,
    steps: [post(bindingsAt, binding(changes))],
  })),
  {
    name: 'what a policy says counts as a new generation, and its labels do not',
    steps: [
      arranged(post(policiesAt, policy())),
      patch('merge-patch', one, { metadata: { labels: { a: 'b' } } }),
      patch('merge-patch', one, { spec: { failurePolicy: 'Ignore' } }),
    ],
  },
  {
    name: 'a policy is replaced only by who has read it',
    steps: [arranged(post(policiesAt, policy())), put(one, policy())],
  },
  {
    name: 'a binding is replaced only by who has read it',
    steps: [arranged(post(bindingsAt, binding())), put(`${bindingsAt}/<ns>`, binding())],
  },
  {
    name: 'the status of a policy is written through its subresource alone',
    steps: [
      arranged(post(policiesAt, policy({ status: { observedGeneration: 7 } }))),
      patch('merge-patch', one, { status: { observedGeneration: 8 } }),
      patch('merge-patch', `${one}/status`, {
        spec: { failurePolicy: 'Ignore' },
        status: {
          observedGeneration: 1,
          typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: 'w' }] },
        },
      }),
    ],
  },
  {
    name: 'a warning in the status of a policy has a text and a field',
    steps: [
      arranged(post(policiesAt, policy())),
      patch('merge-patch', `${one}/status`, {
        status: { typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] } },
      }),
    ],
  },
  {
    name: 'a table of policies tells how many validations they have and of which kind their parameters are',
    steps: [arranged(post(policiesAt, full)), get(path(policiesAt), shown)],
  },
  {
    name: 'a table of bindings tells their policy and parameter',
    steps: [
      arranged(post(bindingsAt, binding({ 'spec.paramRef': { name: 'a', parameterNotFoundAction: 'Allow' } }))),
      get(path(bindingsAt), shown),
    ],
  },
  {
    name: 'a table of bindings tells a selector of parameters',
    steps: [
      arranged(
        post(
          bindingsAt,
          binding({
            'spec.paramRef': {
              selector: {
                matchLabels: { b: 'c', a: 'b' },
                matchExpressions: [{ key: 'a', operator: 'In', values: ['x', 'y'] }],
              },
              parameterNotFoundAction: 'Allow',
            },
          }),
        ),
      ),
      get(path(bindingsAt), shown),
    ],
  },
  {
    name: 'a condition in the status of a policy is whole',
    steps: [
      arranged(post(policiesAt, policy())),
      patch('merge-patch', `${one}/status`, { status: { conditions: [{ type: 'A', status: 'Maybe' }] } }),
    ],
  },
  {
    name: 'the group of admission registration tells its policies and bindings',
    steps: [get('/apis/admissionregistration.k8s.io/v1')],
  },
  {
    name: 'who may not read parameters makes no policy by them',
    steps: [...annMay, post(policiesAt, full, asAnn)],
  },
  {
    name: 'who may not read a parameter makes no binding to it',
    steps: [
      ...annMay,
      arranged(post(policiesAt, full)),
      post(
        bindingsAt,
        binding({ 'spec.paramRef': { name: 'a', namespace: 'b', parameterNotFoundAction: 'Allow' } }),
        asAnn,
      ),
      post(
        bindingsAt,
        binding({
          'metadata.name': '<ns>-b',
          'spec.policyName': 'nothing',
          'spec.paramRef': { selector: {}, parameterNotFoundAction: 'Allow' },
        }),
        asAnn,
      ),
    ],
  },
];
