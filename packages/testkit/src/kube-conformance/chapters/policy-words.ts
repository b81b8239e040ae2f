// What policies say of a write: validations, messages, conditions, variables.
import { core, post } from '../case.ts';
import { condition, fails, telling, told, type Trials, validations } from '../policy-trial.ts';
import { judge, judged } from '../policies.ts';

export const words: Trials = {
  plain: { rule: 'a write that fails a validation is Invalid, and told the expression' },
  passes: { rule: 'a write that no validation finds wrong passes', steps: [judge('passes', '1')] },
  message: {
    rule: 'a validation with a message tells it',
    policy: validations({ expression: "object.data.a == '1'", message: ' it must be 1 ' }),
  },
  expressed: {
    rule: 'a validation with a message expression tells what that gives',
    policy: validations({
      expression: "object.data.a == '1'",
      message: 'no',
      messageExpression: "'it is ' + object.data.a",
    }),
  },
  unexpressed: {
    rule: 'a message expression that fails leaves the word to the message',
    policy: validations({ expression: 'false', message: 'no', messageExpression: 'object.data.nothing + "x"' }),
  },
  broken: {
    rule: 'a message expression that gives several lines leaves the word to the message',
    policy: validations({ expression: 'false', message: 'no', messageExpression: "'a\\nb'" }),
  },
  forbidden: {
    rule: 'a validation with the reason Forbidden is told with that and its code',
    policy: validations({ expression: 'false', reason: 'Forbidden' }),
  },
  large: {
    rule: 'a validation with the reason RequestEntityTooLarge is told with that and its code',
    policy: validations({ expression: 'false', reason: 'RequestEntityTooLarge' }),
  },
  several: {
    rule: 'of several validations that fail the first is told',
    policy: validations(
      { expression: 'true', message: 'first' },
      { expression: 'false', message: 'second', reason: 'Forbidden' },
      { expression: 'false', message: 'third' },
    ),
  },
  warn: {
    rule: 'a policy bound to warn lets the write pass with a warning',
    policy: validations({ expression: 'false', message: 'one' }, { expression: 'false', message: 'two' }),
    binding: { 'spec.validationActions': ['Warn'] },
  },
  audit: {
    rule: 'a policy bound to audit lets the write pass without a word',
    binding: { 'spec.validationActions': ['Audit'] },
  },
  both: {
    rule: 'a policy bound to warn and audit warns',
    binding: { 'spec.validationActions': ['Audit', 'Warn'] },
  },
  failing: { rule: 'a validation that fails to evaluate refuses the write', policy: validations(fails) },
  ignoring: {
    rule: 'a validation that fails to evaluate is passed over with failurePolicy Ignore',
    policy: { ...validations(fails), 'spec.failurePolicy': 'Ignore' },
  },
  denying: {
    rule: 'a validation that says no is heard with failurePolicy Ignore',
    policy: { 'spec.failurePolicy': 'Ignore' },
  },
  out: {
    rule: 'a match condition that does not hold keeps a policy out',
    policy: condition("object.metadata.name == 'b'"),
  },
  in: {
    rule: 'a match condition that holds lets a policy judge',
    policy: condition("request.operation == 'CREATE' && object.metadata.name == 'a'"),
  },
  doubt: {
    rule: 'a match condition of a policy that fails to evaluate refuses the write',
    policy: condition(fails.expression),
  },
  doubts: {
    rule: 'several match conditions of a policy that fail to evaluate are told together',
    policy: {
      'spec.matchConditions': [
        { name: 'a', expression: fails.expression },
        { name: 'b', expression: 'object.nothing.x == 1' },
      ],
    },
  },
  relaxed: {
    rule: 'a match condition of a policy that fails is passed over with failurePolicy Ignore',
    policy: condition(fails.expression, { 'spec.failurePolicy': 'Ignore' }),
  },
  variables: {
    rule: 'variables are there for later variables, validations and messages',
    policy: {
      'spec.variables': [
        { name: 'a', expression: 'object.data.a' },
        { name: 'both', expression: 'variables.a + variables.a' },
        { name: 'limit', expression: '21' },
      ],
      ...validations({
        expression: 'int(variables.both) <= variables.limit',
        messageExpression: "'it is ' + string(variables.both)",
      }),
    },
  },
  variable: {
    rule: 'a variable that fails to evaluate fails what uses it',
    policy: {
      'spec.variables': [{ name: 'x', expression: 'object.data.nothing' }],
      ...validations({ expression: 'true' }, { expression: "variables.x == 'x'" }),
    },
  },
  lazy: {
    rule: 'a variable that fails to evaluate is no matter where nothing uses it',
    policy: {
      'spec.variables': [{ name: 'x', expression: 'object.data.nothing' }],
      ...validations({ expression: 'true' }),
    },
  },
  request: {
    rule: 'a policy sees who asks for what',
    policy: telling(
      told(
        'request.operation', 'request.kind.kind', 'request.resource.group', 'request.resource.resource', 'request.resource.version',
        'request.name', 'request.namespace', 'request.userInfo.username', "'system:authenticated' in request.userInfo.groups",
        'request.dryRun', 'has(request.subResource)', 'request.requestKind.kind', 'request.options.fieldManager',
      ), // prettier-ignore
    ),
    steps: [post(core('configmaps?fieldManager=me'), judged('request'))],
  },
  dry: {
    rule: 'a policy judges a dry run, and sees that it is one',
    policy: telling('string(request.dryRun)'),
    steps: [post(core('configmaps?dryRun=All'), judged('dry'))],
  },
  generated: {
    rule: 'a policy sees a generated name',
    policy: telling("string(object.metadata.name.startsWith('gen-')) + string(has(request.name))"),
    steps: [judge('generated', '2', { 'metadata.name': undefined, 'metadata.generateName': 'gen-' })],
  },
  namespace: {
    rule: 'a policy sees the namespace',
    policy: telling(
      "namespaceObject.metadata.name + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name']",
    ),
  },
  annotated: {
    rule: 'an audit annotation that fails to evaluate refuses the write',
    policy: {
      ...validations({ expression: 'true' }),
      'spec.auditAnnotations': [{ key: 'a', valueExpression: "object.data.nothing + 'x'" }],
    },
  },
  noted: {
    rule: 'an audit annotation lets the write pass',
    policy: {
      ...validations({ expression: 'true' }),
      'spec.auditAnnotations': [
        { key: 'a', valueExpression: "'a is ' + object.data.a" },
        { key: 'b', valueExpression: 'null' },
      ],
    },
  },
};
