// What tells an API server to ask our webhooks: admissionregistration.k8s.io/v1.
import { judges, lbtickets } from '@fairlead/api';
import { fail, ok, type Result } from '@fairlead/core';
import type { Kind, Kube, KubeObject } from '@fairlead/kube';
import { reporting } from './reporters.ts';

/** How the API server reaches the webhooks. */
export type Reach = { url: string } | { service: { namespace: string; name: string; port: number } };

/** `https://host:port`, or `service/NAMESPACE/NAME[:PORT]`. */
export function parseReach(text: string): Result<Reach> {
  const service = /^service\/([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d+))?$/.exec(text);
  if (service) {
    const [, namespace = '', name = '', port = '443'] = service;
    return ok({ service: { namespace, name, port: Number(port) } });
  }
  if (/^https:\/\/[^/]+\/?$/.test(text) && URL.canParse(text)) return ok({ url: text.replace(/\/$/, '') });
  return fail('invalid', `${text}: give https://HOST:PORT, or service/NAMESPACE/NAME[:PORT]`);
}

/** The names its certificate must be good for. */
export const hostsOf = (reach: Reach): string[] =>
  'url' in reach
    ? [new URL(reach.url).hostname.replace(/^\[|\]$/g, '')]
    : [`${reach.service.name}.${reach.service.namespace}.svc`];

const name = 'fairlead';
const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };
const mutating: Kind<KubeObject> = {
  ...group,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
};
const validating: Kind<KubeObject> = {
  ...group,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
};

const answerOf = (object: string): string =>
  `(has(${object}.status.conditions) ? ${object}.status.conditions : []).filter(c, c.type == 'NetworkPolicyOpen')`;

/** Of all writes of status, most of which are the controller's, those that may be a person's answer to an application. */
const answers = [
  {
    name: 'waits-for-an-answer',
    expression: "[object, oldObject].all(o, has(o.status) && has(o.status.process) && o.status.process == 'apply')",
  },
  { name: 'answer-changes', expression: `${answerOf('object')} != ${answerOf('oldObject')}` },
];

/** Controllers write most of all statuses, and are known by a right of theirs. */
const byPeople = [
  {
    name: 'by-no-controller',
    expression: `!authorizer.group('${reporting.group}').resource('${reporting.resource}').subresource('${reporting.subresource}').check('${reporting.verb}').allowed()`,
  },
];

/*
   configuration | path      | of             | operations              | when we do not answer
   --------------+-----------+----------------+-------------------------+-----------------------------------------
   mutating      | /mutate   | all our kinds  | CREATE, UPDATE          | refused: else credentials would be stored
                 | /mutate   | answers in the | UPDATE                  | let in here: all it does is to write a
                 |           | status         |                         | name, and what judges it comes after
   validating    | /validate | all our kinds  | CREATE, UPDATE, DELETE  | refused: else nobody has judged it
                 | /validate | status of      | UPDATE                  | refused, but to controllers, of whom it
                 |           | tickets        |                         | is not asked (docs/adr/0021)
*/
export function configurations(reach: Reach, ca: string): { kind: Kind<KubeObject>; object: KubeObject }[] {
  const client = (path: string) => ({
    caBundle: Buffer.from(ca, 'utf8').toString('base64'),
    ...('url' in reach ? { url: `${reach.url}/${path}` } : { service: { ...reach.service, path: `/${path}` } }),
  });
  const rule = (kind: { group: string; version: string }, resource: string, operations: string[]) => ({
    apiGroups: [kind.group],
    apiVersions: [kind.version],
    resources: [resource],
    operations,
    scope: '*',
  });
  const webhook = (path: string, operations: string[], sideEffects: string) => ({
    name: `${path}.fairlead.io`,
    clientConfig: client(path),
    rules: judges.map(({ kind }) => rule(kind, kind.plural, operations)),
    admissionReviewVersions: ['v1'],
    sideEffects,
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
  });
  const answered = {
    ...webhook('mutate', [], 'None'),
    name: 'answer.fairlead.io',
    rules: [rule(lbtickets, `${lbtickets.plural}/status`, ['UPDATE'])],
    failurePolicy: 'Ignore',
    matchConditions: answers,
  };
  const written = {
    ...webhook('validate', [], 'None'),
    name: 'status.fairlead.io',
    rules: answered.rules,
    matchConditions: byPeople,
  };
  const made = (kind: Kind<KubeObject>, webhooks: unknown[]) => ({
    kind,
    object: { apiVersion: 'admissionregistration.k8s.io/v1', kind: kind.kind, metadata: { name }, webhooks },
  });
  return [
    made(mutating, [webhook('mutate', ['CREATE', 'UPDATE'], 'NoneOnDryRun'), answered]),
    made(validating, [webhook('validate', ['CREATE', 'UPDATE', 'DELETE'], 'None'), written]),
  ];
}

/** Applies both; the server asks us from then on. */
export async function register(management: Kube, reach: Reach, ca: string): Promise<Result<void>> {
  for (const { kind, object } of configurations(reach, ca)) {
    const applied = await management.apply(kind, object, { fieldManager: 'fairlead', force: true });
    if (!applied.ok) return fail('unreachable', `the ${kind.kind} ${name} is refused: ${applied.problem.message}`);
  }
  return ok(undefined);
}
