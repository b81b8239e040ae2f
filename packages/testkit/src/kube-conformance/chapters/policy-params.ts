// What policies judge by besides the write: parameters, and what the user may do.
import { arranged, core, post, type Tree } from '../case.ts';
import { allowed, may } from '../grants.ts';
import { type Changes, configMap } from '../objects.ts';
import { rules, telling, type Trials, validations } from '../policy-trial.ts';
import { judge, judged, rule } from '../policies.ts';

const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
const limited: Changes = {
  'spec.paramKind': paramKind,
  ...validations({ expression: 'object.data.a == params.data.a', messageExpression: "'wanted ' + params.data.a" }),
};
const paramRef = (changes: Tree): Changes => ({ 'spec.paramRef': { parameterNotFoundAction: 'Deny', ...changes } });

export const parameters: Trials = {
  global: {
    rule: 'a policy sees its parameter in the namespace that its binding names',
    policy: limited,
    binding: paramRef({ name: 'one.<group>', namespace: 'default' }),
    steps: [judge('global', '3'), judge('global', '1')],
  },
  local: {
    rule: 'a policy sees its parameter in the namespace of the write where the binding names none',
    policy: limited,
    binding: paramRef({ name: 'p' }),
    steps: [
      arranged(post(core('configmaps'), configMap('p'))),
      { ...arranged(post(core('configmaps?dryRun=All'), judged('local', '1'))), until: { status: 201 }, mayFail: true },
      judge('local', '3'),
      judge('local', '1'),
    ],
  },
  lost: {
    rule: 'a policy whose parameter is not there refuses where the binding says Deny',
    policy: limited,
    binding: paramRef({ name: 'nothing', namespace: 'default' }),
  },
  missing: {
    rule: 'a policy whose parameter is not there lets pass where the binding says Allow',
    policy: limited,
    binding: paramRef({ name: 'nothing', namespace: 'default', parameterNotFoundAction: 'Allow' }),
  },
  selected: {
    rule: 'a policy judges by each parameter that its binding selects',
    policy: limited,
    binding: paramRef({ selector: { matchLabels: { parameter: '<group>' } }, namespace: 'default' }),
    steps: [judge('selected', '2'), judge('selected', '1')],
  },
  unselected: {
    rule: 'a policy whose binding selects no parameter refuses where it says Deny',
    policy: limited,
    binding: paramRef({ selector: { matchLabels: { parameter: 'none' } }, namespace: 'default' }),
  },
  unparametered: {
    rule: 'a policy with a kind of parameters sees null where its binding names none',
    policy: { 'spec.paramKind': paramKind, ...telling('string(params == null)') },
  },
  unknown: {
    rule: 'a policy whose kind of parameters is not known refuses',
    policy: { ...limited, 'spec.paramKind': { apiVersion: 'example.com/v1', kind: 'Nothing' } },
    binding: paramRef({ name: 'x' }),
  },
  cluster: {
    rule: 'a parameter of the write itself cannot be had for what is in no namespace',
    policy: {
      ...limited,
      ...rules({ ...rule, apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] }),
    },
    binding: paramRef({ name: 'p' }),
    steps: [
      post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: '<ns>', labels: { policy: 'cluster' } },
        rules: [],
      }),
    ],
  },
  wide: {
    rule: 'a namespace cannot be named for a parameter that is in none',
    policy: { ...limited, 'spec.paramKind': { apiVersion: 'v1', kind: 'Node' } },
    binding: paramRef({ name: 'x', namespace: 'default' }),
  },
  authorizer: {
    rule: 'a policy may ask what the user may do',
    policy: validations({
      expression: "authorizer.group('').resource('configmaps').namespace(request.namespace).check('delete').allowed()",
      messageExpression: "request.userInfo.username + ' may not delete'",
    }),
    steps: [
      ...allowed('joe', may(['create'], ['configmaps'])),
      { ...judge('authorizer'), as: 'joe' },
      judge('authorizer'),
    ],
  },
  own: {
    rule: 'a policy may ask whether the user may do something else to the same thing',
    policy: validations(
      {
        expression: "authorizer.requestResource.check('create').allowed()",
        message: 'it may create',
      },
      { expression: "authorizer.requestResource.check('patch').allowed()", message: 'it may not patch' },
    ),
    steps: [...allowed('joe', may(['create'], ['configmaps'])), { ...judge('own'), as: 'joe' }],
  },
};
