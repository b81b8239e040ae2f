// What tells an API server to ask our webhooks: admissionregistration.k8s.io/v1.
import { judges } from '@fairlead/api';
import { fail, ok, type Result } from '@fairlead/core';
import type { Kind, Kube, KubeObject } from '@fairlead/kube';

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

/*
   configuration | path      | operations              | when we do not answer
   --------------+-----------+-------------------------+-----------------------------------------
   mutating      | /mutate   | CREATE, UPDATE          | refused: else credentials would be stored
   validating    | /validate | CREATE, UPDATE, DELETE  | refused: else nobody has judged it
*/
export function configurations(reach: Reach, ca: string): { kind: Kind<KubeObject>; object: KubeObject }[] {
  const webhook = (path: string, operations: string[], sideEffects: string) => ({
    name: `${path}.fairlead.io`,
    clientConfig: {
      caBundle: Buffer.from(ca, 'utf8').toString('base64'),
      ...('url' in reach ? { url: `${reach.url}/${path}` } : { service: { ...reach.service, path: `/${path}` } }),
    },
    rules: judges.map(({ kind }) => ({
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      resources: [kind.plural],
      operations,
      scope: '*',
    })),
    admissionReviewVersions: ['v1'],
    sideEffects,
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
  });
  const made = (kind: Kind<KubeObject>, webhooks: unknown[]) => ({
    kind,
    object: { apiVersion: 'admissionregistration.k8s.io/v1', kind: kind.kind, metadata: { name }, webhooks },
  });
  return [
    made(mutating, [webhook('mutate', ['CREATE', 'UPDATE'], 'NoneOnDryRun')]),
    made(validating, [webhook('validate', ['CREATE', 'UPDATE', 'DELETE'], 'None')]),
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
