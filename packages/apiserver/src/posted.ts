// The object a POST or PUT carries, checked for kind, fields and options; of the resource itself, or of a subresource's own kind.
import { checkFields, checkKind, readObject } from './body.ts';
import { known } from './kinds/fields.ts';
import type { KubeObject } from './object.ts';
import { ok, type Result } from './status.ts';
import { checkDryRun, type Place } from './write.ts';

/** A kind that is only ever posted to a subresource: TokenRequest, Eviction. */
export interface PostedKind {
  group: string;
  kind: string;
  /** The definition it follows. */
  schema: string;
}

export async function posted(place: Place, kind?: PostedKind): Promise<Result<KubeObject>> {
  const dryRun = checkDryRun(place.call);
  if (!dryRun.ok) return dryRun;
  const body = await readObject(place.call);
  if (!body.ok) return body;
  const { resource, version } = kind ? placeOf(place, kind) : place;
  const named = checkKind(body.value.object, resource, version);
  if (!named.ok) return named;
  const fields = checkFields(place.call, { resource, version, ...body.value });
  return fields.ok ? ok(body.value.object) : fields;
}

const placeOf = (place: Place, { group, kind, schema }: PostedKind): Pick<Place, 'resource' | 'version'> => ({
  resource: { ...place.resource, group, kind },
  version: { ...place.version, name: 'v1', schema: known(schema) },
});
