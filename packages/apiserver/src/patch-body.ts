// PATCH: the four ways a body can say what to change, each turned into the object wanted.
import { asObject, checkFields, mediaType, parseText, readText } from './body.ts';
import { isTree, timeText, type KubeObject, type Tree } from './object.ts';
import { apply } from './patch/apply.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { mergePatch } from './patch/merge-patch.ts';
import { strategicMerge } from './patch/strategic.ts';
import { isTrue } from './request.ts';
import { keyOf } from './resource.ts';
import { badRequest, failure, ok, refuse, unsupportedMedia, type Result } from './status.ts';
import { create, update, type Place, type Written } from './write.ts';

const applyType = 'application/apply-patch+yaml';
const types = ['application/json-patch+json', 'application/merge-patch+json', applyType];
const strategicType = 'application/strategic-merge-patch+json';

export async function patch(place: Place): Promise<Result<Written>> {
  const media = mediaType(place.call.request);
  const accepted = place.resource.isCustom ? types : [...types, strategicType];
  if (!accepted.includes(media)) return refuse(unsupportedMedia(accepted));
  const text = await readText(place.call.request);
  if (!text.ok) return text;
  const parsed = parseText(text.value, media === applyType);
  if (!parsed.ok) return parsed;
  if (media === applyType) return applyBody(place, parsed.value);
  if (place.call.query.has('force')) {
    return refuse(
      failure(
        422,
        'Invalid',
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        {
          group: 'meta.k8s.io',
          kind: 'PatchOptions',
          causes: [
            {
              reason: 'FieldValueForbidden',
              message: 'Forbidden: may not be specified for non-apply patch',
              field: 'force',
            },
          ],
        },
      ),
    );
  }
  return update(place, { change: (old) => patched(place, media, old, parsed.value) });
}

function patched(place: Place, media: string, old: KubeObject, body: unknown): Result<KubeObject> {
  const result = change(place, media, old, body);
  if (!result.ok) return result;
  if (!isTree(result.value)) return refuse(badRequest('the patched value is not an object'));
  const object = asObject(result.value);
  if (!object.ok) return object;
  const checked = checkFields(place.call, { ...place, object: object.value, duplicates: [] });
  return checked.ok ? object : checked;
}

function change(place: Place, media: string, old: KubeObject, body: unknown): Result<unknown> {
  // Of a subresource's object the version to compare is the one the patch names, not the one just read.
  if (media === 'application/json-patch+json') {
    const result = applyJsonPatch(old, body);
    return result.ok
      ? ok(result.value)
      : refuse(failure(result.code, result.code === 422 ? 'Invalid' : 'BadRequest', result.message, {}));
  }
  if (!isTree(body)) return refuse(badRequest('error decoding patch: the patch is not an object'));
  return ok(media === strategicType ? strategicMerge(old, body, place.version.schema) : mergePatch(old, body));
}

async function applyBody(place: Place, body: unknown): Promise<Result<Written>> {
  const { call, cluster, resource } = place;
  const invalid = (field: string, message: string, reason = 'FieldValueRequired') =>
    refuse(
      failure(422, 'Invalid', `PatchOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
        group: 'meta.k8s.io',
        kind: 'PatchOptions',
        causes: [{ reason, message, field }],
      }),
    );
  const manager = call.query.get('fieldManager') ?? '';
  if (manager === '') return invalid('fieldManager', 'Required value: is required for apply patch');
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
      failure(
        409,
        'Conflict',
        `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`,
      ),
    );
  const made = merge({ apiVersion: applied.apiVersion, kind: applied.kind, metadata: { name: call.target.name } });
  return made.ok ? create(place, made.value, true) : made;
}

function appliedObject(place: Place, body: Tree): Result<KubeObject> {
  const { call, resource, version } = place;
  const object = asObject(body);
  if (!object.ok) return object;
  const { metadata } = object.value;
  const expected = resource.group ? `${resource.group}/${version.name}` : version.name;
  if (object.value.apiVersion !== expected || object.value.kind !== resource.kind) {
    return refuse(
      badRequest(
        `the applied object's apiVersion and kind (${String(object.value.apiVersion)}, ${String(object.value.kind)}) do not match ${expected}, ${resource.kind}`,
      ),
    );
  }
  if (metadata.managedFields?.length) return refuse(badRequest('metadata.managedFields must be nil'));
  if (metadata.name !== undefined && metadata.name !== call.target.name) {
    return refuse(
      badRequest(`name in URL does not match name in Content object: ${call.target.name} != ${metadata.name}`),
    );
  }
  const checked = checkFields(call, { resource, version, object: object.value, duplicates: [] });
  return checked.ok ? object : checked;
}
