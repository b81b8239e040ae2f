// One call of an admission webhook, in the version of the review it understands.
import type { Cluster } from '../cluster.ts';
import type { Tree } from '../object.ts';
import { callHook, type Reply } from './hook-call.ts';
import type { Webhook } from './webhook.ts';

const known = ['v1', 'v1beta1'];
const group = 'admission.k8s.io';

/** Posts `request` as an AdmissionReview; the review that comes back, and the version that was asked for. */
export async function ask(cluster: Cluster, webhook: Webhook, request: Tree): Promise<Reply & { version: string }> {
  const version = webhook.reviewVersions.find((one) => known.includes(one)) ?? '';
  if (version === '')
    return {
      ok: false,
      why: 'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      version,
    };
  const reply = await callHook(cluster, {
    clientConfig: webhook.clientConfig,
    seconds: webhook.seconds,
    review: { kind: 'AdmissionReview', apiVersion: `${group}/${version}`, request },
    versions: known.map((one) => `${group}/${one}`),
  });
  return reply.ok ? { ...reply, version } : { ok: false, why: `failed to call webhook: ${reply.why}`, version };
}
