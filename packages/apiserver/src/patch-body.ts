// PATCH: the four ways a body can say what to change, each turned into the object wanted.
import { asObject, checkFields, checkKind, mediaType, parseText, readText, shallow } from './body.ts';
import { invalidValue } from './field-error.ts';
import { plainText } from './go-text.ts';
import { copyOf, isTree, listOf, textOf, timeText, type KubeObject, type Tree } from './object.ts';
import { apply } from './patch/apply.ts';
import { checkOptions } from './options.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { mergePatch } from './patch/merge-patch.ts';
import { strategicMerge } from './patch/strategic.ts';
import { strategicProblem } from './patch/strategic-problem.ts';
import { typedProblem } from './patch/typed.ts';
import { isTrue } from './request.ts';
import { keyOf } from './resource.ts';
import {
  badRequest,
  conflict,
  failure,
  invalid,
  ok,
  refuse,
  unexplained,
  unnamed,
  unsupportedMedia,
  type Result,
  type Status,
} from './status.ts';
import { create, update, type Place, type Written } from './write.ts';

const applyType = 'application/apply-patch+yaml';
const types = ['application/json-patch+json', 'application/merge-patch+json', applyType];
const strategicType = 'application/strategic-merge-patch+json';

export async function patch(place: Place): Promise<Result<Written>> {
  const media = mediaType(place.call.request);
  const accepted = place.resource.isCustom ? types : [...types, strategicType];
  if (!accepted.includes(media))
    return refuse(
      place.resource.isCustom
        ? unsupportedMedia(accepted)
        : failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
    );
  const options = checkOptions(place.call, media === applyType);
  if (!options.ok) return options;
  const text = await readText(place.call.request);
  if (!text.ok) return text;
  const parsed = parseText(text.value, media === applyType);
  if (!parsed.ok)
    return refuse(badRequest(`error decoding ${media === applyType ? 'YAML' : 'patch'}: ${parsed.message}`));
  const walkable = shallow(parsed.value);
  if (!walkable.ok) return walkable;
  if (media === applyType) return applyBody(place, parsed.value);
  return update(place, { change: (old, again) => patched(place, { media, body: parsed.value }, old, again) });
}

interface Patch {
  media: string;
  body: unknown;
}

function patched(place: Place, said: Patch, old: KubeObject, again: () => KubeObject): Result<KubeObject> {
  const tree = patchedTree(place, said, old);
  if (!tree.ok) return tree;
  const { resource, version } = place;
  const object = asObject(tree.value, { kind: resource.kind, version: version.name });
  const checked = object.ok ? checkedPatch(place, object.value) : object;
  return checked.ok ? object : refuse(unfit(checked.status, place, () => saidText(place, said, again())));
}

/** What the patch leaves, whole, its fields not looked into yet. */
function patchedTree(place: Place, { media, body }: Patch, old: KubeObject): Result<Tree> {
  const result = change(place, media, old, body);
  if (!result.ok) return result;
  if (!isTree(result.value)) return refuse(badRequest('the patched value is not an object'));
  const { kind, apiVersion } = result.value;
  return ok({ ...result.value, kind: kind ?? old.kind, apiVersion: apiVersion ?? old.apiVersion });
}

/** The object before any fields were dropped, as the patch left it; or, of a strategic one, the patch itself. */
function saidText(place: Place, said: Patch, old: KubeObject): string {
  if (said.media === strategicType) return plainText(said.body);
  const tree = patchedTree(place, said, old);
  return tree.ok ? patchedText(tree.value, isMetadataTouched(said.body)) : '';
}

const metadataOrder = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

const isMetadataTouched = (body: unknown): boolean =>
  isTree(body)
    ? isTree(body.metadata)
    : listOf(body).some((one) => isTree(one) && textOf(one.path).startsWith('/metadata/'));

/** What a patch looked into has its fields in the order of their names; metadata it left alone keeps its own order. */
function patchedText(tree: Tree, isTouched: boolean): string {
  const { metadata } = tree;
  if (!isTree(metadata)) return JSON.stringify(sorted(tree));
  const inOrder = isTouched ? sorted(metadata) : sorted(metadata, (name) => metadataOrder.indexOf(name));
  return JSON.stringify(sorted({ ...tree, metadata: inOrder }));
}

