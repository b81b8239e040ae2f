// Requests about resources: which verb on which resource or subresource goes to which part of the server.
import type { Serving } from './answer.ts';
import type { Cluster } from './cluster.ts';
import { isReview, review } from './access/reviews.ts';
import { requestToken } from './access/token-request.ts';
import { bind } from './pods/binding.ts';
import { evict } from './pods/eviction.ts';
import { readLog } from './pods/log.ts';
import { apiVersionOf, type KubeObject } from './object.ts';
import { patch } from './patch-body.ts';
import { posted } from './posted.ts';
import { readList, readOne } from './read.ts';
import { deleteOptions, remove, removeAll } from './remove.ts';
import type { Call } from './request.ts';
import type { Resource } from './resource.ts';
import { inYaml, representationOf } from './representation.ts';
import { json, pageNotFound, statusResponse, withWarnings } from './response.ts';
import { readScale, writeScale } from './scale.ts';
import { inNamespace } from './object-start.ts';
import {
  badRequest,
  methodNotAllowed,
  noSuchResource,
  ok,
  qualified,
  refuse,
  type Result,
  type Status,
} from './status.ts';
import { objectResponse } from './object-response.ts';
import { checkInclude } from './table/table.ts';
import { watch } from './watch.ts';
import { create, update, type Place, type Written } from './write.ts';

export async function answerResource(serving: Serving, call: Call): Promise<Response> {
  const { group, version, resource } = call.target;
  const found = serving.cluster.registry.find(group, version, resource);
  if (!found) return isOwnGroup(serving.cluster.registry, group) ? statusResponse(noSuchResource()) : pageNotFound();
  // A list without its items would have cost as much: the real server does not serve it.
  if (call.request.method === 'HEAD') return statusResponse(methodNotAllowed());
  const representation = representationOf(call.request.headers.get('accept') ?? '');
  if (!representation.ok) return statusResponse(representation.status);
  const included = checkInclude(call);
  if (!included.ok) return statusResponse(included.status);
  const place: Place = { cluster: serving.cluster, call, ...found };
  const misplaced = misplacement(found.resource, call);
  if (misplaced) return misplaced;
  if (found.version.deprecation) call.warnings.push(found.version.deprecation);
  const answer = await answerPlace(serving, place);
  const isYaml = representation.value === 'yaml' && call.target.verb !== 'watch' && isJson(answer);
  return withWarnings(isYaml ? await inYaml(answer) : answer, call.warnings);
}

const isJson = (response: Response): boolean => response.headers.get('content-type') === 'application/json';

/** Groups of built-in kinds are known even in versions they do not have; what is in no group is nowhere. */
export const isOwnGroup = (registry: Cluster['registry'], group: string): boolean =>
  registry.all().some((resource) => resource.group === group && !resource.isCustom);

/** The answer to what nothing is routed to: only lists and watches reach over all namespaces, and changes need a name. */
function misplacement({ isNamespaced, isCustom, verbs }: Resource, { target, request }: Call): Response | undefined {
  const { namespace, name, verb } = target;
  const isReading = verb === 'list' || verb === 'watch';
  if (isNamespaced && namespace === '' && !isReading) {
    if (isCustom) return pageNotFound();
    return statusResponse(name === '' && verbs.includes('list') ? methodNotAllowed() : noSuchResource());
  }
  if (verb === 'watch' && request.method !== 'GET') return statusResponse(methodNotAllowed());
  if (name === '' && (verb === 'update' || verb === 'patch'))
    return statusResponse(isCustom ? badRequest('name must be provided') : methodNotAllowed());
  return undefined;
}

async function answerPlace(serving: Serving, place: Place): Promise<Response> {
  const { call, resource } = place;
  const { verb, subresource } = call.target;
  if (subresource !== '') return answerSubresource(serving, place);
  if (!resource.verbs.includes(verb)) return statusResponse(methodNotAllowed());
  if (isReview(qualified(resource))) return answerReview(serving, place);
  if (qualified(resource) === 'bindings') return accepted(await bind(place));
  switch (verb) {
    case 'get':
      return text(await readOne(place));
    case 'list':
      return text(await readList(place));
    case 'watch':
      return watchResponse(place);
    case 'create':
      return written(place, await post(place));
    case 'update':
      return written(place, await replace(place));
    case 'patch':
      return written(place, await patch(place));
    case 'delete':
      return deleted(place);
    case 'deletecollection':
      return deletedAll(place);
    default:
      return statusResponse(methodNotAllowed());
  }
}

