// In which form an answer goes out: JSON, or YAML for who asks for nothing else; 406 for forms there are not.
import { stringify } from 'yaml';
import { failure, ok, refuse, type Result } from './status.ts';

const representations = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const known = ['application/json', 'application/yaml', '*/*', 'application/*'];
const forms = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

/** The media type of the answer to a request with this Accept header. */
export function representationOf(accept: string): Result<'json' | 'yaml'> {
  if (accept.trim() === '') return ok('json');
  const entries = accept.split(',').map((entry) => entry.split(';').map((text) => text.trim()));
  const media = entries.filter(([type = '']) => known.includes(type));
  if (media.length === 0) {
    // Clients that would rather have protobuf say so first, and JSON after it; who takes nothing else is refused.
    const why = `406: Not Acceptable\n\nAvailable representations: ${representations}`;
    return refuse(failure(406, 'NotAcceptable', why, {}));
  }
  const fit = media.find(isServed);
  if (!fit)
    return refuse(failure(406, 'NotAcceptable', `only the following media types are accepted: ${representations}`));
  return ok(fit[0] === 'application/yaml' ? 'yaml' : 'json');
}

/** A form (`as=`) is served in meta.k8s.io/v1 (and v1beta1, which older clients name). */
function isServed(parts: string[]): boolean {
  const as = parts.find((part) => part.startsWith('as='))?.slice(3);
  if (as === undefined) return true;
  const isVersion = parts.includes('v=v1') || parts.includes('v=v1beta1');
  return (forms.includes(as) && parts.includes('g=meta.k8s.io') && isVersion) || as.startsWith('APIGroupDiscovery');
}

/** The same answer in YAML, its fields in order. */
export async function inYaml(response: Response): Promise<Response> {
  const value: unknown = JSON.parse(await response.text());
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/yaml');
  return new Response(stringify(value, { sortMapEntries: true, indentSeq: false, lineWidth: 0 }), {
    status: response.status,
    headers,
  });
}
