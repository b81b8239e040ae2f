// The answer to a write: the object in the form the client asked for.
import type { KubeObject } from './object.ts';
import { json } from './response.ts';
import { encode } from './store.ts';
import { includeOf, partial, tableOf, tableRow, wantedForm } from './table/table.ts';
import type { Place } from './write.ts';

/** `text` is the object's, where there is one already. */
export function objectResponse(
  { call, cluster, version }: Place,
  object: KubeObject,
  code: number,
  text?: string,
): Response {
  const form = wantedForm(call.request.headers.get('accept') ?? '')?.form;
  if (form === 'table') {
    const row = tableRow(object, version.columns, includeOf(call.query), cluster.clock.now());
    return json(tableOf(version.columns, [row], { resourceVersion: object.metadata.resourceVersion }), code);
  }
  return json(form === 'metadata' ? partial(object) : (text ?? encode(object)), code);
}
