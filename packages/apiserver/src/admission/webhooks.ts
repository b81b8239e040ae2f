// Webhooks asked about a write: mutating ones in turn, then again those a later change may concern; validating ones all at once.
import type { KubeObject } from '../object.ts';
import { failure, internal, ok, refuse, type Result, type Status } from '../status.ts';
import { ask } from './ask.ts';
import { conditionsHold, namesOf } from './conditions.ts';
import { answerOf, objectIn, requestOf, type Subject } from './review.ts';
import { wantedVersion, webhooksOf, type Sort, type Webhook } from './webhook.ts';

/** The object as mutating webhooks leave it, or the refusal. */
export async function mutated(subject: Subject): Promise<Result<KubeObject | undefined>> {
  const sort = 'mutatingwebhookconfigurations';
  const webhooks = webhooksOf(subject.cluster, sort);
  let { object } = subject.asked;
  if (webhooks.length === 0) return ok(object);
  const seen = new Map<string, string>();
  for (const round of [1, 2]) {
    for (const webhook of webhooks) {
      // The second time only those who asked for it, and only when someone after them changed what they had seen.
      const isDue = round === 1 || (webhook.canBeCalledAgain && seen.get(webhook.id) !== JSON.stringify(object));
      if (!isDue || (round === 2 && !seen.has(webhook.id))) continue;
      const asked = { ...subject.asked, ...(object ? { object } : {}) };
      const result = await call({ ...subject, asked }, webhook, sort);
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
  const sort = 'validatingwebhookconfigurations';
  const webhooks = webhooksOf(subject.cluster, sort);
  if (webhooks.length === 0) return ok(undefined);
  const results = await Promise.all(webhooks.map((webhook) => call(subject, webhook, sort)));
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
   cannot be patched as it says       | 500                | 500
   refuses                            | its code           | its code
*/
async function call(subject: Subject, webhook: Webhook, sort: Sort): Promise<Result<Called>> {
  const { cluster, call: by, asked } = subject;
  const passes = ok({ wasAsked: false, object: asked.object });
  const version = wantedVersion(cluster, by, asked, webhook);
  if (version === undefined) return passes;
  const review = await requestOf(subject, version);
  if (!review.ok) return review;
  const request = review.value;
  const isConditional = webhook.conditions.length > 0;
  const holds = conditionsHold(webhook.conditions, isConditional ? namesOf(cluster, by, asked, request) : {});
  if (holds.sort === 'broken')
    return webhook.isIgnoredOnFailure ? passes : refuse(conditionFailure(subject, holds.why));
  if (holds.sort === 'no') return passes;
  const replied = await ask(cluster, webhook, request);
  const answer = replied.ok
    ? answerOf(replied.body, {
        webhook: webhook.name,
        sort,
        version: replied.version,
        request,
        object: (request.object ?? undefined) as KubeObject | undefined,
      })
    : { sort: 'broken' as const, why: replied.why };
  if (answer.sort === 'broken') {
    const why = `failed calling webhook ${JSON.stringify(webhook.name)}: ${answer.why}`;
    if (!webhook.isIgnoredOnFailure) return refuse(internal(why));
    cluster.report(`${why} (its failurePolicy is Ignore)`);
    return passes;
  }
  by.warnings.push(...answer.warnings);
  if (answer.sort !== 'allowed') return refuse(answer.status);
  // A webhook may have been asked in another version of a custom kind than the client wrote.
  const object =
    answer.object === request.object ? ok(asked.object) : await objectIn(subject, answer.object, by.target.version);
  return object.ok ? ok({ wasAsked: true, object: object.value }) : object;
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
