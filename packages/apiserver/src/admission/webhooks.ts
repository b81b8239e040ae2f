// Webhooks asked about a write: mutating ones in turn, then again those a later change may concern; validating ones all at once.
import { apiVersionOf, type KubeObject } from '../object.ts';
import { failure, internal, ok, refuse, type Result, type Status } from '../status.ts';
import { ask } from './ask.ts';
import { conditionsHold } from './conditions.ts';
import { answerOf, requestOf, type Subject } from './review.ts';
import { wantedVersion, webhooksOf, type Webhook } from './webhook.ts';

/** The object as mutating webhooks leave it, or the refusal. */
export async function mutated(subject: Subject): Promise<Result<KubeObject | undefined>> {
  const webhooks = webhooksOf(subject.cluster, 'mutatingwebhookconfigurations');
  let { object } = subject.asked;
  if (webhooks.length === 0) return ok(object);
  const seen = new Map<string, string>();
  for (const round of [1, 2]) {
    for (const webhook of webhooks) {
      // The second time only those who asked for it, and only when someone after them changed what they had seen.
      const isDue = round === 1 || (webhook.canBeCalledAgain && seen.get(webhook.id) !== JSON.stringify(object));
      if (!isDue || (round === 2 && !seen.has(webhook.id))) continue;
      const asked = { ...subject.asked, ...(object ? { object } : {}) };
      const result = await call({ ...subject, asked }, webhook);
      if (!result.ok) return result;
      if (!result.value.wasAsked) continue;
      object = result.value.object;
      seen.set(webhook.id, JSON.stringify(object));
    }
  }
  return ok(object);
}

/** Refuses when any validating webhook does: the first in their order, whichever answered first. */
export async function validated(subject: Subject): Promise<Result<void>> {
  const webhooks = webhooksOf(subject.cluster, 'validatingwebhookconfigurations');
  const results = await Promise.all(webhooks.map((webhook) => call(subject, webhook)));
  const refused = results.find((result) => !result.ok);
  return refused && !refused.ok ? refused : ok(undefined);
}

interface Called {
  wasAsked: boolean;
  object: KubeObject | undefined;
}

/*
   the webhook                        | failurePolicy Fail | Ignore
   -----------------------------------+--------------------+-----------
   does not match                     | passes             | passes
   a match condition cannot be told   | 403                | passes, not asked
   cannot be reached, answers rubbish | 500                | passes
   refuses                            | its code           | its code
*/
async function call(subject: Subject, webhook: Webhook): Promise<Result<Called>> {
  const { cluster, call: by, asked } = subject;
  const passes = ok({ wasAsked: false, object: asked.object });
  const version = wantedVersion(cluster, by, asked, webhook);
  if (version === undefined) return passes;
  const request = requestOf(subject, version);
  const holds = conditionsHold(webhook.conditions, request);
  if (holds.sort === 'broken')
    return webhook.isIgnoredOnFailure ? passes : refuse(conditionFailure(subject, holds.why));
  if (holds.sort === 'no') return passes;
  const replied = await ask(cluster, webhook, request);
  const answer = replied.ok
    ? answerOf(replied.body, webhook.name, request, (request.object ?? undefined) as KubeObject | undefined)
    : { sort: 'broken' as const, why: replied.why };
  if (answer.sort === 'broken') {
    const why = `failed calling webhook ${JSON.stringify(webhook.name)}: ${answer.why}`;
    if (!webhook.isIgnoredOnFailure) return refuse(internal(why));
    cluster.report(`${why} (its failurePolicy is Ignore)`);
    return passes;
  }
  by.warnings.push(...answer.warnings);
  if (answer.sort === 'denied') return refuse(answer.status);
  return ok({ wasAsked: true, object: inVersion(subject, answer.object) });
}

/** A webhook may have been asked in another version of a custom kind than the client wrote. */
function inVersion({ call: by, asked }: Subject, object: KubeObject | undefined): KubeObject | undefined {
  if (object && asked.object) object.apiVersion = apiVersionOf(asked.resource.group, by.target.version);
  return object;
}

function conditionFailure({ asked }: Subject, why: string): Status {
  const { group, resource } = asked.resource;
  const at = group ? `${resource}.${group}` : resource;
  return failure(403, 'Forbidden', `${at} ${JSON.stringify(asked.name)} is forbidden: ${why}`, {
    ...(asked.name ? { name: asked.name } : {}),
    ...(group ? { group } : {}),
    kind: resource,
  });
}
