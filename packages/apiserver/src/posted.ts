// The object a POST or PUT carries, checked for kind, fields and options; of the resource itself, or of a subresource's own kind.
import { checkFields, checkKind, readObject } from './body.ts';
import { known } from './kinds/fields.ts';
import type { KubeObject } from './object.ts';
import { ok, type Result } from './status.ts';
import { checkOptions } from './options.ts';
import type { Place } from './write.ts';

/** A kind that is only ever posted to a subresource: TokenRequest, Eviction. */
export interface PostedKind {
  group: string;
  kind: string;
  /** The definition it follows. */
  schema: string;
}

export async function posted(place: Place, kind?: PostedKind): Promise<Result<KubeObject>> {
  const options = checkOptions(place.call);
  if (!options.ok) return options;
  const { resource, version } = kind ? placeOf(place, kind) : place;
  const body = await readObject(place.call, { kind: resource.kind, version: version.name });
  if (!body.ok) return body;
  const named = checkKind(body.value.object, resource, version, place.cluster.registry);
  if (!named.ok) return named;
  const fields = checkFields(place.call, { resource, version, ...body.value });
  return fields.ok ? ok(body.value.object) : fields;
}

const placeOf = (place: Place, { group, kind, schema }: PostedKind): Pick<Place, 'resource' | 'version'> => ({
  resource: { ...place.resource, group, kind },
  version: { ...place.version, name: 'v1', schema: known(schema) },
});
