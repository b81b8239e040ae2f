// The token subresource of a service account: a TokenRequest answered with a token for as long, and for what, it asks.
import { reviewedPost } from '../admission/admit.ts';
import { invalidValue } from '../field-error.ts';
import { listOf, textOf, timeText, treeOf, type KubeObject } from '../object.ts';
import { posted } from '../posted.ts';
import { keyOf, part } from '../resource.ts';
import { decode } from '../store.ts';
import { badRequest, conflict, invalid, notFound, ok, refuse, type Result } from '../status.ts';
import type { Place } from '../write.ts';
import { boundKinds, issuer, type AccountTokens } from './account-tokens.ts';

const request = {
  group: 'authentication.k8s.io',
  kind: 'TokenRequest',
  schema: 'io.k8s.api.authentication.v1.TokenRequest',
};
const usual = 3600;
const least = 600;
const most = 2 ** 32;

export async function requestToken(place: Place, tokens: AccountTokens): Promise<Result<KubeObject>> {
  const sent = await posted(place, request);
  if (!sent.ok) return sent;
  const body = await reviewedPost(place, sent.value, { group: request.group, version: 'v1', kind: request.kind });
  if (!body.ok) return body;
  const asked = body.value;
  const spec = part(asked, 'spec');
  const { cluster, call, resource } = place;
  const { namespace, name } = call.target;
  const entry = cluster.store.get(keyOf(resource, namespace, name));
  if (!entry) return refuse(notFound(resource, name));
  const seconds = Number(spec.expirationSeconds ?? usual);
  const wrong = secondsProblem(seconds);
  if (wrong) return refuse(invalid(request, '', [invalidValue('spec.expirationSeconds', seconds, wrong)]));
  const bound = boundObject(place, spec.boundObjectRef);
  if (!bound.ok) return bound;
  const account = decode(entry.text);
  const audiences = listOf(spec.audiences).map(String);
  const grant = { account, audiences: audiences.length > 0 ? audiences : [issuer], seconds };
  const token = await tokens.sign({ ...grant, ...(bound.value ? { bound: bound.value } : {}) });
  const now = cluster.clock.now();
  return ok({
    kind: request.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: account.metadata.uid ?? '', creationTimestamp: timeText(now) },
    spec: { audiences: grant.audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: timeText(now + seconds * 1000) },
  });
}

function secondsProblem(seconds: number): string | undefined {
  if (seconds < least) return 'may not specify a duration less than 10 minutes';
  return seconds > most ? 'may not specify a duration larger than 2^32 seconds' : undefined;
}

function boundObject({ cluster, call }: Place, reference: unknown): Result<KubeObject | undefined> {
  if (reference === undefined || reference === null) return ok(undefined);
  const { apiVersion, kind, name, uid } = treeOf(reference);
  const at = apiVersion === 'v1' ? boundKinds[textOf(kind).toLowerCase()] : undefined;
  if (!at)
    return refuse(
      badRequest(
        `cannot bind token to object of type ${textOf(apiVersion).includes('/') ? '' : '/'}${textOf(apiVersion)}, Kind=${textOf(kind)}`,
      ),
    );
  const found = cluster.store.get(keyOf({ group: '', ...at }, call.target.namespace, textOf(name)));
  if (!found) return refuse(notFound({ group: '', resource: at.resource }, textOf(name)));
  const object = decode(found.text);
  if (!uid || uid === object.metadata.uid) return ok(object);
  const why = `the UID in the bound object reference (${textOf(uid)}) does not match the UID in record. The object might have been deleted and then recreated`;
  return refuse(conflict({ group: '', resource: at.resource }, textOf(name), why));
}