function sorted(tree: Tree, rank: (name: string) => number = () => 0): Tree {
  const byName = Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.sort(([a], [b]) => rank(a) - rank(b)));
}

function checkedPatch(place: Place, object: KubeObject): Result<void> {
  const kind = checkKind(object, place.resource, place.version, place.cluster.registry);
  return kind.ok ? checkFields(place.call, { ...place, object, duplicates: [] }) : kind;
}

/** A patch that leaves something that cannot be read is Invalid, where the same thing sent whole is a bad request. */
function unfit(status: Status, { resource }: Place, said: () => string): Status {
  const why = status.message.replace(/^\S+ in version "[^"]*" cannot be handled as a \S+: /, '');
  if (resource.isCustom && status.code !== 400) return status;
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', said(), why)]);
}

function change(place: Place, media: string, old: KubeObject, body: unknown): Result<unknown> {
  // What becomes of the object must not become of the patch: it may be asked for again. A merge patch is copied as it goes in.
  // Of a subresource's object the version to compare is the one the patch names, not the one just read.
  if (media === 'application/json-patch+json') {
    const result = applyJsonPatch(old, copyOf(body));
    return result.ok ? ok(result.value) : refuse(patchFailure(result.code, result.message));
  }
  if (body === null) return refuse(badRequest('Invalid JSON Patch'));
  if (!isTree(body)) {
    const found = Array.isArray(body) ? 'array' : typeof body;
    return refuse(
      badRequest(`error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`),
    );
  }
  if (media !== strategicType) return ok(mergePatch(old, body));
  const problem = strategicProblem(old, body, place.version.schema);
  return problem ? refuse(problem) : ok(strategicMerge(old, copyOf(body), place.version.schema));
}

const patchReasons: Record<number, string> = { 413: 'RequestEntityTooLarge', 422: 'Invalid' };
const patchFailure = (code: number, message: string): Status =>
  failure(code, patchReasons[code] ?? 'BadRequest', message, code === 422 ? {} : undefined);

async function applyBody(place: Place, body: unknown): Promise<Result<Written>> {
  const { call, cluster, resource } = place;
  const manager = call.query.get('fieldManager') ?? '';
  if (!isTree(body)) return refuse(badRequest('error decoding YAML: the applied value is not an object'));
  const shaped = appliedObject(place, body);
  if (!shaped.ok) return shaped;
  const applied = shaped.value;
  const writer = {
    manager,
    apiVersion: applied.apiVersion,
    subresource: call.target.subresource,
    time: timeText(cluster.clock.now()),
  };
  const merge = (live: KubeObject) =>
    apply({ live, applied, schema: place.version.schema, writer, force: isTrue(call.query.get('force') ?? 'no') });
  const key = keyOf(resource, call.target.namespace, call.target.name);
  if (cluster.store.get(key)) return update(place, { change: merge, isTracked: true });
  if (applied.metadata.uid)
    return refuse(
      conflict(
        resource,
        call.target.name,
        `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`,
      ),
    );
  if (!applied.metadata.name) return refuse(unnamed(call.target.name));
  const made = merge({ apiVersion: applied.apiVersion, kind: applied.kind, metadata: { name: call.target.name } });
  return made.ok ? create(place, made.value, true) : made;
}

function appliedObject(place: Place, body: Tree): Result<KubeObject> {
  const { call, resource, version } = place;
  const object = asObject(body, { kind: resource.kind, version: version.name });
  if (!object.ok) return object;
  const { metadata } = object.value;
  const expected = resource.group ? `${resource.group}/${version.name}` : version.name;
  if (object.value.apiVersion !== expected || object.value.kind !== resource.kind) {
    const { apiVersion = '', kind = '' } = object.value;
    const about = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    return refuse(badRequest(`invalid object type: ${about}, Kind=${kind}`));
  }
  if (metadata.managedFields?.length) return refuse(badRequest('metadata.managedFields must be nil'));
  if (metadata.name !== undefined && metadata.name !== call.target.name) {
    return refuse(
      badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${call.target.name})`),
    );
  }
  const kind = `${resource.group}/${version.name}, Kind=${resource.kind}`;
  const unread = typedProblem(object.value, version.schema, kind);
  if (unread) return refuse(unexplained(unread));
  const checked = checkFields(call, { resource, version, object: object.value, duplicates: [] });
  return checked.ok ? object : checked;
}
