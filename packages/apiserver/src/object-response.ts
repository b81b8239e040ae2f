// The answer to a write: the object in the form the client asked for.
import type { KubeObject } from './object.ts';
import { json } from './response.ts';
import { encode } from './store.ts';
import { includeOf, partial, tableOf, wantedForm } from './table/table.ts';
import type { Place } from './write.ts';

/** `text` is the object's, where there is one already. */
export function objectResponse(
  { call, cluster, version }: Place,
  object: KubeObject,
  code: number,
  text?: string,
): Response {
  const { form, apiVersion } = wantedForm(call.request.headers.get('accept') ?? '');
  if (form === 'table') {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const { columns } = version;
    const include = includeOf(call.query);
    return json(tableOf([object], { columns, include, now: cluster.clock.now(), apiVersion, metadata }), code);
  }
  return json(form === 'metadata' ? partial(object, apiVersion) : (text ?? encode(object)), code);
}
