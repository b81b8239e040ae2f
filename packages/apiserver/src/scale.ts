// The scale subresource: a kind's replicas as an `autoscaling/v1` Scale, read and written.
import { entryIn } from './conversion.ts';
import { asObject, mediaType, readValue } from './body.ts';
import { isTree, putAt, textOf, valueAt, type KubeObject, type Tree } from './object.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { mergePatch } from './patch/merge-patch.ts';
import { keyOf, type ScalePaths } from './resource.ts';
import { selectorText } from './selector.ts';
import { decode } from './store.ts';
import { badRequest, invalid, notFound, ok, refuse, type Result } from './status.ts';
import { invalidValue } from './field-error.ts';
import { update, type Place } from './write.ts';

export function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const selector = paths.selector ? valueAt(object, paths.selector) : undefined;
  const text = typeof selector === 'string' ? selector : isTree(selector) ? selectorText(selector) : '';
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: Number(valueAt(object, paths.spec) ?? 0) },
    status: { replicas: Number(valueAt(object, paths.status) ?? 0), ...(text ? { selector: text } : {}) },
  };
}

export async function readScale(place: Place, paths: ScalePaths): Promise<Result<KubeObject>> {
  const { namespace, name } = place.call.target;
  const entry = place.cluster.store.get(keyOf(place.resource, namespace, name));
  if (!entry) return refuse(notFound(place.resource, name));
  const read = await entryIn(place, entry);
  return read.ok ? ok(scaleOf(decode(read.value.text), paths)) : read;
}

/** PUT or PATCH of a scale: changes the replicas of the object behind it. */
export async function writeScale(place: Place, paths: ScalePaths): Promise<Result<KubeObject>> {
  const parsed = await readValue(place.call.request);
  if (!parsed.ok) return parsed;
  const written = await update(place, {
    change: (old) => scaled(place, old, parsed.value, paths),
    view: {
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      of: (object) => scaleOf(object, paths),
      back(object, scale) {
        putAt(object, paths.spec, valueAt(scale, 'spec.replicas') ?? 0);
        return object;
      },
    },
  });
  return written.ok ? ok(scaleOf(written.value.object, paths)) : written;
}

function scaled(place: Place, old: KubeObject, body: unknown, paths: ScalePaths): Result<KubeObject> {
  const wanted = wantedScale(place, scaleOf(old, paths), body);
  if (!wanted.ok) return wanted;
  const { metadata } = wanted.value;
  const replicas = valueAt(wanted.value, 'spec.replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas))
    return refuse(badRequest('json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32'));
  if (replicas < 0) {
    return refuse(
      invalid({ group: 'autoscaling', kind: 'Scale' }, old.metadata.name ?? '', [
        invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
      ]),
    );
  }
  if (metadata.resourceVersion) old.metadata.resourceVersion = metadata.resourceVersion;
  putAt(old, paths.spec, replicas);
  return ok(old);
}

function wantedScale(place: Place, scale: KubeObject, body: unknown): Result<KubeObject> {
  const media = mediaType(place.call.request);
  if (place.call.target.verb === 'update')
    return isTree(body) ? asScale(body) : refuse(badRequest('the body of the request is not an object'));
  if (media === 'application/json-patch+json') {
    const result = applyJsonPatch(scale, body);
    return result.ok && isTree(result.value)
      ? asObject(result.value, scaleKind)
      : refuse(badRequest(result.ok ? 'the patched value is not an object' : result.message));
  }
  const merged = mergePatch(scale, body);
  return isTree(merged) ? asObject(merged, scaleKind) : refuse(badRequest('the patched value is not an object'));
}

const scaleKind = { kind: 'Scale', version: 'v1' };

function asScale(body: Tree): Result<KubeObject> {
  const kind = textOf(body.kind) || 'Scale';
  if (kind === 'Scale') return asObject(body, scaleKind);
  const why = `converting (v1.${kind}) to (autoscaling.Scale): unknown conversion`;
  return refuse(badRequest(`${kind} in version "v1" cannot be handled as a Scale: ${why}`));
}
