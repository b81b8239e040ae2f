// Policies that cases on ValidatingAdmissionPolicy stand on, and the writes they are asked about.
import { arranged, type Ask, core, post, type Tree } from './case.ts';
import { changed, type Changes, labelled } from './objects.ts';

const registrations = '/apis/admissionregistration.k8s.io/v1';
export const policiesAt = `${registrations}/validatingadmissionpolicies`;
export const bindingsAt = `${registrations}/validatingadmissionpolicybindings`;

export const rule: Tree = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};

/** A policy of that name about what bears its name in the label `policy`; ConfigMaps whose `data.a` is not 1 fail it. */
export const policy = (name: string, changes: Changes = {}): Tree =>
  changed(
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: `${name}.<group>` },
      spec: {
        matchConstraints: { resourceRules: [rule], objectSelector: { matchLabels: { policy: name } } },
        validations: [{ expression: "object.data.a == '1'" }],
      },
    },
    changes,
  );

export const binding = (name: string, changes: Changes = {}): Tree =>
  changed(
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: `${name}.<group>` },
      spec: { policyName: `${name}.<group>`, validationActions: ['Deny'] },
    },
    changes,
  );

/** A policy that is in force, once its server has seen it: `seen` shows that. */
export const bound = (name: string, changes: Changes = {}, ofBinding: Changes = {}): Ask[] => [
  arranged(post(policiesAt, policy(name, changes))),
  arranged(post(bindingsAt, binding(name, ofBinding))),
];

/** A ConfigMap for the policy of that name to judge. */
export const judged = (name: string, a = '2', changes: Changes = {}): Tree =>
  changed(labelled('a', { policy: name }), { 'data.a': a, ...changes });

export const judge = (name: string, a = '2', changes: Changes = {}): Ask =>
  post(core('configmaps'), judged(name, a, changes));

/** The last of the policies is in force: so are those made before it, since a server reads them in its own time. */
export const seen: Ask[] = [
  ...bound('seen'),
  {
    ...arranged(post('/api/v1/namespaces/default/configmaps?dryRun=All', judged('seen'))),
    until: { status: 422 },
    mayFail: true,
  },
];