async function answerSubresource(serving: Serving, place: Place): Promise<Response> {
  const { call, version, resource } = place;
  const { verb, subresource } = call.target;
  const own = ownSubresources[`${resource.resource}/${subresource}`];
  if (own && resource.group === '')
    return own.verb === verb ? own.answer(place, serving) : statusResponse(methodNotAllowed());
  const isStatus = subresource === 'status' && version.hasStatus;
  const isEphemeral = subresource === 'ephemeralcontainers' && resource.subresources.includes(subresource);
  const isFinalize = subresource === 'finalize' && resource.subresources.includes('finalize');
  if (subresource === 'scale' && version.scale) {
    if (verb === 'get') return object(await readScale(place, version.scale));
    if (verb === 'update' || verb === 'patch') return object(await writeScale(place, version.scale));
    return statusResponse(methodNotAllowed());
  }
  if (!isStatus && !isEphemeral && !isFinalize) return statusResponse(noSuchResource());
  if (verb === 'get' && !isFinalize) return text(await readOne(place));
  if (verb === 'update') return written(place, await replace(place));
  if (verb === 'patch' && !isFinalize) return written(place, await patch(place));
  return statusResponse(methodNotAllowed());
}

interface OwnSubresource {
  verb: string;
  answer(place: Place, serving: Serving): Promise<Response>;
}

/** Subresources that are neither a part of the object nor a scale: each with the one verb it has. */
const ownSubresources: Record<string, OwnSubresource> = {
  'pods/binding': { verb: 'create', answer: async (place) => accepted(await bind(place)) },
  'pods/eviction': { verb: 'create', answer: async (place) => accepted(await evict(place)) },
  'pods/log': { verb: 'get', answer: readLog },
  'serviceaccounts/token': {
    verb: 'create',
    async answer(place, { authenticators }) {
      const token = await requestToken(place, authenticators.accounts);
      return token.ok ? json(token.value, 201) : statusResponse(token.status);
    },
  },
};

const accepted = (result: Result<unknown>): Response =>
  result.ok
    ? json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, 201)
    : statusResponse(result.status);

const text = (result: Result<string | ReadableStream<Uint8Array>>): Response =>
  result.ok ? json(result.value) : statusResponse(result.status);
const object = (result: Result<KubeObject>): Response =>
  result.ok ? json(result.value) : statusResponse(result.status);

async function watchResponse(place: Place): Promise<Response> {
  const stream = await watch(place);
  if (!stream.ok) return statusResponse(stream.status);
  return new Response(stream.value, {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
  });
}

function written(place: Place, result: Result<Written>): Response {
  if (!result.ok) return statusResponse(result.status);
  const { object, isNew, text } = result.value;
  return objectResponse(place, object, isNew ? 201 : 200, text);
}

async function post(place: Place): Promise<Result<Written>> {
  if (place.call.target.name !== '') return refuse(methodNotAllowed());
  const body = await posted(place);
  return body.ok ? create(place, body.value) : body;
}

async function replace(place: Place): Promise<Result<Written>> {
  const body = await posted(place);
  return body.ok ? update(place, { change: () => ok(body.value) }) : body;
}

async function deleted(place: Place): Promise<Response> {
  const options = await deleteOptions(place);
  if (!options.ok) return statusResponse(options.status);
  const removed = await remove(place, options.value);
  if (!removed.ok) return statusResponse(removed.status);
  const { isGone, object: last } = removed.value;
  if (!isGone || returnsObject(place)) return objectResponse(place, last, 200);
  return json(success(place, last));
}

/** Kinds whose delete answers with the object as it was, not with a Status. */
const returnsObject = ({ resource }: Place): boolean =>
  resource.group === '' && ['pods', 'services', 'serviceaccounts', 'endpoints'].includes(resource.resource);

function success(
  { resource }: Place,
  last: KubeObject,
): Omit<Status, 'status' | 'message' | 'code'> & { status: 'Success' } {
  const { name = '', uid = '' } = last.metadata;
  const details = { name, ...(resource.group ? { group: resource.group } : {}), kind: resource.resource, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function deletedAll(place: Place): Promise<Response> {
  const options = await deleteOptions(place);
  if (!options.ok) return statusResponse(options.status);
  const removed = await removeAll(place, options.value);
  if (!removed.ok) return statusResponse(removed.status);
  const { resource, version, cluster } = place;
  const head = {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource.group, version.name),
    metadata: { resourceVersion: String(cluster.store.revision()) },
  };
  return json(`${JSON.stringify(head).slice(0, -1)},"items":[${removed.value.join(',')}]}`);
}

async function answerReview(serving: Serving, place: Place): Promise<Response> {
  const { cluster, call } = place;
  const body = await posted(place);
  if (!body.ok) return statusResponse(body.status);
  const named = inNamespace(place, body.value);
  if (!named.ok) return statusResponse(named.status);
  const answer = await review(qualified(place.resource), {
    cluster,
    user: call.user,
    authenticators: serving.authenticators,
    object: body.value,
  });
  return answer.ok ? json(answer.value, 201) : statusResponse(answer.status);
}
